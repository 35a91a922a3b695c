package command

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"gatehouse/handler/gateway"
	"gatehouse/helper/config"
)

func (p Process) diff() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Say what a reload from one config to another would do",
		Long: `diff compares two configs by what they mean: which upstreams, routes, providers and plans a reload would add, change,
remove and keep with all their state, and which settings only a restart applies. Values aren't shown, since they may be
secrets. Exit code 0, whether or not they differ; 1: a file is wrong.`,
		Example: `  gatehouse diff /etc/gatehouse/config.yaml config.yaml
  gatehouse diff --json old.yaml new.yaml`,
		Args: takes(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			before, err := config.Load(args[0], p.LookupEnv, gateway.FilterCheck(p.Filters))
			if err != nil {
				return err
			}
			after, err := config.Load(args[1], p.LookupEnv, gateway.FilterCheck(p.Filters))
			if err != nil {
				return err
			}
			changes := config.Diff(before, after)
			if asJSON {
				encoder := json.NewEncoder(cmd.OutOrStdout())
				encoder.SetIndent("", "  ")
				return encoder.Encode(changes)
			}
			return writeChanges(cmd.OutOrStdout(), changes)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON: added, changed, removed, kept, settings, restart")
	return cmd
}

func writeChanges(w io.Writer, c config.Changes) error {
	var b strings.Builder
	for _, group := range []struct {
		sign  string
		parts []config.Part
	}{{"added", c.Added}, {"changed", c.Changed}, {"removed", c.Removed}} {
		for _, part := range group.parts {
			fmt.Fprintf(&b, "%-8s %s", group.sign, part)
			if len(part.Keys) > 0 {
				fmt.Fprintf(&b, ": %s", strings.Join(part.Keys, ", "))
			}
			b.WriteByte('\n')
		}
	}
	for _, key := range c.Settings {
		fmt.Fprintf(&b, "%-8s %s\n", "set", key)
	}
	for _, key := range c.Restart {
		fmt.Fprintf(&b, "%-8s %s: only a restart applies it\n", "restart", key)
	}
	if c.None() {
		b.WriteString("no difference\n")
	}
	fmt.Fprintf(&b, "%d added, %d changed, %d removed, %d kept", len(c.Added), len(c.Changed), len(c.Removed), len(c.Kept))
	if settings := len(c.Settings) + len(c.Restart); settings > 0 {
		fmt.Fprintf(&b, ", %d of the settings", settings)
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}
