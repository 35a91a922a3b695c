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

// queued is a Header as it is carried out.
type queued struct {
	transport.Field
	op Op
}

// Queue puts h at the end of the queue. h.Name must be canonical.
func (q *Headers) Queue(h Header) {
	if q.queue == nil {
		q.queue = q.room[:0]
	}
	q.queue = append(q.queue, queued{transport.NewField(h.Name, h.Value), h.Op})
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
			h[e.Name] = e.Values()
		case Add:
			h[e.Name] = append(h[e.Name], e.Value())
		case Remove:
			delete(h, e.Name)
		}
	}
}

// Split carries the queue out on a request that has more fields than those in h, as if
// they were in h behind it: what is set or added becomes one of them where that may be.
func (q *Headers) Split(h http.Header, fields []transport.Field) []transport.Field {
	for i := range q.queue {
		e := &q.queue[i]
		if e.op != Add {
			delete(h, e.Name)
			fields = slices.DeleteFunc(fields, func(f transport.Field) bool { return f.Name == e.Name })
		}
		switch {
		case e.op == Remove:
		case transport.MayBeField(e.Name):
			fields = append(fields, e.Field)
		default:
			h[e.Name] = append(h[e.Name], e.Value())
		}
	}
	return fields
}

// Clear empties the queue. What was applied before stays as it is, so its room
// isn't used again.
func (q *Headers) Clear() { q.queue = q.queue[len(q.queue):] }

// Sets says whether the queue sets or removes name, so that nobody else's value counts.
func (q *Headers) Sets(name string) bool {
	for i := range q.queue {
		if e := &q.queue[i]; e.op != Add && e.Name == name {
			return true
		}
	}
	return false
}

// DropSpellings takes from h, which are trailers, every header that the queue has,
// in any spelling: the queue has said all there is to say of it.
func (q *Headers) DropSpellings(h http.Header) {
	for name := range h {
		plain := field.Plain(name)
		for _, e := range q.queue {
			if field.Plain(e.Name) == plain {
				delete(h, name)
			}
		}
	}
}
