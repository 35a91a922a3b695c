package admin

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

func TestPageShowsTheState(t *testing.T) {
	b := newBrowser(t)
	gateway := newFake()
	gateway.reasons = []string{"user is down"}
	gateway.config["last_rejected"] = map[string]any{"hash": "bad0bad0", "at": "2026-01-02T03:04:06Z", "problems": []any{"config.yaml:3:1: sever: is not a key"}}
	gateway.config["last_reload"] = map[string]any{"result": "success", "at": "2026-01-02T03:04:05Z", "trigger": "file",
		"changes": map[string]any{"added": []any{"a", "b"}, "kept": []any{"c"}, "restart": []any{"server.listen"}}}
	url := gateway.serve(t, "", true)
	b.looks(t, 1280, "light")
	b.do(t, chromedp.Navigate(url))
	b.sees(t, "ready: user is down", "v1.2.3", "c77f091f5575964e", "/etc/gatehouse/config.yaml", "bad0bad0", "sever: is not a key",
		"success, ", ", by file", "2 added, 0 changed, 0 removed, 1 kept", "Needs a restart\nserver.listen",
		"breaker closed", "breaker open", "refused 17 in all", "http://order-1:8080", "213 of 213; the first 200 are shown")
	b.sees(t, "breaker half-open", "http://mail:8080 (10.0.0.1)\tup\t0", "http://mail:8080 (10.0.0.2)\tejected\t2", "http://mail:8080 (10.0.0.3)\tdown\t5")
	b.sees(t, "4.00 %", "20.0 %")             // once there are two readings: 2 of 50 requests, 2 of 10
	b.sees(t, "10.0 ms / 98.2 ms")            // order's quantiles
	b.lacks(t, "undefined", "NaN", "[object") // what scripts say by mistake
	strips := result(t, b, chromedp.Evaluate[int](`document.querySelectorAll("rect.closed, rect.half-open, rect.open").length`))
	charts := result(t, b, chromedp.Evaluate[int](`document.querySelectorAll(".chart path.first[d^=M]").length`))
	if strips != 3 || charts != 11 {
		t.Errorf("%d stretches of breakers and %d lines are drawn, want 3 and 11: mail has had no request", strips, charts)
	}
	b.clean(t, url)
}

func TestPageSearchesRoutes(t *testing.T) {
	b := newBrowser(t)
	b.do(t, chromedp.Navigate(newFake().serve(t, "", true)))
	b.sees(t, "213 of 213")
	b.do(t, chromedp.SendKeys("#search", "API.example post"))
	b.sees(t, "1 of 213", "GET, POST")
	b.lacks(t, "bulk-7", "/order\t")
}

func TestPageChangesThings(t *testing.T) {
	b := newBrowser(t)
	gateway := newFake()
	b.do(t, chromedp.Navigate(gateway.serve(t, "", true)), chromedp.WaitVisible(`[aria-label="Open: breaker of order"]`),
		chromedp.Evaluate[chromedp.Void](`window.asked = []; window.confirm = question => asked.push(question) > 0`),
		chromedp.Click(`[aria-label="Open: breaker of order"]`))
	b.sees(t, "The breaker of order refuses every request.", "breaker open, held by hand")
	b.do(t, chromedp.Click(`[aria-label="Drain: http://order-1:8080"]`))
	b.sees(t, "http://order-1:8080 gets no new requests.", "drained", "Take back")
	b.do(t, chromedp.Click(`#reload`))
	b.sees(t, "The config was reloaded: 1 added, 0 changed, 0 removed, 0 kept.")
	b.do(t, chromedp.Click(`#reload`))
	b.sees(t, "It was refused: config.yaml:3:1: sever: is not a key; config.yaml:4:1: rotues: is not a key")
	want := []string{
		`POST /api/upstreams/order/breaker {"state":"open"}`,
		`POST /api/upstreams/order/drain {"backend":"http://order-1:8080","drain":true}`,
		`POST /api/reload {}`,
		`POST /api/reload {}`,
	}
	if got := strings.Join(gateway.now().actions, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	if asked := result(t, b, chromedp.Evaluate[int](`asked.length`)); asked != 2 {
		t.Errorf("%d questions were asked, want 2: for what takes traffic away", asked)
	}
}

func TestPageExplains(t *testing.T) {
	b := newBrowser(t)
	b.do(t, chromedp.Navigate(newFake().serve(t, "", true)), chromedp.WaitVisible("#explain-url"), chromedp.SendKeys("#explain-url", "/order/42\r"))
	b.sees(t, "GET method=GET&url=%2Forder%2F42")
	b.do(t, chromedp.Click("summary"), chromedp.SendKeys("#explain-headers", "X-Canary: true"), chromedp.SendKeys("#explain-token", "a.b.c"), chromedp.Click("#explain-form button"))
	b.sees(t, `POST  {"method":"GET","url":"/order/42","headers":{"X-Canary":"true"},"token":"a.b.c"}`)
	b.do(t, chromedp.SetValue("#explain-headers", "nonsense"), chromedp.Click("#explain-form button"))
	b.sees(t, `"nonsense" is not a header`)
}

func TestPageHidesWhatTheGatewayLacks(t *testing.T) {
	b := newBrowser(t)
	url := newFake().serve(t, "", false)
	b.do(t, chromedp.Navigate(url))
	b.sees(t, "breaker closed", "213 of 213")
	b.lacks(t, "Explain", "Drain", "Take back", "Automatic", "Reload", "Forget the token")
	b.clean(t, url)
}

func TestPageAsksForTheToken(t *testing.T) {
	b := newBrowser(t)
	url := newFake().serve(t, "s3cret", true)
	b.do(t, chromedp.Navigate(url), chromedp.WaitVisible("#token"))
	b.lacks(t, "order", "v1.2.3", "not the token")
	b.do(t, chromedp.SendKeys("#token", "guess\r"))
	b.sees(t, "This is not the token.")
	b.do(t, chromedp.SendKeys("#token", "s3cret\r"))
	b.sees(t, "breaker closed", "Forget the token")
	b.do(t, chromedp.Reload())
	b.sees(t, "breaker closed") // the tab remembers it
	kept := result(t, b, chromedp.Evaluate[string](`JSON.stringify([localStorage.length, document.cookie])`))
	address := result(t, b, chromedp.Location())
	if kept != `[0,""]` || address != url {
		t.Errorf("something outlives the tab: %s, %s", kept, address)
	}
	b.do(t, chromedp.Click("#forget"), chromedp.WaitVisible("#token"))
	b.lacks(t, "breaker closed")
	b.clean(t, url)
}

func TestPageSaysThatTheGatewayIsGone(t *testing.T) {
	b := newBrowser(t)
	server := httptest.NewServer(New(newFake().options()))
	defer server.Close()
	b.do(t, chromedp.Navigate(server.URL))
	b.sees(t, "breaker closed")
	server.CloseClientConnections()
	server.Listener.Close()
	server.CloseClientConnections()
	b.sees(t, "No answer from the gateway since", "breaker closed")
}

// Names come from the config, which not everybody who looks at the page wrote.
func TestPageTakesNamesForText(t *testing.T) {
	b := newBrowser(t)
	gateway := newFake()
	const name = `<img src=x onerror="document.title='owned'">`
	gateway.upstreams[0]["name"] = name
	gateway.config["source"] = name
	url := gateway.serve(t, "", true)
	b.do(t, chromedp.Navigate(url))
	b.sees(t, name)
	if title := result(t, b, chromedp.Title()); title != "gatehouse" {
		t.Errorf("the title is %q", title)
	}
	b.clean(t, url)
}

// Wide and narrow, light and dark: nothing is cut off, and every text has the contrast that WCAG 2.2 asks for (1.4.3).
func TestPageIsReadable(t *testing.T) {
	const low = `(() => {
		const rgb = (c) => { const m = c.match(/[\d.]+/g).map(Number); return { c: m.slice(0, 3), a: m[3] ?? 1 }; };
		const light = (c) => c.map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4).reduce((s, v, i) => s + v * [.2126, .7152, .0722][i], 0);
		const behind = (e) => { for (; e; e = e.parentElement) { const b = rgb(getComputedStyle(e).backgroundColor); if (b.a === 1) return b.c; } return [255, 255, 255]; };
		const bad = [];
		for (const e of document.querySelectorAll("body *")) {
			if (!e.checkVisibility() || ![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
			const [a, b] = [light(rgb(getComputedStyle(e).color).c), light(behind(e))].sort((x, y) => y - x);
			if ((a + .05) / (b + .05) < 4.5) bad.push(e.textContent.slice(0, 30) + " " + ((a + .05) / (b + .05)).toFixed(1));
		}
		return bad.join("; ");
	})()`
	b := newBrowser(t)
	gateway := newFake()
	gateway.reasons, gateway.bulk = []string{"user is down"}, 0
	url := gateway.serve(t, "", true)
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1280, 375} {
			b.looks(t, width, scheme)
			b.do(t, chromedp.Navigate(url))
			b.sees(t, "4.00 %")
			faint := result(t, b, chromedp.Evaluate[string](low))
			across := result(t, b, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`))
			unnamed := result(t, b, chromedp.Evaluate[string](`[...document.querySelectorAll("input, select, textarea")].filter(e => !e.labels.length).map(e => e.id).join()`))
			if faint != "" || across > width || unnamed != "" {
				t.Errorf("%s, %d wide: too faint: %q; as wide as %d; without a label: %q", scheme, width, faint, across, unnamed)
			}
			b.picture(t, scheme+map[bool]string{true: "-phone.png", false: ".png"}[width < 600])
		}
	}
}

func TestPageFilesAreItsOwn(t *testing.T) {
	entries, err := os.ReadDir("page")
	if err != nil {
		t.Fatal(err)
	}
	types := map[string]string{"html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}
	for _, entry := range entries {
		response, body := ask(t, options(), "GET", "/page/"+entry.Name(), "", "")
		header := response.Header
		if want := types[entry.Name()[strings.LastIndexByte(entry.Name(), '.')+1:]]; response.StatusCode != http.StatusOK || header.Get("Content-Type") != want {
			t.Errorf("%s: got %d %s, want 200 %s", entry.Name(), response.StatusCode, header.Get("Content-Type"), want)
		}
		if csp := header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'; script-src 'self'; ") || strings.Contains(csp, "unsafe") {
			t.Errorf("%s: the policy is %q", entry.Name(), csp)
		}
		for _, outside := range []string{"http://", "https://", "innerHTML", "eval(", "style="} {
			if rest := strings.ReplaceAll(body, "http://www.w3.org/2000/svg", ""); strings.Contains(rest, outside) {
				t.Errorf("%s has %s", entry.Name(), outside)
			}
		}
	}
	for _, name := range []string{"nothing.js", "..", "%2e%2e%2fadmin.go", "..%2fadmin.go"} {
		if response, _ := ask(t, options(), "GET", "/page/"+name, "", ""); response.StatusCode != http.StatusNotFound {
			t.Errorf("%s: got %d, want 404", name, response.StatusCode)
		}
	}
}
