package command

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
)

// slowService is a backend whose requests wait until they are let go.
type slowService struct {
	*httptest.Server
	entered, release chan struct{}
}

func newService(t *testing.T) *slowService {
	s := &slowService{entered: make(chan struct{}, 10), release: make(chan struct{})}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.entered <- struct{}{}
		if r.URL.Query().Has("wait") {
			select {
			case <-s.release:
			case <-r.Context().Done():
			}
		}
		_, _ = io.WriteString(w, r.RequestURI)
	}))
	t.Cleanup(s.Close)
	return s
}

// answer is what became of a request.
type answer struct {
	status int
	close  bool // the server said Connection: close
	body   string
	err    error
}

func get(address, path string) answer {
	request, err := http.NewRequest(http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		return answer{err: err}
	}
	return do(request)
}

func do(request *http.Request) answer {
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return answer{err: err}
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Close, string(body), err}
}

// addresses are where a serving command listens, as its log says.
func (r *running) addresses(t *testing.T) (public, admin string) {
	t.Helper()
	output := r.stdout.waitFor(t, `"msg":"serving"`)
	find := func(key string) string {
		return regexp.MustCompile(`"` + key + `":"([^"]+)"`).FindStringSubmatch(output)[1]
	}
	return find("listen"), find("admin")
}

// serveFlags are those of a gateway in front of s, without a file.
func (s *slowService) serveFlags() []string {
	return []string{"--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--route", "/v1=" + s.URL}
}

func TestServeWithoutAFile(t *testing.T) {
	s := newService(t)
	r := start(t, nil, append(s.serveFlags(), "--route", "/v1/$x="+s.URL)...)
	public, admin := r.addresses(t)
	for path, want := range map[string]answer{"/v1/a?b=c": {200, false, "/v1/a?b=c", nil}, "/v1/$x": {200, false, "/v1/$x", nil}} {
		if got := get(public, path); got != want {
			t.Errorf("%s: got %+v, want %+v", path, got, want)
		}
	}
	if got := get(public, "/v2"); got.status != 404 {
		t.Errorf("got %+v, want 404", got)
	}
	if got := get(admin, "/api/routes"); !strings.Contains(got.body, `"path":"/v1"`) || !strings.Contains(got.body, `"auth":"none"`) {
		t.Errorf("got %+v", got)
	}
	if got := get(admin, "/api/config"); !strings.Contains(got.body, `"source":"--route"`) {
		t.Errorf("got %+v", got)
	}
	r.interrupt()
	if code := r.end(t); code != 0 {
		t.Errorf("it ended with %d: %s", code, r.stderr)
	}
}

func TestThePublicListenerHasNothingOfTheAdminListener(t *testing.T) {
	s := newService(t)
	public, _ := start(t, nil, s.serveFlags()...).addresses(t)
	for _, path := range []string{"/metrics", "/healthz", "/readyz", "/debug/pprof/", "/api/config"} {
		if got := get(public, path); got.status != 404 {
			t.Errorf("%s is %d, want 404", path, got.status)
		}
	}
}

func TestServeRefusesATakenPort(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	other := map[string]string{"--listen": "--admin", "--admin": "--listen"}
	for flag, free := range other {
		code, _, stderr := call(t, "serve", "--route", "/=http://127.0.0.1:1", flag, taken.Addr().String(), free, "127.0.0.1:0")
		key := "server." + strings.TrimPrefix(flag, "--")
		for _, says := range []string{key, taken.Addr().String(), "it is taken"} {
			if code != 1 || !strings.Contains(stderr, says) {
				t.Errorf("%s: got %d %s, want 1 and %q", flag, code, stderr, says)
			}
		}
	}
}

func TestServeRefusesALogThatCannotBeWritten(t *testing.T) {
	for output, says := range map[string]string{t.TempDir(): "log: ", "missing/file.log": "config.yaml:1:15: log.output: "} {
		path := file(t, "config.yaml", "log: {output: "+output+"}\n"+minimal)
		code, _, stderr := call(t, "serve", "--config", path, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
		if code != 1 || !strings.Contains(stderr, says) {
			t.Errorf("%s: got %d %s, want %q", output, code, stderr, says)
		}
	}
}

func TestASignalDrains(t *testing.T) {
	s := newService(t)
	r := start(t, nil, s.serveFlags()...)
	public, _ := r.addresses(t)
	inFlight := make(chan answer, 1)
	go func() { inFlight <- get(public, "/v1/slow?wait") }()
	<-s.entered
	r.interrupt()
	r.stdout.waitFor(t, `"msg":"draining"`)
	close(s.release)
	if got := <-inFlight; got.status != 200 || got.body != "/v1/slow?wait" {
		t.Errorf("the request in flight got %+v, want its 200", got)
	}
	if code := r.end(t); code != 0 {
		t.Errorf("it ended with %d: %s", code, r.stderr)
	}
	if got := get(public, "/v1"); got.err == nil {
		t.Errorf("it still answers: %+v", got)
	}
	output := r.stdout.String()
	if !strings.Contains(output, `"path":"/v1/slow"`) || !strings.Contains(output, `"msg":"drained"`) || !strings.HasSuffix(output, "}\n") {
		t.Errorf("the log isn't whole:\n%s", output)
	}
}

// config is a file for a gateway in front of s that drains so.
func (s *slowService) config(t *testing.T, drain string) string {
	t.Helper()
	return file(t, "config.yaml", fmt.Sprintf("server: {listen: \"127.0.0.1:0\", admin: \"127.0.0.1:0\", drain: %s}\n"+
		"upstreams: {order: {url: %q, route: {path: /v1, auth: none}}}\n", drain, s.URL))
}

func TestADelayIsForTheLoadBalancer(t *testing.T) {
	s := newService(t)
	r := start(t, nil, "--config", s.config(t, "{delay: 1h}"))
	public, admin := r.addresses(t)
	if got := get(admin, "/readyz"); got.status != 200 {
		t.Errorf("/readyz is %+v before the signal", got)
	}
	if got := get(public, "/v1"); got.status != 200 || got.close {
		t.Errorf("a request before the signal got %+v, want a connection that is kept", got)
	}
	r.interrupt()
	for get(admin, "/readyz").status == 200 { // each round takes a request's time
	}
	if got := get(admin, "/readyz"); got.status != 503 || !strings.Contains(got.body, "draining") {
		t.Errorf("/readyz is %+v", got)
	}
	if got := get(admin, "/healthz"); got.status != 200 {
		t.Errorf("/healthz is %+v", got)
	}
	if got := get(public, "/v1"); got.status != 200 || !got.close {
		t.Errorf("a request during the delay got %+v, want 200 and Connection: close", got)
	}
	r.interrupt()
	if code := r.end(t); code != 1 || !strings.Contains(r.stderr.String(), "a second signal (terminated)") {
		t.Errorf("after a second signal it ended with %d: %s", code, r.stderr)
	}
}

func TestASecondSignalEndsAtOnce(t *testing.T) {
	s := newService(t)
	r := start(t, nil, "--config", s.config(t, "{timeout: 1h}"))
	public, _ := r.addresses(t)
	inFlight := make(chan answer, 1)
	go func() { inFlight <- get(public, "/v1?wait") }()
	<-s.entered
	r.interrupt()
	r.stdout.waitFor(t, `"msg":"draining"`)
	r.interrupt()
	if code := r.end(t); code != 1 {
		t.Errorf("it ended with %d, want 1: %s", code, r.stderr)
	}
	if got := <-inFlight; got.err == nil && got.status != http.StatusServiceUnavailable {
		t.Errorf("the request in flight got %+v, want to be cut", got)
	}
	if output := r.stdout.String(); !strings.Contains(output, `"number":1`) {
		t.Errorf("the log doesn't say how many requests were cut:\n%s", output)
	}
}

func TestATimeoutCutsAndIsFine(t *testing.T) {
	s := newService(t)
	r := start(t, nil, "--config", s.config(t, "{timeout: 50ms}"))
	public, _ := r.addresses(t)
	inFlight := make(chan answer, 1)
	go func() { inFlight <- get(public, "/v1?wait") }()
	<-s.entered
	r.interrupt()
	if code := r.end(t); code != 0 {
		t.Errorf("it ended with %d, want 0: %s", code, r.stderr)
	}
	if got := <-inFlight; got.err == nil && got.status != http.StatusServiceUnavailable {
		t.Errorf("the request got %+v, want to be cut", got)
	}
	if output := r.stdout.String(); !strings.Contains(output, `"msg":"requests were cut"`) || !strings.Contains(output, `"path":"/v1"`) || !strings.Contains(output, `"code":"draining"`) {
		t.Errorf("the log shows neither the cut nor the request:\n%s", output)
	}
}

func TestUnixListeners(t *testing.T) {
	s := newService(t)
	folder, err := os.MkdirTemp("", "g") // t.TempDir's names can be longer than a socket's may be
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	flags := []string{"--listen", "unix:" + folder + "/public", "--admin", "unix:" + folder + "/admin", "--route", "/=" + s.URL}
	r := start(t, nil, flags...)
	r.addresses(t)
	if code, stdout, stderr := call(t, "health", "--admin", "unix:"+folder+"/admin"); code != 0 || stdout != "healthy\n" {
		t.Errorf("got %d %s%s", code, stdout, stderr)
	}
}
