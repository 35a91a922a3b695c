package exchange

import (
	"net/http"

	"gatehouse/helper/field"
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
	queue []Header
	room  [8]Header // most requests queue fewer: no allocation
}

// Queue puts h at the end of the queue. h.Name must be canonical.
func (q *Headers) Queue(h Header) {
	if q.queue == nil {
		q.queue = q.room[:0]
	}
	q.queue = append(q.queue, h)
}

// Set queues name to be set to value.
func (q *Headers) Set(name, value string) { q.Queue(Header{Name: name, Value: value}) }

// Add queues value to be added to name.
func (q *Headers) Add(name, value string) { q.Queue(Header{Name: name, Value: value, Op: Add}) }

// Remove queues every value of name to be taken away.
func (q *Headers) Remove(name string) { q.Queue(Header{Name: name, Op: Remove}) }

// Apply carries the queue out on h.
func (q *Headers) Apply(h http.Header) {
	for _, e := range q.queue {
		switch e.Op {
		case Set:
			h[e.Name] = []string{e.Value}
		case Add:
			h[e.Name] = append(h[e.Name], e.Value)
		case Remove:
			delete(h, e.Name)
		}
	}
}

// Clear empties the queue.
func (q *Headers) Clear() { q.queue = nil }

// Scrub takes from h what the queue will set, so that the gateway's value
// stands alone.
func (q *Headers) Scrub(h http.Header) {
	for _, e := range q.queue {
		if e.Op != Add {
			delete(h, e.Name)
		}
	}
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
