package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"gatehouse/helper/config"
	"gatehouse/middleware/filter"
)

// Process is what Main has of the process that it runs in.
type Process struct {
	Args      []string // without the program's name
	Stdout    io.Writer
	Stderr    io.Writer
	LookupEnv func(string) (string, bool)
	Signals   <-chan os.Signal // SIGINT and SIGTERM: the first one drains, the second one ends at once
	Hangups   <-chan os.Signal // SIGHUP: the config is read again
	Upgrades  <-chan os.Signal // SIGUSR2: a new process takes over; nil: none does, and no sockets are inherited
	// OwnsLog says that what libraries, such as net/http's transport, print to the standard library's log, of which there
	// is one in a process, goes to the gateway's log while it serves.
	OwnsLog bool
	// FitsMemory says that Go's garbage collector, of which there is one in a process, is set to fit the container.
	FitsMemory bool
	Version    string // "": what the Go toolchain stamped into the binary
	Sample     []byte // the shipped config.yaml, which the demo runs

	// Filters are what routes may list besides the built-in ones.
	Filters []filter.Factory
}

// ThisProcess is the one that runs, without Version and Sample.
func ThisProcess() Process {
	signals := make(chan os.Signal, 2) // two count: one to drain, one to end at once
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	upgrades := make(chan os.Signal, 1)
	signal.Notify(upgrades, syscall.SIGUSR2)
	return Process{
		Args: os.Args[1:], Stdout: os.Stdout, Stderr: os.Stderr, LookupEnv: os.LookupEnv,
		Signals: signals, Hangups: hangups, Upgrades: upgrades, OwnsLog: true, FitsMemory: true,
	}
}

// The exit codes.
const (
	fine       = 0
	inputWrong = 1
	callWrong  = 2
)

// usageError is a call that can't be understood, as against a good one whose input is wrong.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// Main runs one command line to its end, or until a moment after the second signal, and returns the exit code. What hangs
// then is left behind for the end of the process.
func Main(p Process) int {
	return ending(p.Signals, func(signals <-chan os.Signal) int {
		p.Signals = signals
		return p.main()
	})
}

func (p Process) main() int {
	root := p.root()
	root.SetArgs(append([]string{}, p.Args...)) // never nil: cobra would take os.Args
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	p.checkLibraryCommands(root)
	called, err := root.ExecuteC()

	var usage usageError
	var problems *config.Problems
	var served servedError
	switch {
	case err == nil:
		return fine
	case errors.As(err, &usage):
		fmt.Fprintf(p.Stderr, "gatehouse: %v\nTry: %s --help\n", err, called.CommandPath())
		return callWrong
	case errors.As(err, &problems): // one a line, each with its place first, as editors and CI logs expect
		fmt.Fprintf(p.Stderr, "%v\ngatehouse: %s; nothing was started\n", err, count(len(*problems), "problem"))
		return inputWrong
	case errors.As(err, &served):
		p.say(err.Error())
		return inputWrong
	default:
		fmt.Fprintf(p.Stderr, "gatehouse: %v\n", err)
		return inputWrong
	}
}

func (p Process) root() *cobra.Command {
	root := p.serve()
	root.Use = "gatehouse"
	root.Short = "An HTTP gateway that authenticates JWTs"
	root.Long = `gatehouse stands in front of HTTP services: it verifies JSON Web Tokens, limits rates, breaks circuits and counts
everything in Prometheus. Without a command it serves.`
	root.Example = `  gatehouse demo                                  try it: a gateway, three services and an identity service
  gatehouse serve config.yaml                     serve a file
  gatehouse --listen :8080 --route /v1=http://127.0.0.1:9000   serve without one
  gatehouse validate config.yaml                  see every problem of a file`
	root.Args = p.noCommand
	root.Version = p.versionLine()
	root.SetVersionTemplate("{{.Version}}\n")
	root.SilenceErrors = true // Main prints them, once
	root.SilenceUsage = true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		if number := new(strconv.NumError); errors.As(err, &number) { // of a switch; other flags have errors of their own
			text, _ := strings.CutSuffix(err.Error(), number.Error())
			err = errors.New(text + "it is true or false")
		}
		return usageError{err}
	})
	root.AddCommand(p.serve(), p.validate(), p.explain(), p.test(), p.diff(), p.schema(), p.demo(), p.token(), p.keys(), p.routes(), p.health(), p.version())
	return root
}

// noCommand refuses what is left of the command line, which isn't the name of a command.
func (p Process) noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := ""
	if ext := filepath.Ext(args[0]); !cmd.HasParent() && (ext == ".yaml" || ext == ".yml") {
		hint = "; to serve a file: gatehouse serve " + args[0]
	}
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "; did you mean " + strings.Join(near, " or ") + "?"
	}
	if hint == "" && cmd.HasAvailableSubCommands() {
		hint = "; there are " + strings.Join(commandNames(cmd), ", ")
	}
	return usagef("there is no command %q%s", args[0], hint)
}

// count is "1 route", "2 routes".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
