package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// healthTimeout is under the 3 s that container engines usually give a check.
const healthTimeout = 2 * time.Second

func (p Process) health() *cobra.Command {
	var file, admin string
	cmd := &cobra.Command{
		Use:   "health [FILE]",
		Short: "Ask a running gateway whether it lives (for a container's health check)",
		Long: `health asks GET /healthz of the admin listener, which says that the process lives, and not whether it is ready: an
orchestrator restarts a container for this answer, and a restart mends no upstream. Ask /readyz itself for readiness.
The listener is server.admin of the config; where there is no config, 127.0.0.1:9090.`,
		Example: `  gatehouse health
  gatehouse health --admin http://127.0.0.1:9090
  HEALTHCHECK CMD ["/gatehouse", "health"]        in a Dockerfile`,
		Args: takes(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := named(file, args)
			if err != nil {
				return err
			}
			if admin == "" {
				admin = p.adminAddress(file)
			}
			if err := askHealth(cmd.Context(), admin); err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "healthy")
			return err
		},
	}
	cmd.Flags().StringVar(&file, "config", "", "the config `FILE` that names the admin listener")
	cmd.Flags().StringVar(&admin, "admin", "", "the admin listener's `URL`: http://HOST:PORT or unix:/PATH")
	return cmd
}

// adminAddress is the config's admin listener, as far as a config can be read: the check must not fail for an
// environment variable that only the serving process was given.
func (p Process) adminAddress(file string) string {
	cfg, _, err := p.loadConfig(file)
	if err != nil {
		return "127.0.0.1:9090"
	}
	return cfg.Server.Admin
}

func askHealth(ctx context.Context, admin string) error {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	network, address := dialTarget(admin)
	transport := &http.Transport{ // no proxy, whatever the environment says: this never leaves the machine
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, address)
		},
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://gatehouse/healthz", nil)
	if err != nil {
		return fmt.Errorf("asking %s: %w", admin, err)
	}
	response, err := transport.RoundTrip(request)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("asking %s: no answer within %s", admin, healthTimeout)
	}
	if err != nil {
		return fmt.Errorf("asking %s: %w", admin, err)
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 64<<10)) // so that the server sees a whole exchange
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("asking %s: it answered %d", admin, response.StatusCode)
	}
	return nil
}

// dialTarget is where an admin listener can be reached that is written as a URL or as in a config. One that listens on all
// interfaces is asked on the loopback.
func dialTarget(admin string) (network, address string) {
	if path, ok := strings.CutPrefix(admin, "unix:"); ok {
		return "unix", path
	}
	address = strings.TrimSuffix(strings.TrimPrefix(admin, "http://"), "/")
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "tcp", net.JoinHostPort(address, "80")
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if ip.Is6() {
			host = "::1"
		}
	}
	return "tcp", net.JoinHostPort(host, port)
}
