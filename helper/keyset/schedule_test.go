package keyset_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"gatehouse/helper/keyset"
)

// scripted answers requests without a network, for tests with a clock of their own.
type scripted struct {
	times  []time.Duration // since the start
	start  time.Time
	answer func(r *http.Request) (status int, body string, header http.Header, err error)
}

func (s *scripted) RoundTrip(r *http.Request) (*http.Response, error) {
	s.times = append(s.times, time.Since(s.start))
	status, body, header, err := s.answer(r)
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(bytes.NewBufferString(body)), Request: r}, nil
}

// within checks each wait between fetches against least and most.
func (s *scripted) within(t *testing.T, least, most time.Duration) {
	t.Helper()
	if len(s.times) < 4 {
		t.Fatalf("only %d fetches", len(s.times))
	}
	for i := 1; i < len(s.times); i++ {
		if wait := s.times[i] - s.times[i-1]; wait < least || wait > most {
			t.Errorf("fetch %d came %s after the one before, want %s to %s", i, wait, least, most)
		}
	}
}

func TestWhenTheSetIsFetchedAgain(t *testing.T) {
	set := jwks(t, "1")
	const refresh = 10 * time.Minute
	for name, row := range map[string]struct {
		cacheControl string
		least, most  time.Duration
	}{
		"without a word":                    {"", 9 * time.Minute, refresh},
		"a max-age that is shorter":         {"public, max-age=300", 4 * time.Minute, 5 * time.Minute},
		"a max-age that is longer":          {"max-age=86400", 9 * time.Minute, refresh},
		"a max-age that is too short":       {"max-age=1", 54 * time.Second, time.Minute},
		"not to be kept":                    {"max-age=300, No-Store", 54 * time.Second, time.Minute},
		"a max-age that isn't one":          {"max-age=-5", 9 * time.Minute, refresh},
		"a max-age in quotes is understood": {`max-age="300"`, 4 * time.Minute, 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &scripted{start: time.Now(), answer: func(*http.Request) (int, string, http.Header, error) {
					return 200, set, http.Header{"Cache-Control": {row.cacheControl}}, nil
				}}
				r := run(t, keyset.RemoteOptions{URL: "http://issuer", Refresh: refresh, Transport: s})
				time.Sleep(time.Hour) // the bubble's clock
				r.stop()
				// The jitter takes up to a tenth of the wait.
				s.within(t, row.least-row.least/10, row.most)
			})
		})
	}
}

func TestAFailingIssuerIsAskedLessAndLess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{start: time.Now(), answer: func(*http.Request) (int, string, http.Header, error) {
			return 0, "", nil, errors.New("refused")
		}}
		r := run(t, keyset.RemoteOptions{URL: "http://issuer", Transport: s})
		time.Sleep(10 * time.Minute)
		r.stop()
		s.within(t, 500*time.Millisecond, 30*time.Second)
		if n := len(s.times); n < 20 || n > 60 {
			t.Errorf("%d attempts in 10 minutes", n)
		}
		if last := s.times[len(s.times)-1] - s.times[len(s.times)-2]; last < 15*time.Second {
			t.Errorf("the last wait is %s", last)
		}
	})
}

func TestTheCooldownOfUnknownKids(t *testing.T) {
	set := jwks(t, "1")
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{start: time.Now(), answer: func(*http.Request) (int, string, http.Header, error) { return 200, set, nil, nil }}
		r := run(t, keyset.RemoteOptions{URL: "http://issuer", Refresh: time.Hour, Cooldown: 30 * time.Second, Transport: s})
		for range 10 { // a request each 10 s, over 100 s
			if n := r.count(t, "random"); n != 0 {
				t.Errorf("%d keys", n)
			}
			time.Sleep(10 * time.Second)
		}
		r.stop()
		if n := len(s.times); n != 1+4 { // at 0, 30, 60 and 90 s
			t.Errorf("%d fetches, at %s", n, s.times)
		}
	})
}

func TestAnUnchangedSetIsNotSentAgain(t *testing.T) {
	set := jwks(t, "1")
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		s := &scripted{start: time.Now(), answer: func(r *http.Request) (int, string, http.Header, error) {
			asked = append(asked, r.Header.Get("If-None-Match"))
			if r.Header.Get("If-None-Match") == `"v1"` {
				return 304, "", nil, nil
			}
			return 200, set, http.Header{"Etag": {`"v1"`}}, nil
		}}
		r := run(t, keyset.RemoteOptions{URL: "http://issuer", Refresh: time.Minute, Transport: s})
		time.Sleep(30 * time.Second)
		if age := r.Age(); age != 30*time.Second {
			t.Errorf("age %s after 30 s", age)
		}
		time.Sleep(40 * time.Second)
		if age := r.Age(); age > 20*time.Second {
			t.Errorf("age %s after the set was confirmed", age)
		}
		r.stop()
		if first, second := <-r.refreshes, <-r.refreshes; first.Result != keyset.Success || second.Result != keyset.Unchanged || second.Keys != 1 {
			t.Errorf("refreshes %+v, %+v", first, second)
		}
		if len(asked) != 2 || asked[0] != "" || asked[1] != `"v1"` {
			t.Errorf("asked with %q", asked)
		}
	})
}
