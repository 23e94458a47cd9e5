package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/png"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"unink"
	"unink/internal/store/storetest"
)

// slow is an engine that takes its time for a page.
type slow struct{ drawing }

func openSlow(c unink.Config) (engine, error) {
	e, err := openDrawing(c)
	if err != nil {
		return nil, err
	}
	return slow{e.(drawing)}, nil
}

func (s slow) Clean(ctx context.Context, data []byte, o unink.Options) (*unink.Result, error) {
	select {
	case <-time.After(50 * time.Millisecond):
	case <-ctx.Done():
		return nil, &unink.Error{Code: unink.ErrCanceled, Op: "clean", Message: "stopped", Err: ctx.Err()}
	}
	return s.drawing.Clean(ctx, data, o)
}

func natsServer(t *testing.T) string {
	t.Helper()
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true, Username: "unink",
		Password: "a password",
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(late) {
		t.Fatal("the NATS server does not start")
	}
	return "nats://unink:a%20password@" + s.Addr().String()
}

// late bounds every wait; nothing here takes that long.
const late = 60 * time.Second

// process is one of this program.
type process struct {
	*exec.Cmd
	said map[string]any // the log line that it began with
	done chan error
}

// spawn starts a process of the program, under one of the names that TestMain knows, and waits for
// it to log a message.
func spawn(t *testing.T, name, message string, arguments ...string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{Cmd: &exec.Cmd{Path: self, Args: append([]string{name}, arguments...),
		Env: os.Environ()}, done: make(chan error, 1)}
	stderr, err := p.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Process.Kill() })
	said := make(chan map[string]any, 1)
	go func() {
		var before bytes.Buffer
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			line := map[string]any{}
			_ = json.Unmarshal(lines.Bytes(), &line) // what is not JSON is not what is waited for
			if line["msg"] == message && p.said == nil {
				said <- line
				before.Reset()
			}
			fmt.Fprintf(&before, "%s\n", lines.Bytes())
		}
		close(said)
		p.done <- p.Wait()
		close(p.done)
	}()
	select {
	case line, ok := <-said:
		if !ok {
			t.Fatalf("%s %q ended with %v", name, arguments, <-p.done)
		}
		p.said = line
	case <-time.After(late):
		t.Fatalf("%s %q does not start", name, arguments)
	}
	return p
}

// end interrupts a process and wants it to end well.
func (p *process) end(t *testing.T) {
	t.Helper()
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	select {
	case err := <-p.done:
		if err != nil {
			t.Errorf("%q ended with %v", p.Args, err)
		}
	case <-time.After(late):
		t.Errorf("%q does not end", p.Args)
	}
}

// fleetService is a service that has its pages cleaned by a fleet.
type fleetService struct {
	*process
	url, metrics string
	client       *http.Client
}

func serveFleet(t *testing.T, nats string, arguments ...string) *fleetService {
	t.Helper()
	p := spawn(t, "unink", "serving",
		append([]string{"serve", "--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0", "--fleet",
			nats}, arguments...)...)
	return &fleetService{
		p, "http://" + p.said["address"].(string), "http://" + p.said["metrics"].(string) + "/metrics",
		&http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: late},
	}
}

// metric is the sum of a metric's values.
func (s *fleetService) metric(t *testing.T, name string) float64 {
	t.Helper()
	_, body := send(t, s.client, http.MethodGet, s.metrics, "", "", nil)
	sum := 0.0
	for _, line := range regexp.MustCompile(
		`(?m)^`+name+`(?:\{.*\})? (\S+)$`,
	).FindAllSubmatch(body, -1) {
		n, err := strconv.ParseFloat(string(line[1]), 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	return sum
}

func (s *fleetService) until(t *testing.T, name string, want float64) {
	t.Helper()
	for end := time.Now().Add(late); ; time.Sleep(5 * time.Millisecond) {
		switch got := s.metric(t, name); {
		case got == want:
			return
		case time.Now().After(end):
			t.Fatalf("%s is %v, and never became %v", name, got, want)
		}
	}
}

// pageAnswer is the answer to a request for a page.
type pageAnswer struct {
	status, code int
	retryAfter   string
	body         []byte
}

func (s *fleetService) page(t *testing.T, host, token string) pageAnswer {
	var page bytes.Buffer
	if err := png.Encode(&page, sheet()); err != nil {
		t.Error(err)
	}
	body, err := json.Marshal(
		map[string]any{"media_id": base64.StdEncoding.EncodeToString(page.Bytes())},
	)
	if err != nil {
		t.Error(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/cleanup",
		bytes.NewReader(body))
	if err != nil {
		t.Error(err)
	}
	r.Host = host
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := s.client.Do(r)
	if err != nil {
		t.Error(err)
		return pageAnswer{}
	}
	defer func() { _ = resp.Body.Close() }()
	a := pageAnswer{status: resp.StatusCode, retryAfter: resp.Header.Get("Retry-After")}
	if a.body, err = io.ReadAll(resp.Body); err != nil {
		t.Error(err)
	}
	var envelope struct{ Code int }
	if err := json.Unmarshal(a.body, &envelope); err != nil {
		t.Errorf("%d %.200s", a.status, a.body)
	}
	a.code = envelope.Code
	return a
}

// TestFleet runs the built program with its real engine on two workers, one of which is killed
// while it has a page, and the other stopped.
func TestFleet(t *testing.T) {
	const token = "a-token-of-the-tests"
	nats := natsServer(t)
	s := serveFleet(t, nats, "--open", "--dev-token", token, "--deadline", "50s")
	if status, body := send(t, s.client, http.MethodGet, s.url+"/readyz", "", "",
		nil); status != 503 || !strings.Contains(string(body), "no workers") {
		t.Errorf("without workers it is ready: %d %s", status, body)
	}
	if a := s.page(t, "", token); a.status != 503 || a.code != 4000 || a.retryAfter == "" {
		t.Errorf("without workers: %d %s", a.status, a.body)
	}

	worker := func() *process {
		return spawn(t, "real-unink", "working", "worker", "--fleet", nats, "--workers", "1",
			"--threads", "1")
	}
	victim, frozen := worker(), worker()
	s.until(t, "unink_fleet_slots", 2)
	if status, body := send(t, s.client, http.MethodGet, s.url+"/readyz", "", "", nil); status != 200 {
		t.Errorf("with workers it is not ready: %d %s", status, body)
	}
	var pages sync.WaitGroup
	clean := func() {
		pages.Go(func() {
			a := s.page(t, "", token)
			holdsPage(t, a.status, a.body)
		})
	}
	clean()
	clean()
	s.until(t, "unink_fleet_pages", 2)
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	pages.Wait()
	if n := s.metric(t, "unink_fleet_retries_total"); n != 1 {
		t.Errorf("%v pages were tried again, want the killed worker's", n)
	}
	s.until(t, "unink_fleet_slots", 1)

	answers := make(chan pageAnswer, 1)
	go func() { answers <- s.page(t, "", token) }()
	s.until(t, "unink_fleet_pages", 1)
	if err := frozen.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if a := <-answers; a.status != 502 || a.code != 3000 {
		t.Errorf("with the last worker frozen: %d %s", a.status, a.body)
	}
	s.until(t, "unink_fleet_slots", 0)
	if err := frozen.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	s.until(t, "unink_fleet_slots", 1)
	clean()
	pages.Wait()
	frozen.end(t)
	s.end(t)
}

// onData runs an operator's command on the data that flags name, beside the service, and reads its
// JSON into v.
func onData(t *testing.T, storage []string, v any, arguments ...string) {
	t.Helper()
	var out, complaints bytes.Buffer
	env := &environment{ctx: t.Context(), stdin: strings.NewReader(""), stdout: &out,
		stderr: &complaints, open: openDrawing}
	if code := run(env, slices.Concat([]string{"admin"}, arguments, storage,
		[]string{"--json"})); code != exitDone {
		t.Fatalf("admin %q: %s", arguments, complaints.Bytes())
	}
	if err := json.Unmarshal(out.Bytes(), v); err != nil {
		t.Fatalf("admin %q: %v", arguments, err)
	}
}

// buyer is a customer with a package.
type buyer struct{ id, host, token string }

func newBuyer(t *testing.T, storage []string, name string) buyer {
	t.Helper()
	var made struct{ Customer struct{ ID, Slug string } }
	onData(t, storage, &made, "customer", "add", name+"@example.com", "--name", name,
		"--plan", "starter")
	var rotated struct{ Token string }
	onData(t, storage, &rotated, "rotate", made.Customer.ID, "--grace", "0s")
	return buyer{made.Customer.ID, made.Customer.Slug + ".localhost", rotated.Token}
}

// charged wants the ledger to say that so many pages were paid for, and nothing is held.
func (b buyer) charged(t *testing.T, storage []string, pages int) {
	t.Helper()
	var ledger struct {
		Entries []struct{ Kind string }
	}
	onData(t, storage, &ledger, "ledger", b.id, "--limit", "10000")
	kinds := map[string]int{}
	for _, e := range ledger.Entries {
		kinds[e.Kind]++
	}
	if kinds["settle"] != pages || kinds["reserve"] != pages+kinds["release"] {
		t.Errorf("%d pages came back, and the ledger has %v", pages, kinds)
	}
	var wrong []any
	onData(t, storage, &wrong, "audit")
	if len(wrong) > 0 {
		t.Errorf("audit: %v", wrong)
	}
}

// TestFleetCharges kills workers again and again: who gets a page pays for it, once, and nobody
// else does.
func TestFleetCharges(t *testing.T) {
	nats, storage := natsServer(t), []string{"--data", t.TempDir()}
	s := serveFleet(t, nats, append(storage, "--per-customer", "100", "--queue", "100",
		"--max-requests", "200")...)
	acme := newBuyer(t, storage, "acme")

	worker := func() *process {
		return spawn(t, "slow-unink", "working", "worker", "--fleet", nats, "--workers", "2")
	}
	hands := []*process{worker(), worker(), worker()}
	s.until(t, "unink_fleet_slots", 6)
	const callers, each, kills = 8, 25, 8
	var mu sync.Mutex
	outcomes := map[int]int{}
	var pages sync.WaitGroup
	for range callers {
		pages.Go(func() {
			for range each {
				a := s.page(t, acme.host, acme.token)
				mu.Lock()
				outcomes[a.code]++
				mu.Unlock()
			}
		})
	}
	for range kills {
		i := rand.IntN(len(hands))
		if err := hands[i].Process.Kill(); err != nil {
			t.Fatal(err)
		}
		<-hands[i].done //nolint:errcheck // it was killed
		hands[i] = worker()
	}
	pages.Wait()
	clean, refused := outcomes[0], outcomes[3000]+outcomes[4000]
	t.Logf("%d kills: %v, %v tried again", kills, outcomes, s.metric(t, "unink_fleet_retries_total"))
	if clean == 0 || clean+refused != callers*each || s.metric(t, "unink_fleet_losses_total") == 0 {
		t.Errorf("outcomes by code: %v", outcomes)
	}
	s.until(t, "unink_credits_held", 0)
	acme.charged(t, storage, clean)
	for _, h := range hands {
		h.end(t)
	}
	s.end(t)
}

// TestRollingUpgrade replaces two services and three workers one after the other, on PostgreSQL and
// Redis, as an operator would behind a load balancer. Nobody notices.
func TestRollingUpgrade(t *testing.T) {
	nats := natsServer(t)
	storage := []string{"--data", t.TempDir(), "--database", storetest.Postgres(t), "--secret",
		filepath.Join(t.TempDir(), "secret")}
	service := func() *fleetService {
		return serveFleet(t, nats, append(storage, "--redis", "redis://127.0.0.1:56379",
			"--per-customer", "100")...)
	}
	worker := func() *process {
		return spawn(t, "slow-unink", "working", "worker", "--fleet", nats, "--workers", "2")
	}
	services, workers := []*fleetService{service(), service()},
		[]*process{worker(), worker(), worker()}
	for _, s := range services {
		s.until(t, "unink_fleet_slots", 6)
	}
	acme := newBuyer(t, storage, "acme")

	var balancer sync.RWMutex // a service is taken out when it has no request any more
	stop := make(chan struct{})
	var clean atomic.Int32
	var callers sync.WaitGroup
	for i := range 4 {
		callers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				balancer.RLock()
				a := services[i%len(services)].page(t, acme.host, acme.token)
				balancer.RUnlock()
				if a.status != http.StatusOK {
					t.Errorf("%d %s", a.status, a.body)
					return
				}
				clean.Add(1)
			}
		})
	}
	some := func() { // pages go by
		for before, end := clean.Load(),
			time.Now().Add(late); clean.Load() < before+10; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("no pages come back")
			}
		}
	}
	for i := range workers {
		some()
		fresh := worker()
		workers[i].end(t)
		workers[i] = fresh
	}
	for i := range services {
		some()
		fresh := service()
		fresh.until(t, "unink_fleet_slots", 6)
		balancer.Lock()
		old := services[i]
		services[i] = fresh
		balancer.Unlock()
		old.end(t)
	}
	some()
	close(stop)
	callers.Wait()
	acme.charged(t, storage, int(clean.Load()))
	for _, s := range services {
		s.end(t)
	}
	for _, w := range workers {
		w.end(t)
	}
}

func TestFleetFlags(t *testing.T) {
	for name, arguments := range map[string][]string{
		"no fleet":         {"worker"},
		"no URL":           {"worker", "--fleet", "localhost"},
		"negative slots":   {"worker", "--fleet", "nats://localhost", "--workers", "-1"},
		"no drain":         {"worker", "--fleet", "nats://localhost", "--drain-timeout", "0s"},
		"workers here":     {"serve", "--fleet", "nats://localhost", "--workers", "2"},
		"a password":       {"serve", "--open", "--fleet", "http://unink:hunter2@localhost"},
		"no authority":     {"worker", "--fleet", "tls://localhost", "--fleet-ca", "/not/there"},
		"a missing secret": {"worker", "--fleet", "tls://localhost", "--fleet-credentials", "/not/there"},
	} {
		var complaints bytes.Buffer
		env := &environment{ctx: t.Context(), stdin: strings.NewReader(""), stdout: io.Discard,
			stderr: &complaints, open: openDrawing}
		if code := run(env, arguments); code != exitUsage ||
			strings.Contains(complaints.String(), "hunter2") {
			t.Errorf("%s: exit code %d, %s", name, code, complaints.String())
		}
	}
	var shown bytes.Buffer
	env := &environment{ctx: t.Context(), stdin: strings.NewReader(""), stdout: &shown,
		stderr: io.Discard, open: openDrawing}
	if code := run(env, []string{"config", "--fleet",
		"nats://unink:hunter2@localhost"}); code != exitDone ||
		strings.Contains(shown.String(), "hunter2") {
		t.Errorf("config shows the fleet's password: %d %s", code, shown.String())
	}
}
