package command

import (
	"fmt"
	"os"
	"time"
)

// lastMoment is how long this process waits for what may never come once it is to end at once, or has only a last word to say.
const lastMoment = time.Second

// ending runs a command that takes signals, and returns its exit code. After a second signal that is inputWrong, whatever
// the command is doing: it may end in good order, but only for a moment, since it can hang where nobody looks at signals,
// such as in a write to a pipe that nobody reads.
func ending(signals <-chan os.Signal, command func(signals <-chan os.Signal) int) int {
	passed := make(chan os.Signal, 2)
	ended := make(chan int, 1)
	go func() { ended <- command(passed) }()
	var over <-chan time.Time
	for n := 0; ; {
		select {
		case code := <-ended:
			if n > 1 {
				return inputWrong
			}
			return code
		case sig := <-signals:
			n++
			if n <= cap(passed) { // there is room, and more would change nothing
				passed <- sig
			}
			if n == 2 {
				over = time.After(lastMoment)
			}
		case <-over:
			return inputWrong
		}
	}
}

// servedError is why a gateway ended that has served. Unlike a command's, what it says may have no reader any more.
type servedError struct{ error }

func (e servedError) Unwrap() error { return e.error }

// say writes a line to the standard error, but waits no longer than a moment for it.
func (p Process) say(text string) {
	said := make(chan struct{})
	go func() { // it is left behind where nobody reads
		defer close(said)
		fmt.Fprintf(p.Stderr, "gatehouse: %s\n", text)
	}()
	select {
	case <-said:
	case <-time.After(lastMoment):
	}
}
