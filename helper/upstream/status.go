package upstream

// Status is one backend as it is at this moment.
type Status struct {
	*Backend
	Up      bool // its active checks succeed, or there are none
	Ejected bool // its own requests failed too often
}

// Usable says whether the backend gets new requests.
func (s Status) Usable() bool { return s.Up && !s.Ejected && !s.Draining() }

// Backends tells how every backend is, in the order of the config.
func (p *Pool) Backends() []Status {
	s := p.current.Load()
	now := make([]Status, len(s.backends))
	for i, b := range s.backends {
		now[i] = Status{Backend: b, Up: s.up(i), Ejected: s.group.Ejected(i)}
	}
	return now
}

// Usable says whether the backend of that name, or one of its addresses, gets
// new requests; with "" it says so for any backend.
func (p *Pool) Usable(name string) bool {
	for _, b := range p.Backends() {
		if (name == "" || b.Name == name) && b.Usable() {
			return true
		}
	}
	return false
}

// Ready says whether every backend that is checked has had its first result.
func (p *Pool) Ready() bool {
	checker := p.current.Load().checker
	if checker == nil {
		return true
	}
	select {
	case <-checker.Ready():
		return true
	default:
		return false
	}
}
