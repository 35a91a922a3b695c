package limits

import (
	"testing"
	"time"

	"gatehouse/helper/limit/redis/redistest"
)

// From a second after Redis went away under load, no request takes longer than redis.timeout and 10 ms. How long a busy
// machine makes requests take besides is what a second fleet tells, whose Redis is well, under the same load at the same time.
func TestNobodyWaitsForARedisThatIsAway(t *testing.T) {
	const (
		short  = 50 * time.Millisecond // redis.timeout
		most   = short + 10*time.Millisecond
		pause  = 20 * time.Millisecond // so that it isn't the load that makes requests wait
		lasts  = 4 * time.Second
		settle = time.Second
	)
	for name, way := range absences() {
		t.Run(name, func(t *testing.T) {
			server := redistest.New(t)
			f, well := start(t, single(server, short, "")), start(t, single(redistest.New(t), patience, ""))
			f.in(t, "redis")
			well.in(t, "redis")
			o, control := f.load(t, pause), well.load(t, pause)
			o.sent(t, 200)
			if err := way.away(server); err != nil {
				t.Fatal(err)
			}
			away := time.Now()
			o.end(away.Add(lasts)).served(t)
			control.end(away.Add(lasts)).served(t)

			times, usual := o.after(away.Add(settle)), control.after(away.Add(settle))
			if len(times) < 100 || len(usual) < 100 {
				t.Fatalf("only %d requests were answered, and %d by the control", len(times), len(usual))
			}
			worst, noise := times[len(times)-1], usual[len(usual)-1]
			allowed := most + noise
			if noise > short { // then chance makes one of two equal runs a good deal worse than the other
				allowed += noise
			}
			t.Logf("of %d requests the slowest took %s, of the control's %d %s", len(times), worst, len(usual), noise)
			if worst > allowed {
				t.Errorf("the slowest took %s, want %s at most", worst, allowed)
			}
			// Nor does anybody wait but those who find that Redis is away.
			if waited := times[len(times)*99/100]; waited > usual[len(usual)*99/100]+short/2 {
				t.Errorf("one in a hundred took %s or longer, in the control %s", waited, usual[len(usual)*99/100])
			}
			f.in(t, "local")
			well.in(t, "redis")
			if err := way.back(server); err != nil {
				t.Fatal(err)
			}
			f.in(t, "redis")
		})
	}
}
