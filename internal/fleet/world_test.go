package fleet

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"go.uber.org/goleak"

	"unink"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// brisk is a pace for tests: hundreds of times what these machines need, and still short.
var brisk = pace{
	beat:     25 * time.Millisecond,
	silence:  time.Second,
	offer:    500 * time.Millisecond,
	look:     25 * time.Millisecond,
	lastWord: 200 * time.Millisecond,
}

// bounded is more than anything here takes, and less than any time-out that is not of the fleet.
const bounded = 20 * time.Second

// natsServer starts a real NATS server in this process.
func natsServer(t *testing.T, change func(*server.Options)) *server.Server {
	t.Helper()
	options := &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true}
	if change != nil {
		change(options)
	}
	s, err := server.NewServer(options)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(bounded) {
		t.Fatal("the NATS server does not start")
	}
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	return s
}

// world is a fleet: a server, a client and what the test adds.
type world struct {
	t *testing.T
	Config
	*Client
	log *slog.Logger
}

func newWorld(t *testing.T, change func(*server.Options)) *world {
	t.Helper()
	s := natsServer(t, change)
	w := &world{t: t, Config: Config{URL: s.ClientURL(), pace: brisk}, log: newLog(t)}
	w.Client = w.client()
	return w
}

func newLog(t *testing.T) *slog.Logger { return slog.New(slog.NewTextHandler(t.Output(), nil)) }

func (w *world) client() *Client {
	w.t.Helper()
	c, err := Open(w.Config, w.log)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = c.Close() })
	return c
}

// cleanerFunc is a [Cleaner].
type cleanerFunc func(ctx context.Context, image []byte, o unink.Options) (*unink.Result, error)

func (f cleanerFunc) Clean(ctx context.Context, image []byte,
	o unink.Options) (*unink.Result, error) {
	return f(ctx, image, o)
}

// answer is what all fakes make of a page.
func answer(image []byte, o unink.Options) *unink.Result {
	sum := sha256.Sum256(append(fmt.Append(nil, o), image...))
	return &unink.Result{Data: sum[:], Format: unink.PNG, Width: 3, Height: 4}
}

func echo(_ context.Context, image []byte, o unink.Options) (*unink.Result, error) {
	return answer(image, o), nil
}

// hand is a worker under test.
type hand struct {
	*Worker
	stop func()
	done chan error
}

func (w *world) worker(slots int, clean cleanerFunc) *hand {
	w.t.Helper()
	h := w.workerThatMayFail(slots, clean)
	w.t.Cleanup(func() {
		h.stop()
		if err := <-h.done; err != nil {
			w.t.Errorf("the worker ended with %v", err)
		}
	})
	return h
}

func (w *world) workerThatMayFail(slots int, clean cleanerFunc) *hand {
	w.t.Helper()
	before := w.workers.slots()
	h := w.hire(slots, clean)
	w.until("the worker is known", func() bool { return w.workers.slots() == before+slots })
	return h
}

// hire starts a worker that need not be known yet.
func (w *world) hire(slots int, clean cleanerFunc) *hand {
	w.t.Helper()
	worker, err := NewWorker(w.Config,
		WorkerConfig{Slots: slots, Drain: bounded, Build: Build{"v1", "0123456789abcdef"}}, clean, w.log)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	h := &hand{worker, stop, make(chan error, 1)}
	go func() { h.done <- worker.Run(ctx) }()
	return h
}

// kill ends a worker as kill -9 does: its connection is closed in the middle of things.
func (h *hand) kill() {
	h.nc.Close()
	h.stop()
}

// until waits for something to come true.
func (w *world) until(what string, is func() bool) {
	w.t.Helper()
	for late := time.Now().Add(bounded); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			w.t.Fatalf("it never came true that %s", what)
		}
	}
}

// clean cleans a page, and wants the result that it has to have.
func (w *world) clean(page string) {
	w.t.Helper()
	o := unink.Options{Finish: unink.Colour}
	res, err := w.Clean(w.context(), []byte(page), o)
	if err != nil {
		w.t.Errorf("%s: %v", page, err)
	} else if !bytes.Equal(res.Data, answer([]byte(page), o).Data) {
		w.t.Errorf("%s has another page's result", page)
	}
}

func (w *world) context() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), bounded)
	w.t.Cleanup(cancel)
	return ctx
}

// inBackground cleans a page and tells its error.
func (w *world) inBackground(page string) <-chan error {
	done := make(chan error, 1)
	ctx := w.context()
	go func() {
		_, err := w.Clean(ctx, []byte(page), unink.Options{})
		done <- err
	}()
	return done
}

// fails wants an error in time.
func (w *world) fails(done <-chan error, want error) {
	w.t.Helper()
	select {
	case err := <-done:
		if !errors.Is(err, want) {
			w.t.Errorf("got %v, want %v", err, want)
		}
	case <-time.After(bounded):
		w.t.Fatalf("no answer; want %v", want)
	}
}

// stranger is somebody on the fleet's server who does as the test says.
type stranger struct {
	*world
	nc *nats.Conn
}

func (w *world) stranger() *stranger {
	w.t.Helper()
	nc, err := nats.Connect(w.URL)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(nc.Close)
	return &stranger{w, nc}
}

// impersonate makes the stranger a worker that does with an offer what it is told.
func (s *stranger) impersonate(id string, do func(m *nats.Msg, o offer)) {
	s.t.Helper()
	var mu sync.Mutex
	_, err := s.nc.QueueSubscribe(offers, group, func(m *nats.Msg) {
		mu.Lock()
		defer mu.Unlock()
		var o offer
		if err := json.Unmarshal(m.Data, &o); err != nil {
			s.t.Error(err)
		}
		if o.Not == id {
			s.say(m.Reply, decline, 0, note{Worker: id})
			return
		}
		do(m, o)
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.present(id)
	s.until("the stranger is known", func() bool { return s.workers.slots() > 0 })
}

// present announces the stranger as a worker, and goes on doing so.
func (s *stranger) present(id string) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			body, _ := json.Marshal(status{Worker: id, Slots: 1, Free: 1})
			_ = s.nc.Publish(presence, body)
			select {
			case <-stop:
				return
			case <-time.After(brisk.beat):
			}
		}
	}()
	s.t.Cleanup(func() {
		close(stop)
		<-stopped
	})
}

// say sends a message about a page.
func (s *stranger) say(to string, k kind, sequence int, v any) {
	body, raw := v.([]byte)
	if !raw {
		body, _ = json.Marshal(v)
	}
	m := nats.NewMsg(to)
	m.Reply = "stranger"
	m.Header.Set(kindHeader, string(k))
	m.Header.Set(sequenceHeader, fmt.Sprint(sequence))
	m.Data = body
	if err := s.nc.PublishMsg(m); err != nil {
		s.t.Error(err)
	}
}

// value is what a counter or gauge says.
func value(metric prometheus.Metric) float64 {
	var m dto.Metric
	if err := metric.Write(&m); err != nil {
		return -1
	}
	return m.GetCounter().GetValue() + m.GetGauge().GetValue()
}
