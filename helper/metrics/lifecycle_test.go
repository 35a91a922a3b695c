package metrics_test

import (
	"strings"
	"testing"
	"time"

	"gatehouse/helper/metrics"
)

type removable interface{ Remove() }

// register makes the handles that one configuration has.
func register(m *metrics.Metrics, state int) []removable {
	return []removable{
		m.Upstream("order", func() int { return state }),
		m.Backend("order", "http://order:8080", func() int64 { return int64(state) }, func() bool { return true }),
		m.Route("order", "orders"),
		m.Provider("identity"),
	}
}

func remove(handles []removable) {
	for _, h := range handles {
		h.Remove()
	}
}

func TestReloadKeepsTheSeriesOfWhatStaysAndDropsTheRest(t *testing.T) { // L-11, M-06
	m := newMetrics()
	empty := series(t, m)
	old := register(m, 1)
	route := old[2].(*metrics.Route)
	route.Observe("GET", 200, time.Millisecond, 0, "")
	old[0].(*metrics.Upstream).Refused()

	next := register(m, 2)
	remove(old)
	route.Observe("GET", 200, time.Millisecond, 0, "") // a request of the old snapshot ends late
	route.Observe("GET", 201, time.Millisecond, 0, "")
	got := series(t, m)
	for _, want := range []string{
		`http_requests_total{code="200",method="GET",upstream="order",uri="orders"} 2`,
		`http_requests_total{code="201",method="GET",upstream="order",uri="orders"} 1`,
		`circuit_breaker_open{upstream="order"} 1`,
		`gateway_breaker_state{upstream="order"} 2`,
		`gateway_backend_inflight{backend="http://order:8080",upstream="order"} 2`,
	} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("after the reload there is no %s in:\n%s", want, got)
		}
	}

	remove(next)
	if got := series(t, m); got != empty {
		t.Errorf("series of what was removed are still there:\n%s", got)
	}
}

func TestRejectedReloadLeavesTheBreakerInService(t *testing.T) {
	m := newMetrics()
	register(m, 1)
	remove(register(m, 0))
	if got := series(t, m); !strings.Contains(got, `gateway_breaker_state{upstream="order"} 1`+"\n") {
		t.Error(got)
	}
}

func TestTheBreakerIsReadAtTheMomentOfTheScrape(t *testing.T) {
	m := newMetrics()
	state := 0
	m.Upstream("order", func() int { return state })
	for want, name := range []string{"0", "1", "2"} {
		state = want
		if got := series(t, m); !strings.Contains(got, `gateway_breaker_state{upstream="order"} `+name+"\n") {
			t.Errorf("state %d: %s", want, got)
		}
	}
}

func TestRequestThatOutlivesItsRouteBringsNoSeriesBack(t *testing.T) {
	m := newMetrics()
	empty := series(t, m)
	route, upstream, backend := m.Route("order", "orders"), m.Upstream("order", func() int { return 0 }), m.Backend("order", "http://order", func() int64 { return 0 }, func() bool { return true })
	remove([]removable{route, upstream, backend})
	route.Observe("GET", 200, time.Millisecond, 0, "4bf92f3577b34da6a3ce929d0e0e4736")
	route.Rejected("breaker_open")
	upstream.Refused()
	upstream.Transition(2)
	backend.Observe(time.Second)
	if got := series(t, m); got != empty {
		t.Errorf("series came back:\n%s", got)
	}
}

func TestRoutesThatShareALabelKeepItUntilTheLastGoes(t *testing.T) {
	m := newMetrics()
	stable, canary := m.Route("order", "orders"), m.Route("order-next", "orders")
	other := m.Route("order", "reports")
	stable.Remove()
	got := series(t, m)
	for _, want := range []string{`gateway_rejects_total{code="no_route",shadow="false",uri="orders"}`, `gateway_overhead_seconds_count{upstream="order"}`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in:\n%s", want, got)
		}
	}
	if strings.Contains(got, `upstream="order",uri="orders"`) {
		t.Errorf("the route's own series are still there:\n%s", got)
	}
	canary.Remove()
	other.Remove()
}
