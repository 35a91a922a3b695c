package handover

import (
	"errors"
	"os"
	"strings"
	"testing"
)

func TestTheOldProcessHearsTheNewOne(t *testing.T) {
	for _, row := range []struct {
		name string
		say  func(*Handover)
		want words
	}{
		{"that serves", func(h *Handover) { h.say(words{PID: 17}) }, words{PID: 17}},
		{"that fails", func(h *Handover) { h.Failed(errors.New("line 1\nline 2")) }, words{Problem: "line 1\nline 2"}},
		{"that fails after it served, which is its own affair", func(h *Handover) { h.say(words{PID: 17}); h.Failed(errors.New("x")) }, words{PID: 17}},
		{"that has more to say than a pipe holds", func(h *Handover) { h.Failed(errors.New(strings.Repeat("\n", 1<<20))) }, words{Problem: strings.Repeat("\n", maxProblem)}},
		{"that has no words", func(*Handover) {}, words{}},
	} {
		t.Run(row.name, func(t *testing.T) {
			heard, told, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer heard.Close()
			defer told.Close() // the old process's own end, which stays open
			row.say(&Handover{old: told})
			if got := hear(heard); got != row.want {
				t.Errorf("it hears %.100v, want %.100v", got, row.want)
			}
		})
	}
}

// Gateways that are run side by side in one process inherit nothing.
func TestTheZeroValueIsAlone(t *testing.T) {
	h := &Handover{}
	listener, err := h.Listener("server.listen", ":1")
	if listener != nil || err != nil || h.HandedOver() || h.Add("server.listen", ":1", nil) != nil || h.Ready() != nil || h.WaitForOld(t.Context()) != nil {
		t.Errorf("it inherited %v, %v", listener, err)
	}
	if _, err := h.Upgrade(); err == nil {
		t.Error("it was upgraded")
	}
	h.Failed(errors.New("x"))
	h.Stop()
}
