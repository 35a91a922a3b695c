package command

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"gatehouse/handler/gateway"
	"gatehouse/helper/config"
	"gatehouse/helper/handover"
)

func (p Process) serve() *cobra.Command {
	var file, listen, admin string
	var routes []string
	cmd := &cobra.Command{
		Use:   "serve [FILE]",
		Short: "Serve a config (what happens without a command, too)",
		Long: `serve runs the gateway until SIGTERM or SIGINT, and then drains as server.drain says. A second signal ends it at
once, with exit code 1. On SIGHUP the file is read again. On SIGUSR2 the program is started anew, with the same arguments and
on the same sockets; when the new process serves, this one drains, and when it fails, this one goes on.`,
		Example: `  gatehouse serve config.yaml
  gatehouse serve --listen :8080 --route /v1=http://127.0.0.1:9000 --route /v2=http://127.0.0.1:9001`,
		Args: takes(0, 1),
		RunE: func(_ *cobra.Command, args []string) (err error) {
			file, err := named(file, args)
			if err != nil {
				return err
			}
			if err := errors.Join(checkAddress("--listen", listen), checkAddress("--admin", admin)); err != nil {
				return err
			}
			handed := &handover.Handover{}
			if p.Upgrades != nil {
				if handed, err = handover.New(startTimeout); err != nil {
					return err
				}
			}
			defer func() {
				if err != nil {
					handed.Failed(err)
				}
			}()
			cfg, source, err := p.serveConfig(file, routes)
			if err != nil {
				return err
			}
			if err := p.tested(cfg); err != nil {
				return located(err, source)
			}
			adjust := func(c *config.Config) *config.Config { return withAddresses(c, listen, admin) }
			s := served{config: adjust(cfg), source: source, adjust: adjust, handover: handed}
			if len(routes) == 0 {
				s.file = source
			}
			if handed.HandedOver() { // the old process tells the service manager who serves now
				return p.run(s, nil)
			}
			return p.run(s, p.notifyReady)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&file, "config", "", configUsage)
	flags.StringVar(&listen, "listen", "", "the public listener's `ADDRESS`, instead of server.listen")
	flags.StringVar(&admin, "admin", "", "the admin listener's `ADDRESS`, instead of server.admin")
	flags.StringArrayVar(&routes, "route", nil, "`PATH=URL`, instead of a file: an open route without authentication; repeatable")
	return cmd
}

// serveConfig is the config of the --route flags, or a file's.
func (p Process) serveConfig(file string, routes []string) (*config.Config, string, error) {
	if len(routes) > 0 {
		if file != "" {
			return nil, "", usagef("a config and --route exclude each other: put the route into the file")
		}
		cfg, err := routeConfig(routes)
		return cfg, flagSource, err
	}
	cfg, source, err := p.loadConfig(file, gateway.FileCheck())
	var none noConfigError
	if errors.As(err, &none) {
		return nil, "", fmt.Errorf(`%w. What next:
  gatehouse demo                                   try it with three services and an identity service
  gatehouse --route /v1=http://127.0.0.1:9000      put it in front of one service, without authentication
  gatehouse serve FILE                             name a config`, err)
	}
	return cfg, source, err
}
