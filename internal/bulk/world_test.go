package bulk

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"unink"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// brisk is a pace for tests: still much longer than what it is for takes here.
var brisk = pace{ackWait: 2 * time.Second, pause: 50 * time.Millisecond, queue: 20}

// bounded is more than anything here takes.
const bounded = 60 * time.Second

// world is a NATS server, source, destination and a fleet.
type world struct {
	t     *testing.T
	nats  *server.Server
	store string // of the server
	port  int

	noStore bool
	Config
	fleet *cleaner
}

// newWorld makes a world whose places are made by kind: "folder" or "s3".
func newWorld(t *testing.T, source, destination string) *world {
	t.Helper()
	w := &world{t: t, store: t.TempDir(), port: server.RANDOM_PORT,
		fleet: &cleaner{calls: map[string]int{}}}
	w.serve()
	t.Cleanup(func() { w.down() })
	if source == "s3" || destination == "s3" {
		backend := s3mem.New()
		if err := backend.CreateBucket("pages"); err != nil {
			t.Fatal(err)
		}
		s3 := httptest.NewServer(gofakes3.New(backend).Server())
		t.Cleanup(s3.Close)
		w.S3.Endpoint = s3.URL
		t.Setenv("AWS_ACCESS_KEY_ID", "key")
		t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
		t.Setenv("AWS_REGION", "us-east-1")
	}
	name := func(kind, prefix string) string {
		if kind == "s3" {
			return "s3://pages/" + prefix
		}
		return t.TempDir()
	}
	w.Source, w.Destination = name(source, "in"), name(destination, "out/clean/")
	w.Options.Finish = unink.Colour
	w.AtOnce, w.pace, w.Report = 4, brisk, func(Outcome) {}
	return w
}

// serve starts the NATS server, on what it has stored.
func (w *world) serve() {
	w.t.Helper()
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: w.port, NoLog: true, NoSigs: true, JetStream: !w.noStore,
		StoreDir: w.store,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(bounded) {
		w.t.Fatal("the NATS server does not start")
	}
	w.nats, w.port = s, s.Addr().(*net.TCPAddr).Port
}

func (w *world) down() {
	w.nats.Shutdown()
	w.nats.WaitForShutdown()
}

// cleaner is a fleet without workers. It answers what [answer] says, after what the test wants.
type cleaner struct {
	mu     sync.Mutex
	calls  map[string]int
	before func(ctx context.Context, image string) error // may be nil
}

func (c *cleaner) CleanBulk(ctx context.Context, image []byte,
	o unink.Options) (*unink.Result, error) {
	c.mu.Lock()
	c.calls[string(image)]++
	before := c.before
	c.mu.Unlock()
	if before != nil {
		if err := before(ctx, string(image)); err != nil {
			return nil, err
		}
	}
	return answer(image, o), nil
}

// times is how often a page was cleaned.
func (c *cleaner) times(image string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls[image]
}

// answer is what becomes of a page. One that says so becomes a PNG.
func answer(image []byte, o unink.Options) *unink.Result {
	sum := sha256.Sum256(append(fmt.Append(nil, o), image...))
	format := unink.JPEG
	if bytes.HasPrefix(image, []byte("line art")) {
		format = unink.PNG
	}
	return &unink.Result{Data: sum[:], Format: format}
}

// batch opens a batch on a connection of its own.
func (w *world) batch() *Batch {
	w.t.Helper()
	nc, err := nats.Connect(w.nats.ClientURL(), nats.MaxReconnects(-1),
		nats.ReconnectWait(20*time.Millisecond))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		w.t.Fatal(err)
	}
	b, err := Open(w.Config, w.fleet, js, slog.New(slog.NewTextHandler(w.t.Output(), nil)))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if err := b.Close(); err != nil {
			w.t.Error(err)
		}
	})
	return b
}

// put puts pages into the source: each file's content is its page.
func (w *world) put(pages map[string]string) {
	w.t.Helper()
	p, err := openPlace(w.Source, w.S3, false)
	if err != nil {
		w.t.Fatal(err)
	}
	for name, content := range pages {
		if err := p.write(w.t.Context(), name, []byte(content)); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := p.close(); err != nil {
		w.t.Error(err)
	}
}

// many makes n pages.
func (w *world) many(n int) map[string]string {
	pages := map[string]string{}
	for i := range n {
		pages[fmt.Sprintf("box %d/page %03d.jpg", i%3, i)] = fmt.Sprintf("page %d", i)
	}
	w.put(pages)
	return pages
}

func (w *world) context() context.Context {
	ctx, cancel := context.WithTimeout(w.t.Context(), bounded)
	w.t.Cleanup(cancel)
	return ctx
}

// run runs a batch to its end, and wants these counts.
func (w *world) run(want Counts) {
	w.t.Helper()
	got, err := w.batch().Run(w.context())
	if err != nil || got != want {
		w.t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

// holds wants the results of these pages in the destination, and nothing else but records, one
// each.
func (w *world) holds(pages map[string]string) {
	w.t.Helper()
	want := map[string]string{}
	for name, content := range pages {
		res := answer([]byte(content), w.Options)
		want[resultName(name, res.Format)] = string(res.Data)
	}
	p, err := openPlace(w.Destination, w.S3, false)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = p.close() }()
	for file, err := range p.list(w.t.Context()) {
		if err != nil {
			w.t.Fatal(err)
		}
		if strings.HasPrefix(file.Key, ownFolder+"/") {
			continue
		}
		data, err := p.read(w.t.Context(), file.Key, 1<<20)
		if err != nil {
			w.t.Fatal(err)
		}
		if want[file.Key] != string(data) {
			w.t.Errorf("%s is not what was expected there", file.Key)
		}
		delete(want, file.Key)
	}
	for name := range want {
		w.t.Errorf("%s is missing", name)
	}
}

// noQueue wants that no queue is left.
func (w *world) noQueue() {
	w.t.Helper()
	for name := range w.batch().js.StreamNames(w.context()).Name() {
		w.t.Errorf("the stream %s is left", name)
	}
}

// cleaned wants that each page was cleaned so often.
func (w *world) cleaned(pages map[string]string, times int) {
	w.t.Helper()
	for name, content := range pages {
		if n := w.fleet.times(content); n != times {
			w.t.Errorf("%s was cleaned %d times, want %d", name, n, times)
		}
	}
}

// full is a place that cannot be written to.
type full struct {
	place
	failed func() bool
}

func (f full) write(ctx context.Context, name string, data []byte) error {
	if f.failed() {
		return unavailable{errors.New("no space left")}
	}
	return f.place.write(ctx, name, data)
}
