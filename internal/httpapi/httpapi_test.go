package httpapi

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"log/slog"
	"mime/multipart"
	"net"
	"net/http"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"go.uber.org/goleak"

	"unink"
	"unink/internal/apiref"
	"unink/internal/httpapi/cleaning"
	"unink/internal/httpapi/setup"
	"unink/internal/webui"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testToken = "a-token-of-the-tests"

// fakeCleaner answers with the picture it was given, unless told otherwise.
type fakeCleaner struct {
	clean func(ctx context.Context, data []byte, o unink.Options) (*unink.Result, error)
	probe error
}

func (f *fakeCleaner) Clean(ctx context.Context, data []byte,
	o unink.Options) (*unink.Result, error) {
	if f.clean != nil {
		return f.clean(ctx, data, o)
	}
	return echo(data, o)
}

func (f *fakeCleaner) Probe(context.Context) error { return f.probe }

func echo(data []byte, o unink.Options) (*unink.Result, error) {
	info, err := unink.Inspect(data, unink.Limits{})
	if err != nil {
		return nil, err
	}
	res := &unink.Result{Data: data, Format: info.Format, Width: info.Width, Height: info.Height}
	for _, stage := range append(unink.Stages(), "total") {
		res.Timings.Note(stage, time.Millisecond)
	}
	if o.Layers {
		res.Handwriting, res.Mask = []byte("ink"), []byte("mask")
	}
	if o.Before {
		res.Before = []byte("before")
	}
	return res, nil
}

// blocking returns a cleaner that says when a page starts and ends when told to or when its
// context does.
func blocking() (c *fakeCleaner, started chan struct{}, release chan struct{}) {
	started, release = make(chan struct{}, 100), make(chan struct{})
	return &fakeCleaner{clean: func(ctx context.Context, data []byte, o unink.Options) (
		*unink.Result, error,
	) {
		started <- struct{}{}
		select {
		case <-release:
			return echo(data, o)
		case <-ctx.Done():
			return nil, &unink.Error{Code: unink.ErrCanceled, Op: "clean", Message: "stopped",
				Err: ctx.Err()}
		}
	}}, started, release
}

// service is a server on a free port, with what a test needs of it.
type service struct {
	*Server
	t       testing.TB
	url     string
	metrics string
	client  *http.Client
	logs    *lockedBuffer
	stop    func() // ends the service, waiting for it
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func start(t testing.TB, c cleaning.Cleaner, change ...func(*setup.Config)) *service {
	t.Helper()
	cfg := setup.Default()
	cfg.DeveloperToken = testToken
	cfg.Browser = webui.BrowserOff // its pages are cleaned by the service
	for _, f := range change {
		f(&cfg)
	}
	logs := &lockedBuffer{}
	s, err := New(c, cfg, nil, slog.New(slog.NewTextHandler(logs, nil)))
	if err != nil {
		t.Fatal(err)
	}
	public, metrics := listen(t), listen(t)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, Listeners{Public: public, Metrics: metrics}) }()
	transport := &http.Transport{}
	svc := &service{
		Server: s, t: t, logs: logs, client: &http.Client{Transport: transport},
		url: "http://" + public.Addr().String(), metrics: "http://" + metrics.Addr().String(),
	}
	svc.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		svc.stop()
	})
	return svc
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// answer is a response, read.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) decode(t *testing.T) (v struct {
	Error   json.RawMessage
	Code    *int
	Message string
	Details string
	IsTrial *bool
	Data    struct {
		Data struct {
			MediaID []byte
			Layers  *struct{ Handwriting, Mask []byte }
			Before  []byte
		}
	}
}) {
	t.Helper()
	if err := json.Unmarshal(a.body, &v); err != nil {
		t.Fatalf("status %d, body %.200q: %v", a.status, a.body, err)
	}
	return v
}

// errorName is the body's "error".
func (a answer) errorName(t *testing.T) string {
	t.Helper()
	var name string
	if raw := a.decode(t).Error; raw != nil {
		if err := json.Unmarshal(raw, &name); err != nil {
			t.Fatal(err)
		}
	}
	return name
}

// do sends a request and holds the answer against the published description.
func (s *service) do(r *http.Request) answer {
	s.t.Helper()
	a, err := s.try(r)
	if err != nil {
		s.t.Fatal(err)
	}
	conforms(s.t, r.URL.Path, a)
	return a
}

func (s *service) try(r *http.Request) (answer, error) {
	resp, err := s.client.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, body}, err
}

func (s *service) get(path string) answer {
	s.t.Helper()
	return s.do(request(s.t, http.MethodGet, s.url+path, nil))
}

func request(t testing.TB, method, url string, body io.Reader) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// field is one part of a form; a file when it has data.
type field struct {
	name, value string
	data        []byte
}

func (s *service) webRequest(query string, fields ...field) *http.Request {
	s.t.Helper()
	body, contentType := formOf(s.t, fields...)
	r := request(s.t, http.MethodPost, s.url+"/api/process-image"+query, body)
	r.Header.Set("Content-Type", contentType)
	return r
}

// formOf is a multipart form and its type.
func formOf(t testing.TB, fields ...field) (body io.Reader, contentType string) {
	t.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	for _, f := range fields {
		var err error
		if f.data != nil {
			var part io.Writer
			if part, err = form.CreateFormFile(f.name, "page.png"); err == nil {
				_, err = part.Write(f.data)
			}
		} else {
			err = form.WriteField(f.name, f.value)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	return &b, form.FormDataContentType()
}

func (s *service) developerRequest(body string) *http.Request {
	s.t.Helper()
	r := request(s.t, http.MethodPost, s.url+"/cleanup", strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+testToken)
	r.Header.Set("Content-Type", "application/json; charset=UTF-8")
	return r
}

func mediaJSON(data []byte, more string) string {
	return `{"media_id":"` + base64.StdEncoding.EncodeToString(data) + `"` + more + `}`
}

// picture is a PNG of the given size with a little on it.
func picture(t testing.TB, w, h int) []byte {
	t.Helper()
	m := image.NewGray(image.Rect(0, 0, w, h))
	for i := range m.Pix {
		m.Pix[i] = 255
	}
	m.SetGray(w/2, h/2, color.Gray{})
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var description = sync.OnceValues(func() (*openapi3.T, error) {
	return openapi3.NewLoader().LoadFromData(apiref.Description)
})

// conforms holds an answer of an entry point against the published description.
func conforms(t testing.TB, path string, a answer) {
	t.Helper()
	if a.header.Get("X-Request-Id") == "" {
		t.Errorf("%s: no X-Request-Id", path)
	}
	doc, err := description()
	if err != nil {
		t.Fatal(err)
	}
	item := doc.Paths.Find(path)
	if item == nil {
		return
	}
	response := item.Post.Responses.Status(a.status)
	if response == nil {
		t.Fatalf("%s: status %d is not described; body %.200q", path, a.status, a.body)
	}
	for name := range response.Value.Headers {
		if a.header.Get(name) == "" {
			t.Errorf("%s: status %d lacks the header %s", path, a.status, name)
		}
	}
	var v any
	if err := json.Unmarshal(a.body, &v); err != nil {
		t.Fatalf("%s: %v in %.200q", path, err, a.body)
	}
	schema := response.Value.Content.Get("application/json").Schema.Value
	if err := doc.ValidateSchemaJSON(schema, v); err != nil {
		t.Errorf("%s: status %d: %v", path, a.status, err)
	}
}

func TestDescriptionIsValid(t *testing.T) {
	doc, err := description()
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if doc.Info.Version != "1.0.0" {
		t.Errorf("info.version is %s, want 1.0.0", doc.Info.Version)
	}
	a := start(t, &fakeCleaner{}).get("/openapi.json")
	if a.status != http.StatusOK || a.header.Get("Content-Type") != "application/json" ||
		!json.Valid(a.body) {
		t.Errorf("got %d, %s", a.status, a.header.Get("Content-Type"))
	}
}

func TestEveryAnswerNamesItsRequest(t *testing.T) {
	s := start(t, &fakeCleaner{})
	seen := map[string]bool{}
	for path, want := range map[string]int{"/": 200, "/sw.js": 200, "/healthz": 200, "/readyz": 200,
		"/nothing": 404} {
		a := s.get(path)
		if a.status != want {
			t.Errorf("%s: status %d, want %d", path, a.status, want)
		}
		id := a.header.Get("X-Request-Id")
		if seen[id] {
			t.Errorf("%s: the id %q came twice", path, id)
		}
		seen[id] = true
	}
}

func TestOtherMethodsAreToldWhatToUse(t *testing.T) {
	s := start(t, &fakeCleaner{})
	for _, path := range []string{"/api/process-image", "/cleanup"} {
		a := s.get(path)
		if a.status != http.StatusMethodNotAllowed || a.header.Get("Allow") != http.MethodPost {
			t.Errorf("%s: status %d, Allow %q", path, a.status, a.header.Get("Allow"))
		}
	}
}

// bothEntryPoints runs a test on each, with a request that both answer.
func bothEntryPoints(t *testing.T, test func(t *testing.T, send func(s *service) *http.Request)) {
	t.Helper()
	bothWith(t, picture(t, 32, 32), test)
}

// bothWith is bothEntryPoints for a certain page.
func bothWith(t *testing.T, page []byte,
	test func(t *testing.T, send func(s *service) *http.Request)) {
	t.Helper()
	t.Run("web", func(t *testing.T) {
		test(t, func(s *service) *http.Request {
			return s.webRequest("", field{name: "image", data: page})
		})
	})
	t.Run("developer", func(t *testing.T) {
		test(t, func(s *service) *http.Request { return s.developerRequest(mediaJSON(page, "")) })
	})
}

// is reports whether an answer is the status and the error (web) or code (developer) wanted.
func is(t *testing.T, a answer, status int, name string, code int) bool {
	t.Helper()
	v := a.decode(t)
	if v.Code != nil {
		return a.status == status && *v.Code == code && a.errorName(t) == "API_ERROR"
	}
	return a.status == status && a.errorName(t) == name
}

func TestFullQueueRefusesAtOnce(t *testing.T) {
	bothEntryPoints(t, func(t *testing.T, send func(*service) *http.Request) {
		c, started, release := blocking()
		s := start(t, c, func(c *setup.Config) { c.Gate.Workers, c.Gate.Queue = 1, 0 })
		first := make(chan answer, 1)
		r := send(s)
		go func() {
			a, err := s.try(r)
			if err != nil {
				t.Error(err)
			}
			first <- a
		}()
		<-started
		a := s.do(send(s))
		if !is(t, a, 503, "SERVICE_UNAVAILABLE", 4000) {
			t.Errorf("got %d %s", a.status, a.body)
		}
		if seconds, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil || seconds < 1 {
			t.Errorf("Retry-After is %q", a.header.Get("Retry-After"))
		}
		if a := s.get("/readyz"); a.status != 503 {
			t.Errorf("ready while the queue is full: %d", a.status)
		}
		close(release)
		if a := <-first; a.status != 200 {
			t.Errorf("the first request got %d %s", a.status, a.body)
		}
	})
}

func TestTooManyRequestsInsideAreRefused(t *testing.T) {
	c, started, release := blocking()
	s := start(t, c, func(c *setup.Config) { c.Gate.Workers, c.Gate.Queue, c.MaxRequests = 1, 0, 1 })
	page := picture(t, 32, 32)
	first := make(chan answer, 1)
	r := s.webRequest("", field{name: "image", data: page})
	go func() {
		a, err := s.try(r)
		if err != nil {
			t.Error(err)
		}
		first <- a
	}()
	<-started
	a := s.do(s.developerRequest("not even JSON"))
	if !is(t, a, 503, "", 4000) {
		t.Errorf("got %d %s", a.status, a.body)
	}
	close(release)
	<-first
}

func TestDeadline(t *testing.T) {
	bothEntryPoints(t, func(t *testing.T, send func(*service) *http.Request) {
		c, _, _ := blocking()
		s := start(t, c, func(c *setup.Config) { c.Deadline = time.Millisecond })
		a := s.do(send(s))
		status := map[string]int{"web": 408, "developer": 504}[path.Base(t.Name())]
		if !is(t, a, status, "REQUEST_TIMEOUT", 2001) {
			t.Errorf("got %d %s", a.status, a.body)
		}
	})
}

func TestSlowUpload(t *testing.T) {
	s := start(t, &fakeCleaner{}, func(c *setup.Config) { c.UploadTimeout = 250 * time.Millisecond })
	for path, want := range map[string]int{"/api/process-image": 408, "/cleanup": 504} {
		body, end := io.Pipe()
		r := request(t, http.MethodPost, s.url+path, body)
		r.Header.Set("Authorization", "Bearer "+testToken)
		r.Header.Set("Content-Type", "application/json")
		if want == 408 {
			r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
		}
		a := s.do(r)
		_ = end.Close()
		if a.status != want {
			t.Errorf("%s: got %d %s", path, a.status, a.body)
		}
	}
}

func TestWorkMayTakeLongerThanTheUpload(t *testing.T) {
	bothEntryPoints(t, func(t *testing.T, send func(*service) *http.Request) {
		const upload = 2 * time.Second // in which a small body has come on any machine
		s := start(t, &fakeCleaner{clean: func(ctx context.Context, data []byte, o unink.Options) (
			*unink.Result, error,
		) {
			select {
			case <-time.After(upload + upload/10):
				return echo(data, o)
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}}, func(c *setup.Config) { c.UploadTimeout = upload })
		if a := s.do(send(s)); a.status != 200 {
			t.Errorf("got %d %s", a.status, a.body)
		}
	})
}

func TestClientThatLeavesFreesItsWorker(t *testing.T) {
	bothEntryPoints(t, func(t *testing.T, send func(*service) *http.Request) {
		c, started, _ := blocking()
		ended := make(chan error, 1)
		block := c.clean
		c.clean = func(ctx context.Context, data []byte, o unink.Options) (*unink.Result, error) {
			res, err := block(ctx, data, o)
			ended <- ctx.Err()
			return res, err
		}
		s := start(t, c)
		ctx, leave := context.WithCancel(t.Context())
		r := send(s).WithContext(ctx)
		done := make(chan error, 1)
		go func() { _, err := s.try(r); done <- err }()
		<-started
		leave()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("the client got %v", err)
		}
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the work ended with %v", err)
		}
		s.stop()
		if !strings.Contains(s.logs.String(), "status=499") {
			t.Errorf("the log does not tell: %s", s.logs)
		}
	})
}

func TestShutdownDrains(t *testing.T) {
	bothEntryPoints(t, func(t *testing.T, send func(*service) *http.Request) {
		c, started, release := blocking()
		s := start(t, c)
		first := make(chan answer, 1)
		r := send(s)
		go func() {
			a, err := s.try(r)
			if err != nil {
				t.Error(err)
			}
			first <- a
		}()
		<-started
		stopped := make(chan struct{})
		go func() { s.stop(); close(stopped) }()
		for !s.engine.Gate.Closed() { // the service has begun to stop
			runtime.Gosched()
		}
		if a := s.do(send(s)); !is(t, a, 503, "SERVICE_UNAVAILABLE", 4000) {
			t.Errorf("who comes while it drains got %d %s", a.status, a.body)
		}
		close(release)
		if a := <-first; a.status != 200 {
			t.Errorf("the request under way got %d %s", a.status, a.body)
		}
		<-stopped
	})
}

// A picture within the limits is worked on, however long the one before it took.
func TestSlowPictureRefusesNoneAfterIt(t *testing.T) {
	bothWith(t, picture(t, 3000, 2000), func(t *testing.T, send func(*service) *http.Request) {
		const deadline = 200 * time.Millisecond
		began := make(chan struct{}, 1)
		s := start(t, &fakeCleaner{clean: func(ctx context.Context, _ []byte, _ unink.Options) (
			*unink.Result, error,
		) {
			began <- struct{}{}
			<-ctx.Done()
			// it heeds the end late, so that it took longer, however long decoding did
			<-time.After(deadline)
			return nil, ctx.Err()
		}}, func(c *setup.Config) { c.Deadline = deadline })
		if a := s.do(send(s)); a.status != 408 && a.status != 504 {
			t.Fatalf("the first got %d %s", a.status, a.body)
		}
		<-began
		if a := s.do(send(s)); a.status != 408 && a.status != 504 {
			t.Errorf("the second got %d %s", a.status, a.body)
		}
		if len(began) == 0 {
			t.Error("it was not worked on")
		}
	})
}

func TestShutdownEndsWithTheDrainTimeout(t *testing.T) {
	c, started, _ := blocking()
	s := start(t, c, func(c *setup.Config) { c.DrainTimeout = 10 * time.Millisecond })
	done := make(chan struct{})
	r := s.developerRequest(mediaJSON(picture(t, 32, 32), ""))
	go func() {
		defer close(done)
		_, _ = s.try(r) // cut off: any end will do
	}()
	<-started
	s.stop()
	<-done
}

func TestPagesAreRefusedWhileStopping(t *testing.T) {
	bothEntryPoints(t, func(t *testing.T, send func(*service) *http.Request) {
		s := start(t, &fakeCleaner{})
		s.engine.Gate.Close()
		if a := s.do(send(s)); !is(t, a, 503, "SERVICE_UNAVAILABLE", 4000) {
			t.Errorf("got %d %s", a.status, a.body)
		}
		if a := s.get("/readyz"); a.status != 503 {
			t.Errorf("ready while stopping: %d", a.status)
		}
	})
}

func TestReadinessProbesTheEngine(t *testing.T) {
	s := start(t, &fakeCleaner{probe: errors.New("no such model")})
	a := s.get("/readyz")
	if a.status != 503 || bytes.Contains(a.body, []byte("model")) {
		t.Errorf("got %d %s", a.status, a.body)
	}
	if a := s.get("/healthz"); a.status != 200 {
		t.Errorf("not alive: %d", a.status)
	}
}

func TestPanicIsAnInternalError(t *testing.T) {
	bothEntryPoints(t, func(t *testing.T, send func(*service) *http.Request) {
		s := start(t, &fakeCleaner{clean: func(context.Context, []byte, unink.Options) (
			*unink.Result, error,
		) {
			panic("a secret")
		}})
		a := s.do(send(s))
		if !is(t, a, 500, "INTERNAL_ERROR", 2000) {
			t.Errorf("got %d %s", a.status, a.body)
		}
		id := a.header.Get("X-Request-Id")
		if !bytes.Contains(a.body, []byte(id)) || bytes.Contains(a.body, []byte("secret")) {
			t.Errorf("the body should name the request and nothing else: %s", a.body)
		}
		s.stop()
		if log := s.logs.String(); !strings.Contains(log, "a secret") || !strings.Contains(log, id) {
			t.Errorf("the log should say what happened to %s: %s", id, log)
		}
	})
}

func TestBadResultIsWithheld(t *testing.T) {
	page := picture(t, 32, 32)
	for name, res := range map[string]*unink.Result{
		"empty":          {},
		"other size":     {Data: page, Width: 31, Height: 32},
		"not as it was":  {Data: picture(t, 40, 32), Width: 40, Height: 32},
		"without layers": {Data: page, Width: 32, Height: 32},
	} {
		s := start(t, &fakeCleaner{clean: func(context.Context, []byte, unink.Options) (
			*unink.Result, error,
		) {
			return res, nil
		}})
		a := s.do(s.developerRequest(
			mediaJSON(page, `,"keep_ori":true,"keep_distortion":true,"return_layers":true`),
		))
		if !is(t, a, 500, "", 2004) {
			t.Errorf("%s: got %d %s", name, a.status, a.body)
		}
	}
}

func TestLogKeepsSecrets(t *testing.T) {
	s := start(t, &fakeCleaner{})
	page := picture(t, 32, 32)
	s.do(s.webRequest("", field{name: "image", data: page}, field{name: "userId", value: "some-user"},
		field{name: "deviceId", value: "some-device"},
		field{name: "cfTurnstileToken", value: "some-proof"},
		field{name: "pageSlug", value: "sheets/maths"}, field{name: "isPdfProcessing", value: "true"}))
	s.do(s.developerRequest(mediaJSON(page, "")))
	s.stop()
	log := s.logs.String()
	for _, secret := range []string{testToken, "some-user", "some-device", "some-proof", "127.0.0.1",
		base64.StdEncoding.EncodeToString(page)[:20]} {
		if strings.Contains(log, secret) {
			t.Errorf("the log holds %q: %s", secret, log)
		}
	}
	for _, want := range []string{"page_slug=sheets/maths", "pdf=true", "from=127.0.0.0/24",
		"status=200", `route="POST /cleanup"`} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %s: %s", want, log)
		}
	}
}

func TestMetricsHaveAPortOfTheirOwn(t *testing.T) {
	s := start(t, &fakeCleaner{}, func(c *setup.Config) { c.Version = "v1" })
	s.do(s.developerRequest(mediaJSON(picture(t, 32, 32), "")))
	wanted := []string{
		`unink_http_request_seconds_count{route="POST /cleanup",status="200"} 1`,
		`unink_queue_wait_seconds_count 1`, `unink_stage_seconds_count{stage="total"} 1`,
		`unink_pages_running 0`, `unink_pages_waiting 0`, `version="v1"`,
	}
	// a request is counted once its answer is on its way
	for deadline := time.Now().Add(10 * time.Second); len(wanted) > 0; {
		a, err := s.try(request(t, http.MethodGet, s.metrics+"/metrics", nil))
		if err != nil {
			t.Fatal(err)
		}
		wanted = slices.DeleteFunc(wanted, func(want string) bool {
			return bytes.Contains(a.body, []byte(want))
		})
		if time.Now().After(deadline) {
			t.Fatalf("the metrics lack %q", wanted)
		}
	}
	if a := s.get("/metrics"); a.status != 404 {
		t.Errorf("metrics on the public port: %d", a.status)
	}
}

func TestConfigOutOfRange(t *testing.T) {
	good := setup.Default()
	good.DeveloperToken = testToken
	for name, change := range map[string]func(*setup.Config){
		"no token":           func(c *setup.Config) { c.DeveloperToken = "" },
		"short token":        func(c *setup.Config) { c.DeveloperToken = "short" },
		"token with a space": func(c *setup.Config) { c.DeveloperToken = "a token with spaces in it" },
		"no deadline":        func(c *setup.Config) { c.Deadline = 0 },
		"no workers":         func(c *setup.Config) { c.Gate.Workers = 0 },
		"few requests":       func(c *setup.Config) { c.MaxRequests = 0 },
	} {
		cfg := good
		change(&cfg)
		if _, err := New(&fakeCleaner{}, cfg, nil, slog.Default()); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}
