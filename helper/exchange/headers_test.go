package exchange_test

import (
	"net/http"
	"reflect"
	"testing"

	"gatehouse/helper/exchange"
	"gatehouse/helper/transport"
)

// What has been carried out stays as it is, whatever becomes of the queue and of
// the header map.
func TestAppliedHeadersStayAsTheyAre(t *testing.T) {
	var q exchange.Headers
	q.Set("A", "1")
	q.Add("B", "2")
	first, second := http.Header{}, http.Header{"B": {"0"}}
	q.Apply(first)
	q.Apply(second)
	first.Add("A", "more")
	q.Clear()
	for range 20 { // past the room that needs no allocation
		q.Set("C", "3")
	}
	third := http.Header{}
	q.Apply(third)
	for _, row := range []struct{ got, want http.Header }{
		{first, http.Header{"A": {"1", "more"}, "B": {"2"}}},
		{second, http.Header{"A": {"1"}, "B": {"0", "2"}}},
		{third, http.Header{"C": {"3"}}},
	} {
		if !reflect.DeepEqual(row.got, row.want) {
			t.Errorf("got %v, want %v", row.got, row.want)
		}
	}
}

// Split and the fields it returns say together what Apply says.
func TestSplitIsApply(t *testing.T) {
	var q exchange.Headers
	for _, name := range []string{"Client", "Field", "User-Agent", "Both", "None"} {
		q.Add(name, "added")
		q.Set(name, "set")
		q.Add(name, "added")
		q.Remove("None")
	}
	header := func() http.Header {
		return http.Header{"Client": {"client"}, "Both": {"client"}, "None": {"client"}, "User-Agent": {"client"}, "Other": {"client"}}
	}
	fields := func() []transport.Field {
		return []transport.Field{transport.NewField("Field", "field"), transport.NewField("Both", "field"), transport.NewField("None", "field"), transport.NewField("More", "field")}
	}
	got, want := header(), header()
	left := q.Split(got, fields())
	if got["User-Agent"] == nil || got["Both"] != nil {
		t.Errorf("in the header is %v", got)
	}
	transport.AddFields(got, left)
	transport.AddFields(want, fields())
	if q.Apply(want); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestApplyingSetHeadersAllocatesNothing(t *testing.T) {
	var q exchange.Headers
	q.Set("A", "1")
	q.Set("B", "2")
	h := http.Header{"A": nil, "B": nil}
	if n := testing.AllocsPerRun(100, func() { q.Apply(h) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
