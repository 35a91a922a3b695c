package command

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"gatehouse/command/demo"
)

// services is the demo without its gateway, for a gateway that runs elsewhere, such as in another container.
func (p Process) services() *cobra.Command {
	var host, publicKey string
	var from int
	cmd := &cobra.Command{
		Use:   "services",
		Short: "Run what is around the demo's gateway, and no gateway",
		Long: `services runs the services order and user and the identity service, for a gateway that runs elsewhere. They listen on
three ports in a row. The identity service names itself http://127.0.0.1 and its port, as the shipped config does.
What it serves is open to anybody who can reach --host.`,
		Example: `  gatehouse demo services --public-key identity.pem & gatehouse --config config.yaml`,
		Args:    arguments(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			if from < 1 || from > 65535-2 {
				return usagef("demo services: --ports-from %d: it is the first of three ports", from)
			}
			return p.runServices(host, from, publicKey)
		},
	}
	cmd.Flags().StringVar(&host, "host", loopback, "the `HOST` that they listen on")
	cmd.Flags().IntVar(&from, "ports-from", 9001, "order, user and identity take the three ports from `N` on")
	cmd.Flags().StringVar(&publicKey, "public-key", "identity.pem", "the `FILE` that the identity service's public key is written to, for the gateway")
	return cmd
}

func (p Process) runServices(host string, from int, publicKey string) error {
	identity, err := demo.NewIdentity("http://" + net.JoinHostPort(loopback, strconv.Itoa(from+2)))
	if err != nil {
		return err
	}
	text, err := identity.PublicPEM()
	if err != nil {
		return fmt.Errorf("writing the identity service's key: %w", err)
	}
	var listeners []net.Listener
	for i := range 3 {
		listener, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(from+i)))
		if err != nil {
			return errors.Join(fmt.Errorf("demo services: %w; choose others with --ports-from", err), closeAll(listeners))
		}
		listeners = append(listeners, listener)
	}
	if err := os.WriteFile(publicKey, text, 0o644); err != nil { // after the ports are ours: another's key stays
		return errors.Join(fmt.Errorf("writing the identity service's key: %w", err), closeAll(listeners))
	}

	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return demo.Serve(ctx, listeners[0], demo.Echo("order")) })
	group.Go(func() error { return demo.Serve(ctx, listeners[1], demo.Echo("user")) })
	group.Go(func() error { return demo.Serve(ctx, listeners[2], identity.Handler()) })
	fmt.Fprintf(p.Stdout, "order %s, user %s, identity %s; the key: %s\n", listenerURL(listeners[0]), listenerURL(listeners[1]), listenerURL(listeners[2]), publicKey)
	select {
	case <-p.Signals:
	case <-ctx.Done(): // the error is group.Wait's
	}
	stop()
	return group.Wait()
}
