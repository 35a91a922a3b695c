package redis

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"gatehouse/helper/limit"
)

// What goes to Redis is the same whatever a gateway's own clock says, so that
// gateways whose clocks differ by minutes, or by decades, share a bucket.
func TestNothingThatIsSentDependsOnTheGatewaysClock(t *testing.T) {
	rule := newRule(t, "r", 10, time.Minute, 5)
	sent := func() script {
		demands := []limit.Demand{{Rule: rule, Key: stringKey(rule, "ada"), Batch: 3}, {Rule: rule, Key: stringKey(rule, "bob"), Shadow: true}}
		return newCall(context.Background(), demands, false).scripts[0]
	}
	now := sent()
	synctest.Test(t, func(t *testing.T) { // it is the year 2000
		for range 3 {
			if then := sent(); !slices.Equal(then.keys, now.keys) || !slices.Equal(then.args, now.args) {
				t.Errorf("at %s %v %v is sent, now %v %v", time.Now(), then.keys, then.args, now.keys, now.args)
			}
			<-time.After(5 * time.Minute)
		}
	})
}
