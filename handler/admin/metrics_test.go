package admin

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// The page's arithmetic, in the browser that does it.
func TestPageReckons(t *testing.T) {
	const setup = `const { Tally, between, quantile, read, samples } = await import("/page/metrics.js");
		const tally = (requests, errors, ...buckets) => Object.assign(new Tally(), { requests, errors, buckets: new Map(buckets) });`
	tests := []struct{ name, expression, want string }{
		{"a label may have quotes, braces and line ends", `[...samples('http_requests_total{uri="a\\"}b\\\\\\n",code="200"} 7\n')][0]`,
			`{"name":"http_requests_total","labels":{"uri":"a\"}b\\\n","code":"200"},"value":7}`},
		{"a series may have no labels", `[...samples("# TYPE x\ngateway_inflight_requests 3\nother 4\n")]`, `[{"name":"gateway_inflight_requests","labels":{},"value":3}]`},
		{"a value may have an exponent", `[...samples('gateway_inflight_requests 1.5e+06')][0].value`, `1500000`},
		{"a quantile is interpolated", `quantile(.5, new Tally(), tally(0, 0, [.1, 0], [.2, 10], [Infinity, 10]))`, `0.15`},
		{"it is taken over what is new", `quantile(.5, tally(0, 0, [.1, 90], [.2, 90], [Infinity, 90]), tally(0, 0, [.1, 90], [.2, 100], [Infinity, 100]))`, `0.15`},
		{"past the last bound it is that bound", `quantile(.99, new Tally(), tally(0, 0, [.1, 0], [Infinity, 10]))`, `0.1`},
		{"of nothing there is none", `quantile(.5, new Tally(), tally(0, 0, [.1, 0], [Infinity, 0]))`, `null`},
		{"a rate is a second's", `between(tally(10, 1), tally(30, 6), 4000)`, `{"rate":5,"errors":0.25,"p50":null,"p99":null}`},
		{"after a restart counting begins anew", `between(tally(1000, 90), tally(8, 2), 4000)`, `{"rate":2,"errors":0.25,"p50":null,"p99":null}`},
		{"without requests there is no share of errors", `between(tally(10, 1), tally(10, 1), 4000).errors`, `null`},
		{"499 is no error of the gateway's", `read('http_requests_total{code="499",upstream="o",uri="u"} 2\nhttp_requests_total{code="503",upstream="o",uri="u"} 1\n', 0).upstreams.get("o").errors`, `1`},
	}
	b := newBrowser(t)
	b.do(t, chromedp.Navigate(newFake().serve(t, "", false)))
	wait := func(p *runtime.EvaluateParams) { p.AwaitPromise = new(true) }
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			script := "(async () => {" + setup + "return JSON.stringify(" + test.expression + ")})()"
			if got := result(t, b, chromedp.Evaluate[string](script, wait)); strings.ReplaceAll(got, "0.15000000000000002", "0.15") != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}
