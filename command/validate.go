package command

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (p Process) validate() *cobra.Command {
	return &cobra.Command{
		Use:   "validate [FILE]",
		Short: "Check a config and say everything that is wrong",
		Long: `validate reads a config like serve does, with the environment that is set here and the files that it names, and
prints every problem with its line. Nothing is started and no host is asked. Exit code 1: there are problems.`,
		Example: `  gatehouse validate config.yaml
  JWT_SECRET=$(openssl rand -hex 32) gatehouse validate config.yaml`,
		Args: arguments(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			named := ""
			if len(args) > 0 {
				named = args[0]
			}
			cfg, file, err := p.loadConfig(named)
			if err != nil {
				return err
			}
			if err := p.compile(cfg); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: fine: %s, %s\n", file,
				count(len(cfg.Upstreams), "upstream"), count(len(cfg.Routes), "route"))
			return err
		},
	}
}
