package limits

import (
	"testing"
	"time"

	"gatehouse/helper/limit/redis/redistest"
)

// Three gateways and eight keys, each asked for far more than it may have.
func TestNoKeyPassesItsLimit(t *testing.T) {
	for name, more := range map[string]string{"without leases": "", "with leases": ", lease: 10"} {
		t.Run(name, func(t *testing.T) {
			server := redistest.New(t)
			f := start(t, single(server, patience, more))
			f.told(t, toldShared, 1)
			o := f.run(t, 3*time.Second)
			o.holds(t, grown(o.lasted)*3/4, burst+grown(o.lasted))
			if n := server.MustDo(t, "DBSIZE"); n != "8" && n != "9" { // and the probe's, for a second
				t.Errorf("Redis holds %s keys", n)
			}
			f.told(t, toldLocally, 0)
		})
	}
}

// absence is a way in which Redis goes away and comes back.
type absence struct{ away, back func(*redistest.Server) error }

func absences() map[string]absence {
	return map[string]absence{
		"killed":  {func(s *redistest.Server) error { s.Kill(); return nil }, (*redistest.Server).Restart},
		"stopped": {(*redistest.Server).Pause, (*redistest.Server).Resume},
	}
}

// Redis goes away: nobody gets an error, and each gateway allows its share. When it is back, the limit is one again.
func TestRedisGoesAwayAndComesBack(t *testing.T) {
	for name, way := range absences() {
		t.Run(name, func(t *testing.T) {
			server := redistest.New(t)
			f := start(t, single(server, timeout, ""))
			f.told(t, toldShared, 1)
			f.run(t, 500*time.Millisecond).holds(t, 1, burst+grown(time.Second))

			if err := way.away(server); err != nil {
				t.Fatal(err)
			}
			o := f.run(t, 3*time.Second)
			// Each gateway has a third of the rate and of the burst.
			o.holds(t, grown(o.lasted)*3/4, burst+grown(o.lasted)+2*gateways)
			f.told(t, toldLocally, 1)
			f.in(t, "local")

			if err := way.back(server); err != nil {
				t.Fatal(err)
			}
			took := f.told(t, toldShared, 2)
			t.Logf("Redis was used again after %s", took)
			if took > 2*time.Second {
				t.Errorf("Redis was used again after %s, want 2s at most", took)
			}
			f.in(t, "redis")
			o = f.run(t, 2*time.Second)
			o.holds(t, grown(o.lasted)/2, burst+grown(o.lasted))
			f.told(t, toldLocally, 1)
		})
	}
}

// Without Redis at start the gateways serve, and say why they keep their limits to themselves.
func TestRedisIsAwayAtStart(t *testing.T) {
	server := redistest.New(t)
	server.Kill()
	f := start(t, single(server, timeout, ""))
	f.told(t, toldLocally, 1)
	f.run(t, 300*time.Millisecond).holds(t, gateways, burst+grown(time.Second)+gateways)
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	f.told(t, toldShared, 1)
}
