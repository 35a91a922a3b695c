package retry_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"gatehouse/helper/retry"
)

// content is n bytes of which no two stretches are the same.
func content(n int) []byte {
	data, random := make([]byte, n), rand.New(rand.NewPCG(1, 1))
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	return data
}

func open(t *testing.T, body *retry.Body) io.ReadCloser {
	t.Helper()
	reader, err := body.Open()
	if err != nil {
		t.Fatal(err)
	}
	return reader
}

func TestABodyIsSentAgain(t *testing.T) {
	const longest = retry.MaxBody
	tests := []struct {
		name       string
		length     int
		declared   int64
		had        []int // by the attempts before the last
		replayable bool
	}{
		{"whole, after an attempt that read nothing", 1000, 1000, []int{0}, true},
		{"whole, after an attempt that read a part", 1000, 1000, []int{10}, true},
		{"whole, after an attempt that read everything", 1000, 1000, []int{1000}, true},
		{"whole, after attempts that read more and less", 1000, -1, []int{10, 500, 3, 1000, 0}, true},
		{"an empty one", 0, -1, []int{0}, true},
		{"one of just the longest length", longest, longest, []int{longest}, true},
		{"one of unknown length that is just the longest", longest, -1, []int{longest}, true},
		{"a longer one of unknown length, after little of it", longest + 1, -1, []int{longest - 5000}, true},
		{"not a longer one of unknown length, after all of it", longest + 1, -1, []int{longest + 1}, false},
		{"not one that is declared longer, though nothing was read", longest + 1, longest + 1, []int{0}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			want := content(test.length)
			body := retry.NewBody(bytes.NewReader(want), test.declared)
			for _, n := range test.had {
				reader := open(t, body)
				got := make([]byte, n)
				if _, err := io.ReadFull(reader, got); err != nil || !bytes.Equal(got, want[:n]) {
					t.Fatalf("an earlier attempt didn't get the first %d bytes: %v", n, err)
				}
				reader.Close()
			}
			if got := body.Replayable(); got != test.replayable {
				t.Fatalf("Replayable is %v", got)
			}
			reader, err := body.Open()
			if !test.replayable {
				if !errors.Is(err, retry.ErrNotReplayable) {
					t.Errorf("Open returned %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(reader); err != nil || !bytes.Equal(got, want) {
				t.Errorf("the last attempt got %d bytes, not the %d of the body: %v", len(got), len(want), err)
			}
		})
	}
}

func TestAReaderReadsAsAReaderShould(t *testing.T) {
	for _, n := range []int{0, 1, 5000, retry.MaxBody, 3 * retry.MaxBody} {
		want := content(n)
		if err := iotest.TestReader(open(t, retry.NewBody(bytes.NewReader(want), -1)), want); err != nil {
			t.Errorf("a body of %d bytes: %v", n, err)
		}
	}
}

func TestALongBodyIsNotHeld(t *testing.T) {
	body := retry.NewBody(io.LimitReader(zeros{}, 100<<20), -1)
	reader, buffer := open(t, body), make([]byte, 32<<10)
	io.ReadFull(reader, make([]byte, retry.MaxBody+1))
	if n := testing.AllocsPerRun(100, func() { reader.Read(buffer) }); n != 0 {
		t.Errorf("reading past what is kept allocates %v times", n)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestBytesGoOnAsTheyCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, wire := io.Pipe()
		reader := open(t, retry.NewBody(client, -1))
		go wire.Write([]byte("a")) // and no more for now
		buffer := make([]byte, 100)
		if n, err := reader.Read(buffer); n != 1 || err != nil {
			t.Errorf("read %d bytes, %v", n, err)
		}
	})
}

func TestTheEndOfTheBodyIsTheEndForEachAttempt(t *testing.T) {
	broken := errors.New("the client broke off")
	body := retry.NewBody(io.MultiReader(strings.NewReader("half"), iotest.ErrReader(broken)), -1)
	for attempt := range 3 {
		if got, err := io.ReadAll(open(t, body)); string(got) != "half" || !errors.Is(err, broken) {
			t.Errorf("attempt %d got %q, %v", attempt, got, err)
		}
	}
}

func TestAnAttemptThatIsOverGetsNothing(t *testing.T) {
	body := retry.NewBody(strings.NewReader("order"), -1)
	closed := open(t, body)
	closed.Close()
	first := open(t, body)
	second := open(t, body)
	closed.Close() // late: it must not end the running one
	first.Close()
	for name, reader := range map[string]io.Reader{"closed": closed, "replaced": first} {
		if n, err := reader.Read(make([]byte, 5)); n != 0 || err == nil || err == io.EOF {
			t.Errorf("the %s one read %d bytes, %v", name, n, err)
		}
	}
	if got, err := io.ReadAll(second); string(got) != "order" || err != nil {
		t.Errorf("the running one got %q, %v", got, err)
	}
}

// The transport of a failed attempt hangs in Read while the client is slow; the
// next attempt must get the bytes that the hanging Read takes.
func TestBytesThatAnEarlierAttemptTookAreNotLost(t *testing.T) {
	for _, length := range []int{5, retry.MaxBody + 5} {
		synctest.Test(t, func(t *testing.T) {
			client, wire := io.Pipe()
			body, want := retry.NewBody(client, -1), content(length)
			first := open(t, body)
			go first.Read(make([]byte, length))
			synctest.Wait() // it hangs
			first.Close()
			got, done := []byte(nil), make(chan error)
			second := open(t, body)
			go func() {
				var err error
				got, err = io.ReadAll(second)
				done <- err
			}()
			synctest.Wait() // it waits for the first one's bytes
			wire.Write(want)
			wire.Close()
			if err := <-done; err != nil || !bytes.Equal(got, want) {
				t.Errorf("the second attempt got %d bytes of %d, %v", len(got), length, err)
			}
		})
	}
}

func TestCloseFreesAReaderThatWaitsForAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, wire := io.Pipe()
		body := retry.NewBody(client, -1)
		first := open(t, body)
		go first.Read(make([]byte, 5))
		synctest.Wait()
		second, failed := open(t, body), make(chan error)
		go func() {
			_, err := second.Read(make([]byte, 5))
			failed <- err
		}()
		synctest.Wait()
		second.Close()
		if err := <-failed; err == nil {
			t.Error("it read something")
		}
		wire.Close()
	})
}

// Attempts begin while those before are still reading, at random places: the
// last one gets everything, once and in order.
func FuzzAttempts(f *testing.F) {
	f.Add(uint32(1000), uint8(3), uint64(1))
	f.Add(uint32(0), uint8(1), uint64(2))
	f.Add(uint32(retry.MaxBody), uint8(9), uint64(3))
	f.Add(uint32(5*retry.MaxBody), uint8(20), uint64(4))
	f.Fuzz(func(t *testing.T, length uint32, attempts uint8, seed uint64) {
		want, random := content(int(length%(6*retry.MaxBody))), rand.New(rand.NewPCG(seed, 0))
		body := retry.NewBody(iotest.HalfReader(bytes.NewReader(want)), -1)
		reader := open(t, body)
		var group sync.WaitGroup
		for range attempts % 16 {
			abandoned, steps, size := reader, random.IntN(20), 1+random.IntN(8<<10)
			group.Go(func() {
				buffer := make([]byte, size)
				for range steps {
					if _, err := abandoned.Read(buffer); err != nil {
						break
					}
				}
				abandoned.Close()
			})
			next, err := body.Open()
			if errors.Is(err, retry.ErrNotReplayable) {
				group.Wait()
				return
			}
			reader = next
		}
		got, err := io.ReadAll(reader)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("the last attempt got %d bytes, not the %d of the body: %v", len(got), len(want), err)
		}
		group.Wait()
	})
}

func BenchmarkBody(b *testing.B) {
	data, buffer := content(16<<10), make([]byte, 4<<10)
	b.ReportAllocs()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		reader, _ := retry.NewBody(bytes.NewReader(data), int64(len(data))).Open()
		for {
			if _, err := reader.Read(buffer); err == io.EOF {
				break
			}
		}
	}
}
