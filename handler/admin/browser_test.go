package admin

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

var screenshots = flag.String("screenshots", "", "a folder to write pictures of the status page to")

// browser is one tab of a real browser, and what went wrong in it.
type browser struct {
	ctx    context.Context
	mu     sync.Mutex
	faults []string // scripts that threw, and what the content security policy stopped
	hosts  map[string]bool
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.NoSandbox, chromedp.WindowSize(1280, 900))
	allocator, stop := chromedp.NewExecAllocator(t.Context(), options...)
	tab, closeTab := chromedp.NewContext(allocator)
	ctx, cancel := context.WithTimeout(tab, 60*time.Second)
	t.Cleanup(func() { cancel(); closeTab(); stop() })
	b := &browser{ctx: ctx, hosts: map[string]bool{}}
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, log.Enable, cdp.Empty{}); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *browser) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.faults = append(b.faults, fmt.Sprintf("%s %+v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception))
	case *log.EventEntryAdded:
		if e.Entry.Source == log.EntrySourceSecurity || e.Entry.Source == log.EntrySourceViolation {
			b.faults = append(b.faults, e.Entry.Text)
		}
	case *network.EventRequestWillBeSent:
		if e.Request.URL != "about:blank" {
			b.hosts[strings.Join(strings.SplitAfterN(e.Request.URL, "/", 4)[:3], "")] = true
		}
	}
}

// step is something that is done in the browser.
type step = chromedp.Action[chromedp.Void]

// do takes steps, and fails with what the page shows.
func (b *browser) do(t *testing.T, steps ...step) {
	t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		t.Fatalf("%v; the page shows:\n%s", err, b.text(t))
	}
}

// result is what the browser answers.
func result[T any](t *testing.T, b *browser, action chromedp.Action[T]) T {
	t.Helper()
	value, err := chromedp.Run(b.ctx, action)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// text is what a person sees of the page.
func (b *browser) text(t *testing.T) string {
	t.Helper()
	return result(t, b, chromedp.Evaluate[string](`document.body.innerText`))
}

// sees waits until the page shows a text.
func (b *browser) sees(t *testing.T, wanted ...string) {
	t.Helper()
	for _, text := range wanted {
		_, err := chromedp.Run(b.ctx, chromedp.PollFunction[bool](`text => document.body.innerText.includes(text)`,
			chromedp.WithPollingArgs(text), chromedp.WithPollingTimeout(15*time.Second)))
		if err != nil {
			t.Fatalf("%q never came (%v); the page shows:\n%s", text, err, b.text(t))
		}
	}
}

// lacks fails if the page shows a text.
func (b *browser) lacks(t *testing.T, texts ...string) {
	t.Helper()
	shown := b.text(t)
	for _, text := range texts {
		if strings.Contains(shown, text) {
			t.Errorf("the page shows %q:\n%s", text, shown)
		}
	}
}

// clean fails if a script threw, the policy stopped something, or anything but the listener was asked.
func (b *browser) clean(t *testing.T, url string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.faults) > 0 {
		t.Errorf("the browser complains: %q", b.faults)
	}
	if !b.hosts[url] || len(b.hosts) != 1 {
		t.Errorf("the page asked %v, want %s alone", b.hosts, url)
	}
}

// looks makes the page as wide as a screen, in a colour scheme.
func (b *browser) looks(t *testing.T, width int64, scheme string) {
	t.Helper()
	b.do(t, chromedp.EmulateViewport(width, 900))
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features}); err != nil {
		t.Fatal(err)
	}
}

func (b *browser) picture(t *testing.T, name string) {
	t.Helper()
	if *screenshots == "" {
		return
	}
	data := result(t, b, chromedp.FullScreenshot(100))
	if err := os.WriteFile(filepath.Join(*screenshots, name), data, 0o644); err != nil {
		t.Fatal(err)
	}
}
