package redistest

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
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
	port, err := freePort()
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
