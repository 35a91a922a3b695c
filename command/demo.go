package command

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"gatehouse/command/demo"
	"gatehouse/helper/config"
)

// loopback is where the demo listens: what it serves is open to anybody.
const loopback = "127.0.0.1"

func (p Process) demo() *cobra.Command {
	var listen, admin string
	var from number
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Try it: a gateway, three services and an identity service in one process",
		Long: `demo runs the shipped config.yaml with what it needs around it: two services order and one user, which echo what
reaches them, and an identity service that issues tokens to anybody who asks. It prints commands to paste. Ctrl-C drains and ends.`,
		Example: `  gatehouse demo
  gatehouse demo --ports-from 18080          gateway 18080, admin 18081, order 18082, user 18083, identity 18084, second order 18085
  gatehouse demo --listen 127.0.0.1:8000 --admin 127.0.0.1:8001`,
		Args: takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ports := usualPorts()
			if cmd.Flags().Changed("ports-from") {
				if from < 0 || int(from) > 65535-len(ports)+1 {
					return usagef("demo: --ports-from %d: it is the first of %d ports, or 0 for free ones", from, len(ports))
				}
				ports = portsFrom(int(from))
			}
			if err := errors.Join(checkAddress("--listen", listen), checkAddress("--admin", admin)); err != nil {
				return err
			}
			if listen == "" {
				listen = ports.address(0)
			}
			if admin == "" {
				admin = ports.address(1)
			}
			return p.runDemo(listen, admin, ports)
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "", "the gateway's `HOST:PORT` (default 127.0.0.1:8080)")
	cmd.Flags().StringVar(&admin, "admin", "", "the admin listener's `HOST:PORT` (default 127.0.0.1:9090)")
	cmd.Flags().Var(&from, "ports-from", "take the six ports from `N` on; 0: any that are free (default 8080, 9090, 9001, 9002, 9003, 9004)")
	cmd.AddCommand(p.services())
	return cmd
}

// demoPorts are the ports of the gateway, its admin listener, the services order and user, the identity service, and the
// second order.
type demoPorts [6]int

func usualPorts() demoPorts { return demoPorts{8080, 9090, 9001, 9002, 9003, 9004} }

func portsFrom(first int) (ports demoPorts) {
	for i := range ports {
		if first > 0 {
			ports[i] = first + i
		}
	}
	return ports
}

func (p demoPorts) address(i int) string { return net.JoinHostPort(loopback, strconv.Itoa(p[i])) }

// runDemo runs the services around the gateway, and the gateway with the shipped config, whose variables lead to them.
func (p Process) runDemo(listen, admin string, ports demoPorts) (err error) {
	listeners, err := listenAll(listen, admin, ports)
	if err != nil {
		return err
	}
	order, user, issuer, order2 := listeners[0], listeners[1], listeners[2], listeners[3]
	around := demoAddresses{order: listenerURL(order), order2: listenerURL(order2), user: listenerURL(user), identity: listenerURL(issuer)}

	identity, err := demo.NewIdentity(around.identity)
	if err != nil {
		return errors.Join(err, closeAll(listeners))
	}

	services, stop := context.WithCancel(context.Background())
	group, services := errgroup.WithContext(services)
	group.Go(func() error { return demo.NewChaos(demo.Echo("order")).Serve(services, order) })
	group.Go(func() error { return demo.NewChaos(demo.Echo("order-2")).Serve(services, order2) })
	group.Go(func() error { return demo.NewChaos(demo.Echo("user")).Serve(services, user) })
	group.Go(func() error { return demo.Serve(services, issuer, identity.Handler()) })
	defer func() { stop(); err = errors.Join(err, group.Wait()) }() // after the gateway, which drains to them

	cfg, err := config.Parse("config.yaml", p.Sample, p.demoEnv(around))
	if err != nil {
		return err
	}
	return p.run(served{config: withAddresses(cfg, listen, admin), source: "config.yaml (shipped)"}, func(public, private string) {
		around.gateway, around.admin = urlOf(public), urlOf(private)
		fmt.Fprint(p.Stdout, around.manual())
	})
}

// demoEnv is the environment with what the shipped config asks for.
func (p Process) demoEnv(around demoAddresses) func(string) (string, bool) {
	own := map[string]string{
		"ORDER_URL":       around.order,
		"ORDER_2_URL":     around.order2,
		"USER_URL":        around.user,
		"IDENTITY_ISSUER": around.identity,
	}
	return func(name string) (string, bool) {
		if value, ok := own[name]; ok {
			return value, true
		}
		if value, ok := p.LookupEnv(name); ok || name != "LOG_FORMAT" {
			return value, ok
		}
		return "console", true // somebody is looking
	}
}

// listenAll opens the services' listeners. Its error names every port that is taken, the gateway's too, so that one run
// shows them all.
func listenAll(listen, admin string, ports demoPorts) ([]net.Listener, error) {
	var opened []net.Listener
	var wrong []string
	for _, one := range []struct{ name, address string }{
		{"gateway", listen}, {"admin", admin}, {"order", ports.address(2)}, {"user", ports.address(3)}, {"identity", ports.address(4)}, {"second order", ports.address(5)},
	} {
		listener, err := net.Listen("tcp", one.address)
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("  %s: %v", one.name, err))
			continue
		}
		opened = append(opened, listener)
	}
	if len(wrong) > 0 {
		return nil, errors.Join(fmt.Errorf("demo: these can't be listened on:\n%s\nchoose others with --ports-from N (0: free ones), or --listen and --admin",
			strings.Join(wrong, "\n")), closeAll(opened))
	}
	return opened[2:], closeAll(opened[:2]) // the gateway opens its own
}

func closeAll(listeners []net.Listener) error {
	var all error
	for _, listener := range listeners {
		all = errors.Join(all, listener.Close())
	}
	return all
}
