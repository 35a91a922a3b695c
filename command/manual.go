package command

import (
	"net"
	"strings"
)

// demoAddresses are the URLs of what the demo runs.
type demoAddresses struct{ gateway, admin, order, order2, user, identity string }

func listenerURL(l net.Listener) string { return urlOf(l.Addr().String()) }

// urlOf is where a listener can be reached from this machine.
func urlOf(address string) string {
	_, target := dialTarget(address)
	return "http://" + target
}

// manual is what the demo tells a newcomer. The commands need a POSIX shell and curl, and nothing else.
func (a demoAddresses) manual() string {
	return strings.NewReplacer("{gateway}", a.gateway, "{admin}", a.admin, "{order}", a.order, "{order2}", a.order2, "{user}", a.user,
		"{identity}", a.identity).Replace(`
gatehouse demo: a gateway with three services and an identity service. Ctrl-C drains and ends.

  gateway   {gateway}   /order and /user need a token, /public doesn't
  admin     {admin}   /metrics /healthz /readyz /api/routes /debug/pprof/
  order     {order}   echoes what reaches it; ?status=503 and ?delay=2s make it misbehave
            {order2}   the second of them; they take turns
  user      {user}   likewise
  identity  {identity}   issues tokens to anybody: /token?user=ada&scope=order

Paste these into another terminal:

# a token for ada, who may call order
TOKEN=$(curl -s '{identity}/token?user=ada&scope=order&format=raw')

# 200: it reaches the service, which sees who she is
curl -i -H "Authorization: Bearer $TOKEN" {gateway}/order/42

# 401: no token
curl -i {gateway}/order/42

# 403: her token doesn't have the scope user
curl -i -H "Authorization: Bearer $TOKEN" {gateway}/user/ada

# 404: no route leads there
curl -i {gateway}/nowhere

# 200: chaos on one of the two: it fails for 20 s (mode=slow and mode=refusing do other harm). Repeat the first call meanwhile:
# retries hide it, after 5 failures in a row it is ejected, and later it is back
curl -i -X POST '{order2}/chaos?mode=failing&for=20s'

# 200: and how the gateway sees them; do the same to the other one, and the breaker opens
curl -i {admin}/api/upstreams

# 429: more than /public takes, which is 1 a second and 3 at once
for i in 1 2 3 4 5 6; do curl -s -o /dev/null -w '%{http_code}\n' {gateway}/public/hello; done

`)
}
