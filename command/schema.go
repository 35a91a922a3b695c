package command

import (
	"github.com/spf13/cobra"

	"gatehouse/helper/config"
)

func (p Process) schema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of config.yaml, for editors",
		Long: `schema prints a JSON Schema (draft 2020-12) of config.yaml with the meaning and the default of each key. An editor with a
YAML language server completes and checks a file whose first line is
# yaml-language-server: $schema=FILE`,
		Example: `  gatehouse schema > gatehouse.schema.json`,
		Args:    takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(config.Schema())
			return err
		},
	}
}
