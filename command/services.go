package command

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"gatehouse/command/demo"
)

// services is the demo without its gateway, for a gateway that runs elsewhere, such as in another container.
func (p Process) services() *cobra.Command {
	var host, issuer string
	from := number(9001)
	cmd := &cobra.Command{
		Use:   "services",
		Short: "Run what is around the demo's gateway, and no gateway",
		Long: `services runs two services order and one user and the identity service, for a gateway that runs elsewhere. They listen on
four ports in a row. The identity service publishes its keys, and names itself --issuer: the URL at which the gateway
reaches it, and which stands in its tokens. What it serves is open to anybody who can reach --host.`,
		Example: `  gatehouse demo services & gatehouse --config config.yaml`,
		Args:    takes(0, 0),
		RunE: func(*cobra.Command, []string) error {
			if from < 1 || from > 65535-3 {
				return usagef("demo services: --ports-from %d: it is the first of four ports", from)
			}
			if issuer == "" {
				issuer = "http://" + net.JoinHostPort(loopback, strconv.Itoa(int(from)+2))
			}
			return p.runServices(host, int(from), issuer)
		},
	}
	cmd.Flags().StringVar(&host, "host", loopback, "the `HOST` that they listen on")
	cmd.Flags().Var(&from, "ports-from", "order, user, identity and the second order take the four ports from `N` on")
	cmd.Flags().StringVar(&issuer, "issuer", "", "the identity service's `URL` (default http://127.0.0.1 and its port, as in the shipped config)")
	return cmd
}

func (p Process) runServices(host string, from int, issuer string) error {
	identity, err := demo.NewIdentity(issuer)
	if err != nil {
		return err
	}
	var listeners []net.Listener
	for i := range 4 {
		listener, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(from+i)))
		if err != nil {
			return errors.Join(fmt.Errorf("demo services: %w; choose others with --ports-from", err), closeAll(listeners))
		}
		listeners = append(listeners, listener)
	}

	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return demo.NewChaos(demo.Echo("order")).Serve(ctx, listeners[0]) })
	group.Go(func() error { return demo.NewChaos(demo.Echo("order-2")).Serve(ctx, listeners[3]) })
	group.Go(func() error { return demo.NewChaos(demo.Echo("user")).Serve(ctx, listeners[1]) })
	group.Go(func() error { return demo.Serve(ctx, listeners[2], identity.Handler()) })
	fmt.Fprintf(p.Stdout, "order %s, user %s, identity %s, which is the issuer %s\n", listenerURL(listeners[0]), listenerURL(listeners[1]), listenerURL(listeners[2]), issuer)
	select {
	case <-p.Signals:
	case <-ctx.Done(): // the error is group.Wait's
	}
	stop()
	return group.Wait()
}
