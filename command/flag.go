package command

import (
	"errors"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// configUsage is what --config is, in each command that has it.
const configUsage = "the config `FILE` (default: ./config.yaml, then /etc/gatehouse/config.yaml)"

// anyNumber is the most arguments of a command that takes any number.
const anyNumber = 1 << 20

// takes checks how many arguments a command was given.
func takes(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if least <= len(args) && len(args) <= most {
			return nil
		}
		wanted := count(most, "argument")
		switch {
		case most == 0:
			wanted = "no argument"
		case most == anyNumber:
			wanted = "at least " + count(least, "argument")
		case least < most:
			wanted = "at most " + wanted
		}
		return usagef("%s takes %s and got %d: %s", cmd.Name(), wanted, len(args), cmd.UseLine())
	}
}

// named is the config that the command line names, as an argument or with --config.
func named(flag string, args []string) (string, error) {
	switch {
	case len(args) == 0:
		return flag, nil
	case flag != "" && flag != args[0]:
		return "", usagef("two configs are named, %s and --config %s: name one", args[0], flag)
	}
	return args[0], nil
}

// duration is the value of a flag. pflag has one as well, whose errors are those of Go's library.
type duration time.Duration

func (d *duration) String() string { return time.Duration(*d).String() }
func (*duration) Type() string     { return "duration" }

func (d *duration) Set(text string) error {
	parsed, err := time.ParseDuration(text)
	if err != nil {
		return errors.New("it is a duration such as 90s, 5m or 1h")
	}
	*d = duration(parsed)
	return nil
}

// number is the value of a flag, likewise.
type number int

func (n *number) String() string { return strconv.Itoa(int(*n)) }
func (*number) Type() string     { return "int" }

func (n *number) Set(text string) error {
	parsed, err := strconv.Atoi(text)
	if err != nil {
		return errors.New("it is a whole number such as 18080")
	}
	*n = number(parsed)
	return nil
}

// checkAddress checks an address to listen on that a flag names; "" is none.
func checkAddress(flag, address string) error {
	if address == "" || strings.HasPrefix(address, "unix:/") {
		return nil
	}
	_, port, err := net.SplitHostPort(address)
	if _, portErr := strconv.ParseUint(port, 10, 16); err != nil || portErr != nil {
		return usagef("%s %q: it is an address such as :8080, 127.0.0.1:8080 or unix:/path.sock", flag, address)
	}
	return nil
}

// completes lists the values of a flag for the shell.
func completes(cmd *cobra.Command, flag string, values func() []string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return values(), cobra.ShellCompDirectiveNoFileComp
	}) // it fails for a flag that isn't there or has one, which a test would show
}
