package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"gatehouse/handler/gateway"
	"gatehouse/helper/config"
)

func (p Process) validate() *cobra.Command {
	var flag string
	var strict bool
	cmd := &cobra.Command{
		Use:   "validate [FILE]",
		Short: "Check a config and say everything that is wrong",
		Long: `validate reads a config like serve does, with the environment that is set here and the files that it names, and
prints every problem with its line. Nothing is started and no host is asked. Exit code 1: there are problems. Where there
are none, it warns of what is allowed and seldom meant, such as routes that are open without saying so.`,
		Example: `  gatehouse validate config.yaml
  gatehouse validate --strict config.yaml
  JWT_SECRET=$(openssl rand -hex 32) gatehouse validate config.yaml`,
		Args: takes(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := named(flag, args)
			if err == nil {
				file, err = configFile(file)
			}
			if err != nil {
				return err
			}
			cfg, warnings, err := config.Review(file, p.LookupEnv, gateway.FilterCheck(p.Filters), gateway.FileCheck())
			if err != nil {
				return err
			}
			if err := p.compile(cfg); err != nil {
				return located(err, file)
			}
			for _, warning := range warnings {
				fmt.Fprintln(cmd.ErrOrStderr(), warning)
			}
			if strict && len(warnings) > 0 {
				return fmt.Errorf("%s: %s, and --strict allows none", file, count(len(warnings), "warning"))
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: fine: %s, %s\n", file,
				count(len(cfg.Upstreams), "upstream"), count(len(cfg.Routes), "route"))
			return err
		},
	}
	cmd.Flags().StringVar(&flag, "config", "", configUsage)
	cmd.Flags().BoolVar(&strict, "strict", false, "exit code 1 for warnings, too")
	return cmd
}
