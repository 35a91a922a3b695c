package command

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gatehouse/handler/gateway"
	"gatehouse/helper/config"
)

func (p Process) test() *cobra.Command {
	var file, junit string
	cmd := &cobra.Command{
		Use:   "test [--config FILE] [CASES]",
		Short: "Try requests on a config and compare what would become of them",
		Long: `test reads a file of cases, requests and what must become of each, and tries them on a config. Nothing is started, no host
is asked and no request is sent: each goes through the stages that would serve it. Without CASES it takes the file that
the config's server.tests names. Exit code 1: a case fails. The format: docs/testing.md.`,
		Example: `  gatehouse test --config config.yaml cases.yaml
  gatehouse test --config config.yaml --junit report.xml cases.yaml`,
		Args: takes(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, source, err := p.loadConfig(file)
			if err != nil {
				return err
			}
			path := cfg.Server.Tests
			if len(args) > 0 {
				path = args[0]
			}
			if path == "" {
				return usagef("test: name a file of cases, or write one into server.tests of %s", source)
			}
			cases, err := config.LoadCases(path, p.LookupEnv)
			if err != nil {
				return err
			}
			var results []result
			err = p.unserved(cfg, false, func(gate *gateway.Gateway) error {
				results = try(gate, cases)
				return nil
			})
			if err != nil {
				return located(err, source)
			}
			if junit != "" {
				if err := writeJUnit(junit, path, results); err != nil {
					return err
				}
			}
			return writeResults(cmd.OutOrStdout(), path, results)
		},
	}
	cmd.Flags().StringVar(&file, "config", "", configUsage)
	cmd.Flags().StringVar(&junit, "junit", "", "write the results into `FILE`, too, as JUnit's XML")
	return cmd
}

// result is what became of one case.
type result struct {
	config.Case
	differences []string // none: it holds
	took        time.Duration
}

func try(gate *gateway.Gateway, cases []config.Case) []result {
	results := make([]result, len(cases))
	for i := range cases {
		begun := time.Now()
		results[i] = result{Case: cases[i], differences: gate.Try(&cases[i])}
		results[i].took = time.Since(begun)
	}
	return results
}

func failed(results []result) (n int) {
	for _, r := range results {
		if len(r.differences) > 0 {
			n++
		}
	}
	return n
}

func writeResults(w io.Writer, path string, results []result) error {
	var b strings.Builder
	for _, r := range results {
		if len(r.differences) == 0 {
			fmt.Fprintf(&b, "ok    %s\n", r.Name)
			continue
		}
		fmt.Fprintf(&b, "FAIL  %s (%s:%d)\n", r.Name, path, r.Line)
		for _, difference := range r.differences {
			fmt.Fprintf(&b, "        %s\n", difference)
		}
	}
	fmt.Fprintf(&b, "%s, %d failed\n", count(len(results), "case"), failed(results))
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	if n := failed(results); n > 0 {
		return fmt.Errorf("%s: %d of %s failed", path, n, count(len(results), "case"))
	}
	return nil
}

// tested says whether the cases that a config names hold for it.
func (p Process) tested(cfg *config.Config) error {
	if cfg.Server.Tests == "" {
		return nil
	}
	return p.unserved(cfg, false, func(gate *gateway.Gateway) error { return p.holds(cfg, gate) })
}

// holds tries the cases that cfg names on its gateway; a case that fails is a problem of its file.
func (p Process) holds(cfg *config.Config, gate *gateway.Gateway) error {
	path := cfg.Server.Tests
	if path == "" {
		return nil
	}
	cases, err := config.LoadCases(path, p.LookupEnv)
	if err != nil {
		if _, missing := os.Stat(path); missing != nil {
			return &gateway.KeyError{Key: "server.tests", Err: missing}
		}
		return err
	}
	var problems config.Problems
	for _, r := range try(gate, cases) {
		for _, difference := range r.differences {
			problems = append(problems, r.Problem(path, difference))
		}
	}
	if len(problems) == 0 {
		return nil
	}
	return &problems
}
