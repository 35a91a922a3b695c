package keyset

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"gatehouse/helper/trace"
)

const (
	maxDocument  = 1 << 20 // bytes of a key set or a discovery document, uncompressed
	maxHeader    = 64 << 10
	maxRedirects = 5
)

// fetched is what an issuer answered.
type fetched struct {
	keys        []Key
	skipped     []error
	notModified bool // the set in use is still right
	etag, url   string
}

// newTransport makes one that has nothing but what fetching one document now and then needs.
func newTransport() http.RoundTripper {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: fetchTimeout}).DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    1,
		IdleConnTimeout:        30 * time.Second,
		MaxResponseHeaderBytes: maxHeader,
	}
}

// checkRedirect follows a few redirects, and none to a worse scheme: keys that came over plain HTTP could be anybody's.
func checkRedirect(next *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return errors.New("too many redirects")
	}
	return checkScheme(next.URL, via[len(via)-1].URL)
}

// checkScheme allows to go from one URL to another of the same scheme or with https.
func checkScheme(to, from *url.URL) error {
	if to.Scheme == "https" || to.Scheme == from.Scheme {
		return nil
	}
	return fmt.Errorf("%s leads to the scheme %q, which isn't allowed", from.Redacted(), to.Scheme)
}

// fetch gets the key set, by discovery if there is an issuer. lifetime is how long the answer says that it can be used,
// negative where it doesn't say. noted gets what was asked for.
func (r *Remote) fetch(ctx context.Context, noted *trace.Fetch) (got *fetched, lifetime time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	from := r.documentURL()
	if r.options.Issuer != "" {
		if from, err = r.discover(ctx, from, noted); err != nil {
			return nil, -1, fmt.Errorf("discovering keys of %s: %w", r.options.Issuer, err)
		}
	}
	etag := ""
	if r.Ready() && r.etagURL == from {
		etag = r.etag
	}
	response, body, err := r.get(ctx, from, etag, noted)
	if err != nil {
		return nil, -1, fmt.Errorf("fetching keys: %w", err)
	}
	got = &fetched{etag: response.Header.Get("Etag"), url: from}
	lifetime = maxAge(response.Header)
	if response.StatusCode == http.StatusNotModified {
		got.notModified = true
		return got, lifetime, nil
	}
	if got.keys, got.skipped, err = ParseJWKS(body); err != nil {
		return nil, -1, fmt.Errorf("fetching keys from %s: %w", from, err)
	}
	return got, lifetime, nil
}

// discover reads the discovery document (OpenID Connect Discovery 1.0, section 4) and returns its jwks_uri.
func (r *Remote) discover(ctx context.Context, from string, noted *trace.Fetch) (string, error) {
	_, body, err := r.get(ctx, from, "", noted)
	if err != nil {
		return "", err
	}
	var document struct {
		Issuer  string `json:"issuer"`
		JWKSURI string `json:"jwks_uri"`
	}
	if err := json.Unmarshal(body, &document); err != nil {
		return "", fmt.Errorf("decoding %s: %w", from, err)
	}
	// Section 4.3: exactly, since another issuer's document would bring another issuer's keys.
	if document.Issuer != r.options.Issuer {
		return "", fmt.Errorf("%s is the document of the issuer %q", from, document.Issuer)
	}
	base, err := url.Parse(from)
	if err != nil {
		return "", err
	}
	keys, err := url.Parse(document.JWKSURI)
	if err != nil || keys.Host == "" {
		return "", fmt.Errorf("%s has no jwks_uri that is a URL", from)
	}
	return document.JWKSURI, checkScheme(keys, base)
}

// get fetches a document of at most 1 MiB. With an etag, the answer may be 304, without a body.
func (r *Remote) get(ctx context.Context, from, etag string, noted *trace.Fetch) (response *http.Response, body []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, nil, err
	}
	got := trace.Get{URL: bare(request.URL), Start: time.Now()}
	defer func() {
		got.End, got.Err = time.Now(), err
		noted.Gets = append(noted.Gets, got)
	}()
	request.Header.Set("Accept", "application/json, application/jwk-set+json")
	request.Header.Set("User-Agent", "gatehouse")
	if etag != "" {
		request.Header.Set("If-None-Match", etag)
	}
	response, err = r.client.Do(request)
	if err != nil {
		return nil, nil, err
	}
	got.Status = response.StatusCode
	defer response.Body.Close() //nolint:errcheck // nothing was written
	if etag != "" && response.StatusCode == http.StatusNotModified {
		return response, nil, nil
	}
	if response.StatusCode != http.StatusOK {
		return nil, nil, fmt.Errorf("%s answered with the status %d", from, response.StatusCode)
	}
	body, err = io.ReadAll(io.LimitReader(response.Body, maxDocument+1))
	if err != nil {
		return nil, nil, fmt.Errorf("reading the answer of %s: %w", from, err)
	}
	if len(body) > maxDocument {
		return nil, nil, fmt.Errorf("%s is larger than %d bytes", from, maxDocument)
	}
	return response, body, nil
}

// bare is a URL without what may be secret in it.
func bare(u *url.URL) string {
	b := *u
	b.User, b.RawQuery, b.Fragment = nil, "", ""
	return b.String()
}

// maxAge is how long an answer may be used (RFC 9111, section 5.2.2), negative where it doesn't say.
func maxAge(header http.Header) time.Duration {
	lifetime := -time.Second
	for directive := range strings.SplitSeq(strings.ToLower(strings.Join(header.Values("Cache-Control"), ",")), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		switch name {
		case "no-store", "no-cache":
			return 0
		case "max-age":
			if seconds, err := strconv.ParseInt(strings.Trim(value, `"`), 10, 32); err == nil && seconds >= 0 {
				lifetime = time.Duration(seconds) * time.Second
			}
		}
	}
	return lifetime
}
