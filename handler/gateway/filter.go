package gateway

import (
	"fmt"
	"slices"

	"go.uber.org/zap"

	"gatehouse/helper/config"
	"gatehouse/middleware/filter"
	"gatehouse/middleware/filter/builtin"
)

// FilterCheck judges filters as Load does: by the built-in ones and by own.
func FilterCheck(own []filter.Factory) config.Check {
	return config.Check{Filter: func(cfg *config.Config) func(*config.Route, string) error {
		registry, err := newRegistry(builtin.Options{Identity: identityHeaders(cfg)}, own)
		return func(r *config.Route, item string) error {
			if err != nil {
				return err
			}
			return registry.Check(r.Name, r.Auth, item)
		}
	}}
}

func newRegistry(o builtin.Options, own []filter.Factory) (*filter.Registry, error) {
	return filter.NewRegistry(slices.Concat(builtin.Factories(o), own)...)
}

// filters makes the filters of a route, or keeps those of the snapshot before
// when nothing about them changed.
func (b *builder) filters(r *config.Route) (*filter.Chain, error) {
	key := fmt.Sprintf("filters %q %q %q %q %p", r.Name, r.Auth, r.Filters, b.identity, b.limits)
	return shared(b, key, func() (*filter.Chain, func(), error) {
		chain, err := b.registry.Build(r.Name, r.Auth, r.Filters)
		if err != nil {
			return nil, nil, err
		}
		return chain, func() {
			if err := chain.Close(); err != nil {
				b.deps.Log.Warn("closing the filters of a route", zap.String("route", r.Name), zap.Error(err))
			}
		}, nil
	})
}
