package handover

import (
	"encoding/json"
	"os"
	"time"
)

const (
	// wordsFile is the name under which the new process finds where the old one hears it. Tableflip tells neither the id of a
	// process that serves nor more of one that fails than its exit code.
	wordsFile = "words"
	// maxProblem keeps what is said within the buffer of a pipe, so that nobody waits for a reader.
	maxProblem = 8 << 10
	// patience is how long a process is heard that has ended, or serves: what it said is there by then.
	patience = time.Second
)

// words are what a new process says.
type words struct {
	PID     int    `json:"pid,omitempty"`
	Problem string `json:"problem,omitempty"`
}

// say tells the old process, once.
func (h *Handover) say(w words) {
	if h.old == nil {
		return
	}
	w.Problem = w.Problem[:min(len(w.Problem), maxProblem)]
	_ = json.NewEncoder(h.old).Encode(w) // when it has ended there is nobody to tell
	_ = h.old.Close()
	h.old = nil
}

// hear is what the new process said, nothing if it had no words.
func hear(from *os.File) (said words) {
	_ = from.SetReadDeadline(time.Now().Add(patience)) // this process has the other end open, too: there is no end to read to
	_ = json.NewDecoder(from).Decode(&said)
	return said
}
