package command

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"gatehouse/handler/gateway"
	"gatehouse/helper/config"
)

// usualFiles are where a config is looked for when none is named.
func usualFiles() []string { return []string{"config.yaml", "/etc/gatehouse/config.yaml"} }

// noConfigError says that no config was named, and none is where one is looked for.
type noConfigError struct{ looked []string }

func (e noConfigError) Error() string {
	return "there is no config: neither " + strings.Join(e.looked, " nor ") + " is there"
}

// configFile is the file that was named, or the first of the usual ones that is there.
func configFile(named string) (string, error) {
	if named != "" {
		return named, nil
	}
	for _, file := range usualFiles() {
		if _, err := os.Stat(file); err == nil || !errors.Is(err, os.ErrNotExist) {
			return file, nil // one that can't be read is reported, not passed over
		}
	}
	return "", noConfigError{usualFiles()}
}

// loadConfig loads the file that was named, or the usual one, and says which it was.
func (p Process) loadConfig(named string, more ...config.Check) (*config.Config, string, error) {
	file, err := configFile(named)
	if err != nil {
		return nil, "", err
	}
	cfg, err := config.Load(file, p.LookupEnv, append(more, gateway.FilterCheck(p.Filters))...)
	return cfg, file, err
}

// flagSource stands for a file's name where the flags are the config.
const flagSource = "--route"

// routeConfig makes a config of --route flags, PATH=URL each: open routes, for the file is where auth is written down.
// It goes through config.Parse like any other, so that defaults and checks are the same.
func routeConfig(flags []string) (*config.Config, error) {
	type upstream struct {
		URL   string            `yaml:"url"`
		Route map[string]string `yaml:"route"`
	}
	upstreams := make(map[string]upstream, len(flags))
	for _, flag := range flags {
		path, url, ok := strings.Cut(flag, "=")
		if !ok || !strings.HasPrefix(path, "/") || url == "" {
			return nil, usagef("--route %q: it is PATH=URL, such as /v1=http://127.0.0.1:9000", flag)
		}
		name := upstreamName(path)
		if _, taken := upstreams[name]; taken {
			name += "-" + strconv.Itoa(len(upstreams)+1)
		}
		upstreams[name] = upstream{url, map[string]string{"path": path, "auth": "none"}}
	}
	text, err := yaml.Marshal(map[string]any{"upstreams": upstreams})
	if err != nil {
		return nil, fmt.Errorf("writing a config for --route: %w", err)
	}
	literal := []byte(strings.ReplaceAll(string(text), "$", "$$")) // the shell has substituted already
	return config.Parse(flagSource, literal, func(string) (string, bool) { return "", false })
}

// upstreamName makes a name of a path, for the log and the metrics: v1 of /v1/, root of /.
func upstreamName(path string) string {
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune("_.", r) || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '-'
	}, path)
	return cmp.Or(strings.Trim(name, "-_."), "root")
}

// withAddresses returns cfg with the listeners that flags name instead of the file's.
func withAddresses(cfg *config.Config, listen, admin string) *config.Config {
	changed := *cfg // a Config is to be read only
	if listen != "" {
		changed.Server.Listen = listen
	}
	if admin != "" {
		changed.Server.Admin = admin
	}
	return &changed
}
