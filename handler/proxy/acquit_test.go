package proxy

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"gatehouse/helper/exchange"
	"gatehouse/helper/problem"
	"gatehouse/helper/retry"
)

// What http.Transport says of an unused connection on which something came, or of a
// request that it can't send, sounds alike: how far the attempt came tells them apart.
func TestWhoIsToBlameBeforeTheRequestIsWritten(t *testing.T) {
	for _, row := range []struct {
		name   string
		stage  int32
		reused bool
		code   problem.Code
		kind   retry.Kind
	}{
		{"it can't be sent", prepared, false, problem.BadRequest, 0},
		{"it can't be sent on a new connection", connected, false, problem.BadRequest, 0},
		{"something came on the unused connection", connected, true, problem.UpstreamReset, retry.Reset},
	} {
		c := &call{ctx: context.Background(), sending: &sending{reused: row.reused}}
		c.sending.stage.Store(row.stage)
		failed := verdict{problem: problem.Problem{Code: problem.UpstreamBadResponse}, outcome: exchange.Failure}
		c.err = errors.New("not understood")
		if v := c.acquit(&http.Request{}, failed); v.problem.Code != row.code || v.kind != row.kind {
			t.Errorf("%s: %s, of kind %d", row.name, v.problem.Code, v.kind)
		}
	}
}
