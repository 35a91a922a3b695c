package admin

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"gatehouse/helper/problem"
)

// The limits of one request. What comes to this listener is small, and what it answers is taken at once.
const (
	readTimeout  = 10 * time.Second // for the body
	writeTimeout = time.Minute      // for the answer, but for a profile, which lasts as long as it is asked for
)

const profilesPath = "/debug/pprof/"

// bounded keeps a client from holding a connection with a body that it doesn't send, or an answer that it doesn't take.
// http.Server.ReadTimeout would end the contexts of requests without a body too, and so cut profiles short.
func bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connection, now := http.NewResponseController(w), time.Now()
		if r.ContentLength != 0 {
			_ = connection.SetReadDeadline(now.Add(readTimeout)) // the server's connections all have deadlines
			w.Header().Set("Connection", "close")                // so that a refusal doesn't wait for the body, nor the rest of it pass for a request
		}
		var written time.Time
		if !strings.HasPrefix(r.URL.Path, profilesPath) {
			written = now.Add(writeTimeout)
		}
		_ = connection.SetWriteDeadline(written) // net/http leaves it to the connection's next request
		next.ServeHTTP(w, r)
	})
}

// sameSite refuses what another site's page makes an operator's browser send here. A listener on the loopback without a
// token has no other protection against that.
func sameSite(next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, problem.Problem{Code: problem.BadRequest, Detail: "another site's page may not change anything here"})
	}))
	return protection.Handler(next)
}

// ownOrigin refuses what another site could make of an operator's browser a way in by: a request that another site's page
// sends, and, where no token is asked for, one to a name that another site may have made lead here (DNS rebinding).
func (o Options) ownOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Sec-Fetch-Site") == "cross-site":
			refuse(w, problem.Problem{Code: problem.BadRequest, Detail: "another site's page may not ask anything here"})
		case o.Token == "" && !unmistakable(r):
			refuse(w, problem.Problem{Code: problem.BadRequest,
				Detail: "without server.admin_token this is open under localhost and IP addresses only: use one of them, or set the token"})
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// unmistakable says whether nobody else's name can have led the request here: it has none, or localhost, or came over a
// unix socket, which no browser can reach.
func unmistakable(r *http.Request) bool {
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && local.Network() == "unix" {
		return true
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	_, err := netip.ParseAddr(host)
	return err == nil || host == "" || strings.EqualFold(host, "localhost")
}
