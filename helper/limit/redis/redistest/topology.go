package redistest

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gatehouse/helper/server/servertest"
)

// NewCluster is a Cluster of n masters that share all slots.
func NewCluster(t testing.TB, n int) []*Server {
	t.Helper()
	nodes := make([]*Server, n)
	for i := range nodes {
		nodes[i] = New(t, "--cluster-enabled", "yes", "--cluster-node-timeout", "1000")
	}
	for i, node := range nodes {
		node.MustDo(t, "CLUSTER", "ADDSLOTSRANGE", strconv.Itoa(i*16384/n), strconv.Itoa((i+1)*16384/n-1))
		node.MustDo(t, "CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i+1))
		if i > 0 {
			node.MustDo(t, "CLUSTER", "MEET", "127.0.0.1", strconv.Itoa(nodes[0].Port))
		}
	}
	for _, node := range nodes {
		err := Until(startTimeout, func() error {
			info, err := node.Do("CLUSTER", "INFO")
			if err == nil && !(strings.Contains(info, "cluster_state:ok") && strings.Contains(info, fmt.Sprintf("cluster_known_nodes:%d", n))) {
				err = errors.New(info)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return nodes
}

// MoveSlots moves each slot of the source that has a key, with its keys, to the target, as redis-cli does: key by key, with
// a time in which the source says of some keys that the target has them, and says how many it has moved.
func MoveSlots(t testing.TB, nodes []*Server, source, target *Server) int {
	t.Helper()
	moved := map[string]bool{}
	sourceID, targetID := source.MustDo(t, "CLUSTER", "MYID"), target.MustDo(t, "CLUSTER", "MYID")
	for _, key := range strings.Fields(source.MustDo(t, "KEYS", "*")) {
		slot := source.MustDo(t, "CLUSTER", "KEYSLOT", key)
		if moved[slot] { // with another key
			continue
		}
		moved[slot] = true
		target.MustDo(t, "CLUSTER", "SETSLOT", slot, "IMPORTING", sourceID)
		source.MustDo(t, "CLUSTER", "SETSLOT", slot, "MIGRATING", targetID)
		for { // until there is none
			keys := strings.Fields(source.MustDo(t, "CLUSTER", "GETKEYSINSLOT", slot, "100"))
			if len(keys) == 0 {
				break
			}
			for _, key := range keys {
				source.MustDo(t, "MIGRATE", "127.0.0.1", strconv.Itoa(target.Port), key, "0", "5000")
			}
		}
		target.MustDo(t, "CLUSTER", "SETSLOT", slot, "NODE", targetID) // the one that gets it first, or nobody has it for a moment
		for _, node := range nodes {
			node.MustDo(t, "CLUSTER", "SETSLOT", slot, "NODE", targetID)
		}
	}
	return len(moved)
}

// Watched is a master with one replica, watched by three Sentinels under the
// name "limits".
type Watched struct {
	Master, Replica *Server
	Sentinels       []*Server
}

// NewWatched starts one.
func NewWatched(t testing.TB) Watched {
	t.Helper()
	var w Watched
	w.Master = New(t)
	w.Replica = New(t, "--replicaof", "127.0.0.1 "+strconv.Itoa(w.Master.Port))
	await(t, w.Replica, "master_link_status:up", "INFO", "replication")
	for range 3 {
		folder := t.TempDir()
		file := filepath.Join(folder, "sentinel.conf")
		err := write(file, fmt.Sprintf("sentinel monitor limits 127.0.0.1 %d 2\nsentinel down-after-milliseconds limits 500\nsentinel failover-timeout limits 3000\n", w.Master.Port))
		if err != nil {
			t.Fatal(err)
		}
		s, err := startSentinel(folder, file)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Kill)
		w.Sentinels = append(w.Sentinels, s)
	}
	for _, s := range w.Sentinels {
		await(t, s, "slaves=1,sentinels=3", "INFO", "sentinel")
	}
	return w
}

func startSentinel(folder, file string) (*Server, error) {
	port, err := servertest.FreePort()
	if err != nil {
		return nil, err
	}
	s := &Server{Port: port, args: []string{file, "--sentinel", "--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--dir", folder, "--logfile", "sentinel.log"}}
	return s, s.Restart()
}

// await waits until a reply has the text.
func await(t testing.TB, s *Server, text string, command ...string) {
	t.Helper()
	err := Until(startTimeout, func() error {
		reply, err := s.Do(command...)
		if err == nil && !strings.Contains(reply, text) {
			err = fmt.Errorf("%q isn't in %q", text, reply)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
