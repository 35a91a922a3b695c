package exchange

import (
	"net/http"
	"slices"

	"gatehouse/helper/field"
	"gatehouse/helper/transport"
)

// Header is one queued header. Value is empty where Op is Remove.
type Header struct {
	Name, Value string
	Op          Op
}

// Op is what a queued header does to the headers it is applied to.
type Op uint8

// The operations.
const (
	Set    Op = iota // replaces every value
	Add              // is added to what is there
	Remove           // takes every value away
)

// Headers is a queue of headers in the order they were queued. Names are
// canonical. The zero value is an empty queue.
type Headers struct {
	queue []queued
	room  [5]queued // most requests queue fewer: no allocation
}

// queued is a Header with its value as a header map wants it, so that to carry it
// out allocates nothing.
type queued struct {
	name  string
	value [1]string
	op    Op
}

// values may be put into header maps: what is appended to it goes elsewhere.
func (e *queued) values() []string { return e.value[:1:1] }

// Queue puts h at the end of the queue. h.Name must be canonical.
func (q *Headers) Queue(h Header) {
	if q.queue == nil {
		q.queue = q.room[:0]
	}
	q.queue = append(q.queue, queued{h.Name, [1]string{h.Value}, h.Op})
}

// Set queues name to be set to value.
func (q *Headers) Set(name, value string) { q.Queue(Header{Name: name, Value: value}) }

// Add queues value to be added to name.
func (q *Headers) Add(name, value string) { q.Queue(Header{Name: name, Value: value, Op: Add}) }

// Remove queues every value of name to be taken away.
func (q *Headers) Remove(name string) { q.Queue(Header{Name: name, Op: Remove}) }

// Apply carries the queue out on h.
func (q *Headers) Apply(h http.Header) {
	for i := range q.queue {
		e := &q.queue[i]
		switch e.op {
		case Set:
			h[e.name] = e.values()
		case Add:
			h[e.name] = append(h[e.name], e.value[0])
		case Remove:
			delete(h, e.name)
		}
	}
}

// Split carries the queue out on a request that has more fields than those in h, as if
// they were in h behind it: what is set or added becomes one of them where that may be.
func (q *Headers) Split(h http.Header, fields []transport.Field) []transport.Field {
	for i := range q.queue {
		e := &q.queue[i]
		if e.op != Add {
			delete(h, e.name)
			fields = slices.DeleteFunc(fields, func(f transport.Field) bool { return f.Name == e.name })
		}
		switch {
		case e.op == Remove:
		case transport.MayBeField(e.name):
			fields = append(fields, transport.Field{Name: e.name, Value: e.value[0]})
		default:
			h[e.name] = append(h[e.name], e.value[0])
		}
	}
	return fields
}

// Clear empties the queue. What was applied before stays as it is, so its room
// isn't used again.
func (q *Headers) Clear() { q.queue = q.queue[len(q.queue):] }

// Scrub takes from h what the queue will set, so that the gateway's value
// stands alone.
func (q *Headers) Scrub(h http.Header) {
	for i := range q.queue {
		if e := &q.queue[i]; e.op != Add {
			delete(h, e.name)
		}
	}
}

// DropSpellings takes from h, which are trailers, every header that the queue has,
// in any spelling: the queue has said all there is to say of it.
func (q *Headers) DropSpellings(h http.Header) {
	for name := range h {
		plain := field.Plain(name)
		for _, e := range q.queue {
			if field.Plain(e.name) == plain {
				delete(h, name)
			}
		}
	}
}
