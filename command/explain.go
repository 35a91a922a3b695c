package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gatehouse/handler/admin"
	"gatehouse/handler/gateway"
	"gatehouse/helper/explain"
)

// keysTimeout is how long keys may take that a token is to be judged by.
const keysTimeout = 10 * time.Second

// explainFlags are a request on the command line.
type explainFlags struct {
	method, token, apiKey, clientIP string
	headers, claims                 []string
}

func (p Process) explain() *cobra.Command {
	var file string
	var flags explainFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain URL",
		Short: "Say what a config would do with a request, and why",
		Long: `explain takes a request through the stages that would serve it, and says what each decides: the candidate routes and why
they lose, limits, breaker, caller, filters, backend, what goes upstream, and the answer. Nothing is sent; keys are fetched
where a --token has to be judged by them. A gateway that is running explains with its own state: GET /api/explain on its
admin listener. Exit code 0: the request would be forwarded, or answered by the gateway as it should; 1: it would be refused.`,
		Example: `  gatehouse explain --config config.yaml /order/42
  gatehouse explain --config config.yaml -X POST -H 'Origin: https://app.example.com' --token "$TOKEN" https://api.example.com/order
  gatehouse explain --config config.yaml --claim sub=ada --claim scope=order /order/42`,
		Args: takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			query, err := flags.query(args[0])
			if err != nil {
				return err
			}
			cfg, source, err := p.loadConfig(file)
			if err != nil {
				return err
			}
			var report *explain.Report
			err = p.unserved(cfg, query.Token != "", func(gate *gateway.Gateway) error {
				waiting, cancel := context.WithTimeout(context.Background(), keysTimeout)
				defer cancel()
				if query.Token != "" {
					gate.WaitForKeys(waiting)
				}
				report, err = gate.Explain(query)
				return err
			})
			if wrong := new(gateway.QueryError); errors.As(err, &wrong) {
				return usagef("explain: %w", err)
			}
			if err != nil {
				return located(err, source)
			}
			return writeReport(cmd.OutOrStdout(), report, asJSON)
		},
	}
	set := cmd.Flags()
	set.StringVar(&file, "config", "", configUsage)
	set.StringVarP(&flags.method, "method", "X", "GET", "the request's `METHOD`")
	set.StringArrayVarP(&flags.headers, "header", "H", nil, "a `HEADER`, NAME: VALUE; repeatable")
	set.StringVar(&flags.token, "token", "", "the caller's `TOKEN`")
	set.StringArrayVar(&flags.claims, "claim", nil, "a claim, `NAME=VALUE`, of a good token that the caller is taken to have; repeatable")
	set.StringVar(&flags.apiKey, "api-key", "", "the `ID` of the API key that the caller is taken to have")
	set.StringVar(&flags.clientIP, "client-ip", "", "the `ADDRESS` that the request comes from (default 192.0.2.1)")
	set.BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}

// query is the request that the flags describe.
func (f explainFlags) query(url string) (gateway.Query, error) {
	q := gateway.Query{Method: f.method, URL: url, Headers: map[string]string{}, Token: f.token, APIKey: f.apiKey}
	for _, header := range f.headers {
		name, value, ok := strings.Cut(header, ":")
		name = strings.TrimSpace(name)
		if _, twice := q.Headers[name]; !ok || name == "" || twice {
			return q, usagef("explain: -H %q: it is NAME: VALUE, and no name twice", header)
		}
		q.Headers[name] = strings.TrimSpace(value)
	}
	for _, claim := range f.claims {
		name, value, ok := strings.Cut(claim, "=")
		if !ok || name == "" {
			return q, usagef("explain: --claim %q: it is NAME=VALUE", claim)
		}
		if q.Claims == nil {
			q.Claims = map[string]any{}
		}
		q.Claims[name] = claimValue(value)
	}
	if f.clientIP != "" {
		var err error
		if q.ClientIP, err = netip.ParseAddr(f.clientIP); err != nil {
			return q, usagef("explain: --client-ip %q: it is an address such as 203.0.113.7", f.clientIP)
		}
	}
	if given := len(f.claims) > 0; given && f.token != "" || given && f.apiKey != "" || f.token != "" && f.apiKey != "" {
		return q, usagef("explain: --token, --claim and --api-key exclude each other")
	}
	return q, nil
}

func writeReport(w io.Writer, report *explain.Report, asJSON bool) (err error) {
	if asJSON {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(report)
	} else {
		_, err = io.WriteString(w, report.String())
	}
	if err == nil && report.Answer.Code != "" {
		err = fmt.Errorf("the request would be refused: %d %s", report.Answer.Status, report.Answer.Code)
	}
	return err
}

// explainer answers /api/explain.
func explainer(gate *gateway.Gateway) func(admin.Question) (any, error) {
	return func(q admin.Question) (any, error) {
		return gate.Explain(gateway.Query{Method: q.Method, URL: q.URL, Headers: q.Headers, Token: q.Token})
	}
}
