package gateway

import (
	"fmt"
	"time"

	"go.uber.org/zap"

	"gatehouse/handler/proxy"
	"gatehouse/helper/balance"
	"gatehouse/helper/config"
	"gatehouse/middleware"
)

// splitRoute compiles a route, once for each upstream that it is split among.
func (b *builder) splitRoute(r *config.Route) (middleware.Route, error) {
	if len(r.Split) == 0 {
		return b.route(r)
	}
	split := &middleware.Split{}
	var names []string
	var weights []int
	for _, s := range r.Split {
		arm := *r
		arm.Upstream = s.Upstream
		compiled, err := b.route(&arm)
		if err != nil {
			return middleware.Route{}, err
		}
		split.Arms = append(split.Arms, compiled)
		names, weights = append(names, s.Upstream), append(weights, s.Weight)
	}
	split.Picker = balance.NewHash(names, weights)
	whole := split.Arms[0]
	whole.Split = split
	return whole, nil
}

// mirrorTimeout is for the copies of an upstream whose requests may take any time.
const mirrorTimeout = 30 * time.Second

// mirror is what copies a route's requests, nil when nothing does. All arms of a
// split share it; it ends with its snapshot.
func (b *builder) mirror(r *config.Route) (*proxy.Mirror, error) {
	if r.Mirror.Upstream == "" || r.Mirror.Percent == 0 {
		return nil, nil
	}
	key := fmt.Sprintf("mirror %p %s", b.snapshot, r.Name)
	return shared(b, key, func() (*proxy.Mirror, func(), error) {
		timeout := time.Duration(b.cfg.Upstreams[r.Mirror.Upstream].Timeouts.Request)
		if timeout == 0 {
			timeout = mirrorTimeout
		}
		results := keep(b, b.deps.Observer.Mirror(r.Name))
		m := proxy.NewMirror(proxy.MirrorOptions{
			Upstream: b.upstreams[r.Mirror.Upstream].proxy, Percent: r.Mirror.Percent, Compare: r.Mirror.Compare, Timeout: timeout,
			Result: func(result string, d proxy.Difference) {
				results.Mirrored(result)
				b.logMirror(r, result, d)
			},
		})
		return m, running(m.Run), nil
	})
}

func (b *builder) logMirror(r *config.Route, result string, d proxy.Difference) {
	about := []zap.Field{zap.String("trace_id", d.TraceID), zap.String("route", r.Name), zap.String("mirror", r.Mirror.Upstream)}
	switch result {
	case proxy.MirrorDifferent:
		b.deps.Log.Info("mirrored answer differs", append(about, zap.Ints("status", d.Status[:]), zap.Int64s("length", d.Length[:]),
			zap.Bool("body_differs", d.BodyDiffers))...)
	case proxy.MirrorFailed:
		b.deps.Log.Debug("mirrored request failed", append(about, zap.Error(d.Failed))...)
	}
}
