package command

import (
	"strings"

	"github.com/spf13/cobra"
)

// checkLibraryCommands makes the two commands that cobra adds, help and completion, refuse wrong calls as the others do. It
// comes after SetOut, since completion keeps the output that there is when it is added.
func (p Process) checkLibraryCommands(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Args = func(_ *cobra.Command, args []string) error {
				found, rest, err := root.Find(args)
				if err != nil {
					return usageError{err}
				}
				return p.noCommand(found, rest)
			}
		case "completion":
			cmd.Args = p.noCommand
			cmd.RunE = func(cmd *cobra.Command, _ []string) error {
				return usagef("completion: say for which shell: %s", strings.Join(commandNames(cmd), ", "))
			}
			for _, shell := range cmd.Commands() {
				shell.Args = takes(0, 0)
			}
		}
	}
}

// commandNames lists what is under a command, for a person.
func commandNames(cmd *cobra.Command) (names []string) {
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return names
}
