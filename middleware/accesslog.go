package middleware

import (
	"net/http"

	"go.uber.org/zap"

	"gatehouse/helper/exchange"
)

// accessLog marks the start of a request that was let through, with its trace
// id: at debug level the log shows what is still in flight. The one line that
// every request gets, also one that an earlier stage refused, is written when
// it ends (handler/gateway).
func accessLog(log *zap.Logger) Stage {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if log.Core().Enabled(zap.DebugLevel) {
				logStart(log, r)
			}
			next.ServeHTTP(w, r)
		})
	}
}

func logStart(log *zap.Logger, r *http.Request) {
	ex := exchange.From(r.Context())
	log.Debug("request started", zap.String("trace_id", ex.TraceID), zap.String("method", r.Method), zap.String("route", ex.Route),
		zap.String("upstream", ex.Upstream), zap.String("client_ip", ex.Client.String()))
}
