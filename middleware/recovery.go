package middleware

import (
	"fmt"
	"net/http"
	"runtime/debug"

	"go.uber.org/zap"

	"gatehouse/helper/exchange"
	"gatehouse/helper/problem"
)

// recovery answers a panic with a 500 that carries the trace id, and logs the
// stack. http.ErrAbortHandler is not a fault but the way to end a connection,
// so it goes on up; and so does the end of an answer that has begun: were it
// swallowed, half an answer would look whole.
func recovery(log *zap.Logger, panicked func()) Stage {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ex := exchange.From(r.Context())
			defer func() {
				fault := recover()
				if fault == nil {
					return
				}
				if fault == http.ErrAbortHandler { //nolint:errorlint // net/http compares it the same way
					panic(fault)
				}
				panicked()
				log.Error("panic while serving a request", zap.String("trace_id", ex.TraceID), zap.String("route", ex.Route),
					zap.String("panic", fmt.Sprint(fault)), zap.ByteString("stack", debug.Stack()))
				started := ex.Writer.Started()
				ex.Refuse(w, problem.Problem{Code: problem.InternalError, Detail: "Report the trace id to the operator of this gateway."})
				if started {
					panic(http.ErrAbortHandler)
				}
			}()
			next.ServeHTTP(w, r)
		})
	}
}
