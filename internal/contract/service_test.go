package contract

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"unink/internal/freeport"
	"unink/internal/store/storetest"
)

// program is the path of the built program.
var program string

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	folder, err := os.MkdirTemp("", "unink-contract-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(folder) }()
	program = filepath.Join(folder, "unink")
	build := exec.Command("go", "build", "-o", program, "./cmd/unink")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// botCost lets tests solve bot checks at once.
const botCost = 20

// patience bounds every wait; nothing here takes that long, on a busy machine either.
const patience = 2 * time.Minute

// soon bounds what the service itself ends after some seconds.
const soon = 30 * time.Second

// each runs a test on a service of its own on SQLite and on one on PostgreSQL.
func each(t *testing.T, flags []string, test func(t *testing.T, s *service)) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, address string) {
		t.Parallel()
		s := prepare(t, address, flags...)
		s.start(t)
		test(t, s)
		s.stop(t)
	})
}

// service is the program with its data, serving or not.
type service struct {
	data     string
	storage  []string // flags that say where the data is
	flags    []string
	extra    []string          // of the environment
	payments <-chan url.Values // what is asked of the stand-in for Stripe
	port     string
	url      string
	process  *exec.Cmd
	exit     chan error
	log      *logbook
	client   *http.Client
}

func prepare(t *testing.T, address string, flags ...string) *service {
	t.Helper()
	s := &service{flags: flags, port: freePort(t), client: &http.Client{
		Transport: &http.Transport{DisableKeepAlives: true, ExpectContinueTimeout: patience},
		Timeout:   patience,
	}}
	if file, embedded := strings.CutPrefix(address, "sqlite:"); embedded {
		s.data = filepath.Dir(file)
		s.storage = []string{"--data", s.data}
	} else {
		s.data = t.TempDir()
		s.storage = []string{"--data", s.data, "--database", address, "--secret",
			filepath.Join(s.data, "secret")}
	}
	s.url = "http://127.0.0.1:" + s.port
	return s
}

func freePort(t *testing.T) string {
	t.Helper()
	port, err := freeport.Find()
	if err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(port)
}

func (s *service) command(arguments ...string) *exec.Cmd {
	c := exec.Command(program, arguments...)
	for _, setting := range os.Environ() {
		if !strings.HasPrefix(setting, "UNINK_") {
			c.Env = append(c.Env, setting)
		}
	}
	c.Env = append(c.Env, "UNINK_TEST_CREDITS=0") // so that customers have what tests give them
	c.Env = append(c.Env, s.extra...)
	return c
}

// start serves until the test ends. Requests' addresses are what they say in X-Forwarded-For.
func (s *service) start(t *testing.T) {
	t.Helper()
	arguments := append([]string{
		"serve", "--listen", "127.0.0.1:" + s.port, "--metrics-listen", "127.0.0.1:0",
		"--domain", "localhost", "--public-url", "http://localhost:" + s.port, "--trusted-proxy",
		"127.0.0.0/8", "--browser", "off", "--bot-cost", strconv.Itoa(botCost),
	}, s.storage...)
	s.process = s.command(append(arguments, s.flags...)...)
	stderr, err := s.process.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	s.log = newLogbook()
	s.exit = make(chan error, 1)
	go func(process *exec.Cmd, log *logbook, exit chan error) {
		log.read(stderr)
		exit <- process.Wait()
		close(exit)
	}(s.process, s.log, s.exit)
	t.Cleanup(func() { s.kill() })
	s.log.wait(t, "serving", func(l line) bool { return l["msg"] == "serving" })
}

// stop ends the service as an operator does, and wants it to end well.
func (s *service) stop(t *testing.T) {
	t.Helper()
	if err := s.process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-s.exit:
		if err != nil {
			t.Errorf("serve ended with %v\n%s", err, s.log.text())
		}
	case <-time.After(patience):
		t.Error("serve did not end")
	}
}

// kill ends the service at once, whatever it does.
func (s *service) kill() {
	_ = s.process.Process.Kill()
	for range s.exit { // closed when it has ended
	}
}

// admin runs an operator's command and reads its JSON into v, unless that is nil.
func (s *service) admin(t *testing.T, v any, arguments ...string) {
	t.Helper()
	s.adminInput(t, "", v, arguments...)
}

func (s *service) adminInput(t *testing.T, input string, v any, arguments ...string) {
	t.Helper()
	c := s.command(append(append([]string{"admin"}, arguments...), append(s.storage, "--json")...)...)
	c.Stdin = strings.NewReader(input)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("admin %q: %v\n%s%s", arguments, err, out, stderr.Bytes())
	}
	if v == nil {
		return
	}
	if err := json.Unmarshal(out, v); err != nil {
		t.Fatalf("admin %q: %v\n%s", arguments, err, out)
	}
}

// line is one record of the service's log.
type line map[string]any

// logbook keeps what the service logs.
type logbook struct {
	mu      sync.Mutex
	raw     bytes.Buffer
	lines   []line
	strange []string // lines that are not JSON
	ended   bool
	changed chan struct{} // closed at each change
}

func newLogbook() *logbook { return &logbook{changed: make(chan struct{})} }

func (b *logbook) read(r io.Reader) {
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, 4<<20)
	for scanner.Scan() {
		b.add(scanner.Text())
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	close(b.changed)
	b.changed = make(chan struct{})
}

func (b *logbook) add(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.raw.WriteString(text + "\n")
	var l line
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		b.strange = append(b.strange, text)
	} else {
		b.lines = append(b.lines, l)
	}
	close(b.changed)
	b.changed = make(chan struct{})
}

func (b *logbook) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.raw.String()
}

// wait returns the first line that fits, now or later.
func (b *logbook) wait(t *testing.T, what string, fits func(line) bool) line {
	t.Helper()
	late := time.After(patience)
	for next := 0; ; {
		b.mu.Lock()
		lines, changed, ended := b.lines[next:], b.changed, b.ended
		next = len(b.lines)
		b.mu.Unlock()
		for _, l := range lines {
			if fits(l) {
				return l
			}
		}
		if ended {
			t.Fatalf("the service ended without a log line %q\n%s", what, b.text())
		}
		select {
		case <-changed:
		case <-late:
			t.Fatalf("no log line %q\n%s", what, b.text())
		}
	}
}
