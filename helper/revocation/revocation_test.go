package revocation_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gatehouse/helper/identity"
	"gatehouse/helper/revocation"
)

func name(t testing.TB, text string) revocation.Name {
	t.Helper()
	n, err := revocation.ParseName(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestWhatAnEntryRevokes(t *testing.T) {
	ada := &identity.Principal{TokenID: "t1", Subject: "ada", KeyID: "k1"}
	for entry, want := range map[string]bool{
		"jti:t1": true, "sub:ada": true, "kid:k1": true,
		"jti:t2": false, "sub:Ada": false, "kid:k": false, "jti:ada": false, "sub:t1": false, "kid:t1": false, "sub:adam": false,
	} {
		var list revocation.List
		if revoked(&list, ada) {
			t.Error("an empty list revokes")
		}
		list.Add(name(t, entry), time.Now().Add(time.Hour))
		if by, got := list.Match(ada); got != want || got && by.String() != entry {
			t.Errorf("%s revokes ada: %t by %s, want %t", entry, got, by, want)
		}
		if revoked(&list, &identity.Principal{}) {
			t.Errorf("%s revokes somebody without a name", entry)
		}
		if !list.Remove(name(t, entry)) || revoked(&list, ada) || list.Remove(name(t, entry)) {
			t.Errorf("%s can't be removed once", entry)
		}
	}
}

func TestAnEntryEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var list revocation.List
		ada := &identity.Principal{Subject: "ada"}
		list.Add(name(t, "sub:ada"), time.Now().Add(time.Hour))
		list.Add(name(t, "sub:ada"), time.Now().Add(time.Minute)) // a shorter one doesn't cut it
		time.Sleep(time.Hour - 1)
		if !revoked(&list, ada) || len(list.Entries()) != 1 {
			t.Error("it ended too early")
		}
		time.Sleep(1)
		if revoked(&list, ada) || len(list.Entries()) != 0 {
			t.Error("it didn't end")
		}
	})
}

func TestTheFileAndTheOperatorDontTouchEachOther(t *testing.T) {
	var list revocation.List
	ada, bob := &identity.Principal{Subject: "ada"}, &identity.Principal{Subject: "bob"}
	list.SetFile("revoked.txt", []revocation.Name{name(t, "sub:ada")})
	list.Add(name(t, "sub:bob"), time.Now().Add(time.Hour))
	if list.Remove(name(t, "sub:ada")) || !revoked(&list, ada) {
		t.Error("an entry of the file was removed")
	}
	if got := fmt.Sprint(list.Entries()[0].FromFile, list.Entries()[1].FromFile, len(list.Entries())); got != "true false 2" {
		t.Errorf("entries: %s", got)
	}
	list.SetFile("revoked.txt", nil)
	if revoked(&list, ada) || !revoked(&list, bob) {
		t.Error("the file's next content didn't take the place of the last one alone")
	}
}

func TestParsingAFile(t *testing.T) {
	names, err := revocation.ParseFile([]byte("# leavers\n\n  sub:ada \r\njti:a:b\nkid:k # 1"))
	if got := fmt.Sprint(names, err); got != "[sub:ada jti:a:b kid:k # 1] <nil>" {
		t.Errorf("got %s", got)
	}
	for _, text := range []string{"ada", "sub:", "SUB:ada", "iss:x", "sub:a\x00b", "sub:\xff", "jti:" + strings.Repeat("x", 1025)} {
		if _, err := revocation.ParseFile([]byte("sub:ada\n" + text + "\n")); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzParseFile(f *testing.F) {
	f.Add([]byte("# c\nsub:ada\njti:1"))
	f.Add([]byte("kid:\r\nsub"))
	f.Fuzz(func(t *testing.T, content []byte) {
		names, err := revocation.ParseFile(content)
		if err != nil {
			return
		}
		var again strings.Builder
		for _, n := range names {
			again.WriteString(n.String() + "\n")
		}
		reparsed, err := revocation.ParseFile([]byte(again.String()))
		if err != nil || fmt.Sprint(reparsed) != fmt.Sprint(names) {
			t.Errorf("%q became %q, %v", names, reparsed, err)
		}
	})
}

// Many ask while one changes; what one has added is in force for itself at once.
func TestManyAskWhileOneChanges(t *testing.T) {
	var list revocation.List
	done := make(chan struct{})
	var readers, writers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					revoked(&list, &identity.Principal{Subject: "0-1"})
					list.Entries()
				}
			}
		})
	}
	for w := range 3 {
		writers.Go(func() {
			naive := map[string]bool{}
			for range 300 {
				subject := fmt.Sprintf("%d-%d", w, rand.IntN(5))
				entry := name(t, "sub:"+subject)
				if rand.IntN(2) == 0 {
					list.Add(entry, time.Now().Add(time.Hour))
					naive[subject] = true
				} else if list.Remove(entry) != naive[subject] {
					t.Errorf("removing %s", subject)
				} else {
					naive[subject] = false
				}
				if revoked(&list, &identity.Principal{Subject: subject}) != naive[subject] {
					t.Errorf("%s is revoked: %t", subject, !naive[subject])
				}
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
}

func TestAskingAllocatesNothing(t *testing.T) {
	var list revocation.List
	list.SetFile("revoked.txt", []revocation.Name{{Kind: revocation.Subject, Value: "bob"}})
	ada := &identity.Principal{TokenID: "t1", Subject: "ada", KeyID: "k1"}
	if n := testing.AllocsPerRun(100, func() { revoked(&list, ada) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// revoked says whether any entry of the list matches.
func revoked(list *revocation.List, p *identity.Principal) bool {
	_, matches := list.Match(p)
	return matches
}
