package redis

import (
	"strings"
	"testing"
	"time"

	"gatehouse/helper/limit"
	"gatehouse/helper/limit/redis/redistest"
)

// The rights that the operations manual names are enough, and no more than that.
func TestAUserWithFewRights(t *testing.T) {
	const single = "~gatehouse:* +evalsha +eval +get +set +del +time"
	grant := func(t *testing.T, server *redistest.Server, rights string) {
		server.MustDo(t, append([]string{"ACL", "SETUSER", "limits", "reset", "on", ">secret"}, strings.Fields(rights)...)...)
	}
	t.Run("a single node", func(t *testing.T) {
		server := redistest.New(t)
		for _, rights := range append([]string{single}, without(single)...) {
			grant(t, server, rights)
			server.MustDo(t, "SCRIPT", "FLUSH")
			c := newClient(t, Options{Addresses: []string{server.Addr()}, Username: "limits", Password: "secret"})
			if err := tryAll(t, c); (err == nil) != (rights == single) {
				t.Errorf("with %s: %v", rights, err)
			}
		}
	})
	t.Run("a cluster", func(t *testing.T) {
		nodes := redistest.NewCluster(t, 3)
		for _, node := range nodes {
			grant(t, node, single+" +ping +command +cluster|slots")
		}
		c := newClient(t, Options{Addresses: addresses(nodes), Username: "limits", Password: "secret"})
		if err := tryAll(t, c); err != nil {
			t.Error(err)
		}
	})
}

// without is the rights less one command each.
func without(rights string) (fewer []string) {
	words := strings.Fields(rights)
	for i := 1; i < len(words); i++ {
		if words[i] == "+del" { // only a Cluster gives tokens back
			continue
		}
		fewer = append(fewer, strings.Join(append(append([]string{}, words[:i]...), words[i+1:]...), " "))
	}
	return fewer
}

// tryAll checks the client and asks a few buckets.
func tryAll(t *testing.T, c *Client) error {
	rule := newRule(t, "r", 1, time.Hour, 3)
	for _, subject := range []string{"ada", "bob", "eve"} {
		if err := c.Decide(patient(t), []limit.Demand{{Rule: rule, Key: stringKey(rule, subject)}}); err != nil {
			return err
		}
	}
	return c.Check(patient(t))
}
