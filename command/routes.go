package command

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"gatehouse/helper/config"
)

func (p Process) routes() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "routes [FILE]",
		Short: "List the routes of a config",
		Long: `routes lists the routes of a config in the order of the file, what each asks of its callers, and where it leads. Which
one gets a request doesn't depend on the order: the most specific does.`,
		Example: `  gatehouse routes config.yaml`,
		Args:    takes(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := named(file, args)
			if err != nil {
				return err
			}
			cfg, _, err := p.loadConfig(file)
			if err != nil {
				return err
			}
			table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(table, "NAME\tPATH\tMETHODS\tHOSTS\tUPSTREAM\tAUTH\tSCOPES")
			for _, route := range cfg.Routes {
				fmt.Fprintln(table, strings.Join([]string{route.Name, route.Path, list(route.Methods, "any"), list(route.Hosts, "any"),
					routeUpstream(route), route.Auth, list(routeScopes(route), "-")}, "\t"))
			}
			return table.Flush()
		},
	}
	cmd.Flags().StringVar(&file, "config", "", configUsage)
	return cmd
}

// routeUpstream is where a route leads: one upstream, or several with their weights.
func routeUpstream(route config.Route) string {
	shares := make([]string, 0, len(route.Split))
	for _, share := range route.Split {
		shares = append(shares, fmt.Sprintf("%s:%d", share.Upstream, share.Weight))
	}
	return cmp.Or(route.Upstream, strings.Join(shares, ","))
}

// routeScopes are the scopes that matter: those of an open route are asked of nobody.
func routeScopes(route config.Route) []string {
	if route.Auth == "none" {
		return nil
	}
	return route.Scopes
}

func list(items []string, none string) string {
	if len(items) == 0 {
		return none
	}
	return strings.Join(items, ",")
}
