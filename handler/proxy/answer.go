package proxy

import (
	"io"
	"net/http"
	"strings"

	"gatehouse/helper/exchange"
	"gatehouse/helper/retry"
	"gatehouse/helper/transport"
)

// answered is called with the header of the backend's answer, before anything
// of it goes to the client. An error makes it a failed attempt.
func (c *call) answered(res *http.Response) error {
	if res.StatusCode == http.StatusSwitchingProtocols && !switchesAsAsked(res) {
		return errSwitchedUnasked
	}
	if res.StatusCode < 100 || res.StatusCode > 999 { // net/http reads it, and panics where it has to write it
		return errNoStatus
	}
	ex := c.exchange
	ex.UpstreamTime = c.watch.touch()
	c.spanAnswered(res.StatusCode)
	c.upstream.Observer.Answered(c.backend, ex.UpstreamTime-c.started.Sub(c.watch.start))
	outcome := c.outcome(res)
	if outcome == exchange.Failure {
		c.tellStatus(res.StatusCode)
	}
	c.report(outcome)
	if c.another(retry.Failure{Kind: retry.Status, Status: res.StatusCode, Method: res.Request.Method}) {
		return errHeldBack
	}
	ex.Judge(outcome)
	c.copy.begun(res.StatusCode)
	ex.Scrub(res.Header)
	if res.StatusCode == http.StatusSwitchingProtocols {
		if stream, ok := res.Body.(io.ReadWriteCloser); ok {
			c.watch.lift()
			c.upgraded = newUpgradedBody(stream, c)
			res.Body = c.upgraded
		}
		return nil
	}
	if c.request != nil && !c.request.whole.Load() && res.Request.ProtoMajor == 1 { // a clone of the client's request
		// The answer must not wait until the client has sent its body, nor may
		// what is left of that be taken for the next request.
		_ = http.NewResponseController(ex.Writer.ResponseWriter).EnableFullDuplex()
		ex.Clientward.Set("Connection", "close")
	}
	if len(res.Trailer) > 0 && res.Request.ProtoMajor == 1 {
		res.Header.Del("Content-Length") // trailers can stand beside it in HTTP/2; in HTTP/1.1 only behind chunks
	}
	if fields := ex.Lane.Answered; fields != nil {
		res.Header = c.handOverFields(ex.Writer.Header(), fields)
	} else {
		res.Header = handOver(ex.Writer.Header(), res.Header)
	}
	scrubTrailers(ex, res.Trailer) // httputil announces them
	c.answer = answerBody{ReadCloser: res.Body, call: c, answer: res}
	res.Body = &c.answer
	return nil
}

// outcome is what an answer says about the upstream. That it doesn't know a method
// or a protocol version which the client has made up is no failure.
func (c *call) outcome(res *http.Response) exchange.Outcome {
	switch status := res.StatusCode; {
	case !c.upstream.Failing(status):
		return exchange.Success
	case (status == http.StatusNotImplemented || status == http.StatusHTTPVersionNotSupported) && !standard(res.Request.Method):
		return exchange.Cancelled
	}
	return exchange.Failure
}

// standard says whether a method is one that every server should know (RFC 9110
// section 9, RFC 5789).
func standard(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions,
		http.MethodConnect, http.MethodTrace:
		return true
	}
	return false
}

// handOver moves the header of an answer to the client's as it is, and returns what
// is left for httputil: it would copy a header value by value, and parse a
// Content-Type to find out whether it is an event stream's.
func handOver(client, answer http.Header) (left http.Header) {
	for name, values := range answer {
		if client[name] != nil || name == "Content-Type" && len(values) > 0 && exchange.MayStream(values[0]) {
			if left == nil {
				left = http.Header{}
			}
			left[name] = values
			continue
		}
		client[name] = values
	}
	return left
}

// handOverFields does the same with the lines of a plain answer, but for what is taken
// from a header before: by httputil, what is for the connection, and by Scrub.
func (c *call) handOverFields(client http.Header, fields []transport.Field) (left http.Header) {
	for i := range fields {
		f := &fields[i]
		switch {
		case exchange.HopByHop(f.Name) || c.exchange.Sets(f.Name):
		case f.Name == "Content-Type" && (left != nil || client[f.Name] == nil && exchange.MayStream(f.Value())):
			if left == nil {
				left = http.Header{}
			}
			left[f.Name] = append(left[f.Name], f.Value())
		case client[f.Name] != nil:
			client[f.Name] = append(client[f.Name], f.Value())
		default:
			client[f.Name] = f.Values()
		}
	}
	return left
}

// switchesAsAsked says whether a 101 switches to the protocol that the request
// asked for (RFC 9110 section 7.8).
func switchesAsAsked(res *http.Response) bool {
	asked := res.Request.Header.Get("Upgrade")
	if asked == "" || !strings.EqualFold(asked, res.Header.Get("Upgrade")) {
		return false
	}
	for _, line := range res.Header["Connection"] {
		for option := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(option), "upgrade") {
				return true
			}
		}
	}
	return false
}
