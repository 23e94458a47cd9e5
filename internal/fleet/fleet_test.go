package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"unink"
	"unink/internal/gate"
)

func TestPagesGoToAllWorkersAndNoFurtherThanTheirSlots(t *testing.T) {
	w := newWorld(t, nil)
	release := make(chan struct{})
	var first, second atomic.Int32
	on := func(n *atomic.Int32, slots int32) cleanerFunc {
		return func(_ context.Context, image []byte, o unink.Options) (*unink.Result, error) {
			if n.Add(1) > slots {
				t.Error("more pages than slots")
			}
			defer n.Add(-1)
			<-release
			return answer(image, o), nil
		}
	}
	w.worker(1, on(&first, 1))
	w.worker(2, on(&second, 2))
	var pages sync.WaitGroup
	for i := range 8 {
		pages.Go(func() { w.clean(fmt.Sprint("page ", i)) })
	}
	w.until("all slots are busy and the others wait", func() bool {
		return first.Load() == 1 && second.Load() == 2 && w.free.len() > 0
	})
	if n := value(w.counts.pages); n != 3 {
		t.Errorf("workers have %v pages, want 3", n)
	}
	close(release)
	pages.Wait()
	if n := value(w.counts.pages); n != 0 {
		t.Errorf("workers have %v pages afterwards", n)
	}
}

// The pages and results are larger than the server takes in one message.
func TestLargePageAndResultComeWhole(t *testing.T) {
	w := newWorld(t, func(o *server.Options) { o.MaxPayload = 64 << 10 })
	noise := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rand.Uint32())
		}
		return b
	}
	page := noise(unink.DefaultMaxBytes)
	options := unink.Options{Finish: unink.Colour, Remove: unink.Blue | unink.Red, Format: unink.WebP,
		Layers: true, Before: true, KeepOrientation: true, KeepDistortion: true}
	want := &unink.Result{
		Data: noise(9<<20 + 1), Handwriting: noise(64<<10 - headroom), Mask: noise(1),
		Before: noise(300 << 10), Format: unink.WebP, Width: 5000, Height: 7000,
		Report: unink.Report{
			Turned: 270, Flattened: true, Skew: -1.5,
			Corners: &unink.Corners{{1, 2}, {3, 4}, {5, 6}, {7, 8}}, Removed: 0.125,
			Confidence: unink.Confidence{Orient: 0.99, Flatten: 0.5, Segment: 0.75},
			Timings:    unink.Timings{"decode": 1, "segment": 2, "total": time.Minute},
		},
	}
	w.worker(1, func(_ context.Context, image []byte, o unink.Options) (*unink.Result, error) {
		if !bytes.Equal(image, page) || o != options {
			t.Errorf("the page arrived as %d bytes, with %+v", len(image), o)
		}
		return want, nil
	})
	got, err := w.Clean(w.context(), page, options)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got another result (%v)", err)
	}
	if _, err := w.Clean(w.context(), append(page, 0), options); !errors.Is(err, unink.ErrTooLarge) {
		t.Errorf("too large a page: %v", err)
	}
}

// What is wrong with the page is told as it is, and tried once only.
func TestErrorsOfThePage(t *testing.T) {
	w := newWorld(t, nil)
	var calls atomic.Int32
	fail := func(_ context.Context, image []byte, _ unink.Options) (*unink.Result, error) {
		calls.Add(1)
		switch code := unink.Code(image); code {
		case "panic":
			panic("defect")
		case "other":
			return nil, errors.New("the secret cause")
		default:
			return nil, &unink.Error{Code: code, Op: "decode", Message: "wrong", Hint: "do it right",
				Err: errors.New("cause")}
		}
	}
	w.worker(2, fail)
	w.worker(2, fail)
	for _, code := range []unink.Code{unink.ErrTooLarge, unink.ErrDimensions, unink.ErrFormat,
		unink.ErrBroken, unink.ErrNoContent, unink.ErrOption, unink.ErrInternal} {
		calls.Store(0)
		_, err := w.Clean(w.context(), []byte(code), unink.Options{})
		var e *unink.Error
		if !errors.As(err, &e) || e.Code != code || e.Op != "decode" || e.Message != "wrong" ||
			e.Hint != "do it right" || e.Err == nil || calls.Load() != 1 {
			t.Errorf("%s: %#v after %d calls", code, err, calls.Load())
		}
	}
	for _, defect := range []string{"panic", "other"} {
		_, err := w.Clean(w.context(), []byte(defect), unink.Options{})
		if !errors.Is(err, unink.ErrInternal) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", defect, err)
		}
	}
	if n := value(w.counts.losses); n != 0 {
		t.Errorf("%v workers were lost", n)
	}
}

// A device that fails is the worker's trouble: another one gets the page.
func TestBrokenDevice(t *testing.T) {
	w := newWorld(t, nil)
	broken := func(context.Context, []byte, unink.Options) (*unink.Result, error) {
		return nil, &unink.Error{Code: unink.ErrDevice, Op: "clean", Message: "the GPU fell off"}
	}
	w.worker(1, broken)
	w.worker(1, broken)
	w.fails(w.inBackground("page"), gate.ErrWorker)
	w.worker(8, echo)
	for i := range 20 {
		err := <-w.inBackground(fmt.Sprint(i))
		if err != nil && !errors.Is(err, gate.ErrWorker) { // both broken ones had it
			t.Error(err)
		}
	}
	if retries, losses := value(w.counts.retries), value(w.counts.losses); retries < 1 || losses < 2 ||
		losses > 2*retries {
		t.Errorf("%v retries, %v losses", retries, losses)
	}
}

func TestNoWorker(t *testing.T) {
	w := newWorld(t, nil)
	w.fails(w.inBackground("page"), gate.ErrNoWorker)
	if err := w.Probe(t.Context()); !errors.Is(err, gate.ErrNoWorker) {
		t.Errorf("the probe says %v", err)
	}
	var capacity atomic.Int32
	w.OnCapacity(func(pages int) { capacity.Store(int32(pages)) })
	h := w.workerThatMayFail(3, echo)
	if err := w.Probe(t.Context()); err != nil || capacity.Load() != 3 {
		t.Errorf("with a worker of 3 slots the probe says %v, the capacity is %d", err, capacity.Load())
	}
	late := w.client() // learns of those who were there before it
	w.until("a service that comes later knows the worker", func() bool {
		return late.Probe(t.Context()) == nil
	})
	h.stop()
	w.until("the worker has left", func() bool { return capacity.Load() == 0 })
	if err := <-h.done; err != nil {
		t.Error(err)
	}
	w.fails(w.inBackground("page"), gate.ErrNoWorker)
}

// blocked is a cleaner that says which page it has, and goes on when it is released or given up.
type blocked struct {
	pages   chan string
	release chan struct{}
}

func newBlocked() *blocked { return &blocked{make(chan string, 100), make(chan struct{})} }

func (b *blocked) clean(ctx context.Context, image []byte, o unink.Options) (*unink.Result, error) {
	b.pages <- string(image)
	select {
	case <-b.release:
		return answer(image, o), nil
	case <-ctx.Done():
		return nil, &unink.Error{Code: unink.ErrCanceled, Op: "clean", Message: "stopped", Err: ctx.Err()}
	}
}

func TestKilledWorkersPageGoesToAnother(t *testing.T) {
	w := newWorld(t, nil)
	b := newBlocked()
	victim := w.workerThatMayFail(1, b.clean)
	done := w.inBackground("page")
	<-b.pages
	w.worker(1, echo)
	start := time.Now()
	victim.kill()
	w.fails(done, nil)
	if took := time.Since(start); took > brisk.silence {
		// by the server's word rather than by silence, when the machine is not busy
		t.Logf("noticed after %v", took)
	}
	if retries := value(w.counts.retries); retries != 1 {
		t.Errorf("%v retries", retries)
	}
	if err := <-victim.done; err != nil {
		t.Error(err)
	}
}

func TestBothWorkersKilled(t *testing.T) {
	w := newWorld(t, nil)
	b := newBlocked()
	one, two := w.workerThatMayFail(1, b.clean), w.workerThatMayFail(1, b.clean)
	done := w.inBackground("page")
	<-b.pages
	busy, other := one, two
	if two.free.Load() == 0 {
		busy, other = two, one
	}
	busy.kill()
	<-b.pages // the other one has it
	other.kill()
	w.fails(done, gate.ErrWorker)
	for _, h := range []*hand{one, two} {
		if err := <-h.done; err != nil {
			t.Error(err)
		}
	}
}

// The only worker dies: there is nobody to try again.
func TestOnlyWorkerKilled(t *testing.T) {
	w := newWorld(t, nil)
	b := newBlocked()
	only := w.workerThatMayFail(1, b.clean)
	done := w.inBackground("page")
	<-b.pages
	only.kill()
	w.fails(done, gate.ErrWorker)
	w.until("nobody is left", func() bool { return w.workers.slots() == 0 })
	w.fails(w.inBackground("page"), gate.ErrNoWorker)
	if err := <-only.done; err != nil {
		t.Error(err)
	}
}

// A worker stands still with a page, comes back later and answers. Nobody hears that.
func TestFrozenWorkerIsNoticedAndItsLateAnswerDropped(t *testing.T) {
	w := newWorld(t, nil)
	s := w.stranger()
	inboxes := make(chan string, 1)
	s.impersonate("frozen", func(m *nats.Msg, _ offer) {
		s.say(m.Reply, take, 0, note{Worker: "frozen"})
		inboxes <- m.Reply
	})
	done := w.inBackground("page")
	inbox := <-inboxes
	w.worker(1, echo)
	w.fails(done, nil)
	s.say(inbox, finished, 0, result{Data: 4, Format: uint8(unink.PNG), Width: 1, Height: 1})
	s.say(inbox, piece, 0, []byte("late"))
	w.clean("another page")
}

// A cleaner that hangs is noticed though its process lives, and ends its worker.
func TestHungCleaner(t *testing.T) {
	w := newWorld(t, nil)
	release := make(chan struct{})
	started := make(chan struct{})
	hung := w.workerThatMayFail(1, func(_ context.Context, image []byte, o unink.Options) (
		*unink.Result, error,
	) {
		close(started)
		<-release
		return answer(image, o), nil
	})
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := w.Clean(ctx, []byte("page"), unink.Options{})
		done <- err
	}()
	<-started
	w.worker(1, echo)
	w.fails(done, nil)
	w.fails(hung.done, errStuck)
	close(release)
}

func TestDeadlineTravels(t *testing.T) {
	w := newWorld(t, nil)
	budgets, ended := make(chan time.Duration, 2), make(chan error, 2)
	w.worker(1, func(ctx context.Context, _ []byte, _ unink.Options) (*unink.Result, error) {
		deadline, _ := ctx.Deadline()
		budgets <- time.Until(deadline)
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, &unink.Error{Code: unink.ErrCanceled, Op: "clean", Message: "stopped", Err: ctx.Err()}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	_, err := w.Clean(ctx, []byte("page"), unink.Options{})
	if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, unink.ErrCanceled) {
		t.Errorf("got %v, want the deadline", err)
	}
	if budget := <-budgets; budget > 2*time.Second {
		t.Errorf("the worker believes to have %v", budget)
	}
	if <-ended == nil {
		t.Error("the worker was not stopped")
	}

	ctx, leave := context.WithCancel(t.Context()) // the client goes away
	done := make(chan error, 1)
	go func() {
		_, err := w.Clean(ctx, []byte("page"), unink.Options{})
		done <- err
	}()
	<-budgets
	leave()
	w.fails(done, context.Canceled)
	if <-ended == nil {
		t.Error("the worker was not stopped")
	}
}

func TestDrain(t *testing.T) {
	w := newWorld(t, nil)
	b := newBlocked()
	leaving := w.workerThatMayFail(2, b.clean)
	done := w.inBackground("page")
	<-b.pages
	leaving.stop()
	w.until("it takes no more", func() bool { return w.workers.slots() == 0 })
	w.fails(w.inBackground("too late"), gate.ErrNoWorker)
	close(b.release)
	w.fails(done, nil)
	if err := <-leaving.done; err != nil {
		t.Error(err)
	}
	if len(b.pages) > 0 {
		t.Errorf("it took %s while it was leaving", <-b.pages)
	}
}

// What it cannot finish in time it gives up, so that others can do it.
func TestDrainTooLong(t *testing.T) {
	w := newWorld(t, nil)
	b := newBlocked()
	leaving := w.workerThatMayFail(1, b.clean)
	leaving.cfg.Drain = 100 * time.Millisecond
	done := w.inBackground("page")
	<-b.pages
	w.worker(1, echo)
	leaving.stop()
	w.fails(done, nil)
	if err := <-leaving.done; err != nil {
		t.Error(err)
	}
}

// The NATS server goes away and comes back, for less than a page waits, and for more.
func TestServerAway(t *testing.T) {
	s := natsServer(t, nil)
	w := &world{t: t, Config: Config{URL: s.ClientURL(), pace: brisk}, log: newLog(t)}
	w.Config.pace.silence = 3 * time.Second
	w.Client = w.client()
	b := newBlocked()
	w.worker(2, b.clean)
	away := func(meanwhile func()) {
		port := s.Addr().(*net.TCPAddr).Port
		s.Shutdown()
		s.WaitForShutdown()
		meanwhile()
		s = natsServer(t, func(o *server.Options) { o.Port = port })
	}
	done := w.inBackground("page")
	<-b.pages
	away(func() {})
	b.release <- struct{}{}
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("a page under way did not survive a short absence: %v", err)
		}
	case <-b.pages: // on a slow machine it was given up, and is being done again
		b.release <- struct{}{}
		w.fails(done, nil)
	}

	away(func() {
		w.until("nobody is known", func() bool { return w.workers.slots() == 0 })
		w.fails(w.inBackground("page"), gate.ErrNoWorker)
	})
	close(b.release)
	w.until("the worker is known again", func() bool { return w.workers.slots() == 2 })
	w.clean("after it came back")
	w.clean("in the other slot")
	w.clean("and again")
}

func TestUnknownOptionIsDeclined(t *testing.T) {
	w := newWorld(t, nil)
	w.worker(1, func(context.Context, []byte, unink.Options) (*unink.Result, error) {
		t.Error("a page was cleaned otherwise than it was asked for")
		return nil, nil
	})
	s := w.stranger()
	answers, err := s.nc.SubscribeSync("answers")
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{
		`{"page":"1","size":4,"budget":1000000000,"options":{"rotateBy":3}}`,
		`{"page":"2","size":0,"budget":1000000000,"options":{}}`,
		`{"page":"3","size":99000000,"budget":1000000000,"options":{}}`,
		`{"page":"4"`,
		``,
	} {
		var m *nats.Msg
		w.until("the worker answers", func() bool { // it takes a moment to listen again
			if err := s.nc.PublishRequest(offers, "answers", []byte(body)); err != nil {
				t.Fatal(err)
			}
			m, err = answers.NextMsg(bounded)
			if err != nil && !errors.Is(err, nats.ErrNoResponders) {
				t.Fatal(err)
			}
			return err == nil
		})
		if k, _ := kindOf(m); k != decline {
			t.Errorf("%s: the worker said %s", body, k)
		}
	}
	// A page that nobody can serve is refused as if nobody was there.
	p := &page{offer: offer{Page: "5", Size: 4, Options: json.RawMessage(`{"rotateBy":3}`)},
		image: []byte("page"), declined: map[string]bool{}}
	if _, err := w.place(w.context(), p, time.Time{}); !errors.Is(err, gate.ErrNoWorker) {
		t.Errorf("got %v, want ErrNoWorker", err)
	}
}

// A worker that does not know what the page before is reads nothing of it among the options.
func TestOlderWorkersCleanWithoutThePageBefore(t *testing.T) {
	wire, err := writeOptions(unink.Options{Before: true})
	if err != nil || string(wire) != "{}" {
		t.Errorf("the options are %s (%v)", wire, err)
	}
}

// A worker that says what makes no sense is one that failed.
func TestNonsense(t *testing.T) {
	type said struct {
		kind     kind
		sequence int
		body     any
	}
	for name, conversation := range map[string][]said{
		"pieces of nothing":      {{piece, 0, []byte("x")}},
		"more than it announced": {{finished, 0, result{Data: 2}}, {piece, 0, []byte("xyz")}},
		"a gap":                  {{finished, 0, result{Data: 20}}, {piece, 1, []byte("xyz")}},
		"no JSON":                {{finished, 0, []byte("{")}},
		"too large a result":     {{finished, 0, result{Data: maxResult + 1}}},
		"a negative part":        {{finished, 0, result{Data: 5, Mask: -4}}},
		"no data":                {{finished, 0, result{Mask: 4}}},
		"overflow":               {{finished, 0, result{Data: 1 << 62, Mask: 1 << 62, Handwriting: 1 << 62}}},
		"too much together":      {{finished, 0, result{Data: maxResult, Before: 1}}},
		"too many acks":          {{acknowledge, 7, []byte{}}},
		"an old ack":             {{acknowledge, -1, []byte{}}},
		"a broken failure":       {{failed, 0, []byte("nothing")}},
		"a broken reason":        {{abandon, 0, []byte("nothing")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			s := w.stranger()
			s.impersonate("mad", func(m *nats.Msg, _ offer) {
				s.say(m.Reply, take, 0, note{Worker: "mad"})
				for _, c := range conversation {
					s.say(m.Reply, c.kind, c.sequence, c.body)
				}
			})
			w.fails(w.inBackground("page"), gate.ErrWorker)
		})
	}
}

func TestConnecting(t *testing.T) {
	open := func(c Config) error {
		client, err := Open(c, newLog(t))
		if err == nil {
			err = client.Close()
		}
		return err
	}
	for _, url := range []string{"", "localhost:4222", "http://localhost", "nats://",
		"nats://user:hunter2@host:port", "nats://ok:4222,nonsense"} {
		if err := open(Config{URL: url}); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", url, err)
		}
	}
	if err := open(Config{URL: "nats://localhost", CA: "/not/there"}); !errors.Is(
		err, os.ErrNotExist,
	) {
		t.Errorf("a missing file: %v", err)
	}
	small := natsServer(t, func(o *server.Options) { o.MaxPayload = 8 << 10 })
	if err := open(Config{URL: small.ClientURL()}); err == nil ||
		!strings.Contains(err.Error(), "max_payload") {
		t.Errorf("too small a max_payload: %v", err)
	}
	guarded := natsServer(t, func(o *server.Options) { o.Username, o.Password = "unink", "hunter2" })
	with := func(user string) string {
		return strings.Replace(guarded.ClientURL(), "nats://", "nats://"+user+"@", 1)
	}
	if err := open(Config{URL: with("unink:hunter2")}); err != nil {
		t.Errorf("with the password: %v", err)
	}
	if err := open(Config{URL: with("unink:hunter3")}); !errors.Is(err, nats.ErrAuthorization) ||
		strings.Contains(err.Error(), "hunter3") {
		t.Errorf("with a wrong password: %v", err)
	}
}

// Workers are killed again and again. Each page ends in its own result, or in an honest error.
func TestRandomKills(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if given, err := strconv.ParseUint(os.Getenv("UNINK_TEST_SEED"), 10, 64); err == nil {
		seed = given
	}
	t.Logf("UNINK_TEST_SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	w := newWorld(t, nil)
	w.log = slog.New(slog.DiscardHandler)
	w.Client = w.client()
	const kills, callers = 200, 6
	cleaning := make(chan struct{}, 1)
	clean := func(ctx context.Context, image []byte, o unink.Options) (*unink.Result, error) {
		select {
		case cleaning <- struct{}{}:
		default:
		}
		select {
		case <-time.After(time.Duration(len(image)%5) * time.Millisecond):
		case <-ctx.Done():
		}
		return answer(image, o), nil
	}
	var hands []*hand
	for range 3 {
		hands = append(hands, w.workerThatMayFail(2, clean))
	}
	stop := make(chan struct{})
	var done, lost atomic.Int32
	var pages sync.WaitGroup
	for c := range callers {
		pages.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				image, o := []byte(strings.Repeat(fmt.Sprint(c, i, " "), 1+i%1000)),
					unink.Options{Layers: i%2 == 0}
				ctx, cancel := context.WithTimeout(t.Context(), bounded)
				res, err := w.Clean(ctx, image, o)
				cancel()
				switch {
				case err == nil && bytes.Equal(res.Data, answer(image, o).Data):
					done.Add(1)
				case errors.Is(err, gate.ErrWorker), errors.Is(err, gate.ErrNoWorker):
					lost.Add(1)
				default:
					t.Errorf("page %d of %d: %v", i, c, err)
				}
			}
		})
	}
	var all []*hand
	for range kills {
		<-cleaning
		i := rng.IntN(len(hands))
		hands[i].kill()
		all = append(all, hands[i])
		hands[i] = w.hire(2, clean)
	}
	close(stop)
	pages.Wait()
	for _, h := range all {
		<-h.done //nolint:errcheck // a killed one may end with any
	}
	for _, h := range hands {
		h.stop()
		if err := <-h.done; err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d kills: %d pages clean, %d ended in an error, %v were tried again", kills, done.Load(),
		lost.Load(), value(w.counts.retries))
	if done.Load() == 0 || lost.Load() > kills {
		t.Errorf("%d pages clean, %d lost", done.Load(), lost.Load())
	}
}

// The settings that are shipped for NATS let both sides do what they need, and nothing else.
func TestShippedPermissions(t *testing.T) {
	t.Setenv("UNINK_NATS_SERVICE_PASSWORD", "one")
	t.Setenv("UNINK_NATS_WORKER_PASSWORD", "two")
	shipped, err := server.ProcessConfigFile("../../deploy/kubernetes/nats.conf")
	if err != nil {
		t.Fatal(err)
	}
	s := natsServer(t, func(o *server.Options) {
		o.Users, o.MaxPayload, o.MaxPending = shipped.Users, shipped.MaxPayload, shipped.MaxPending
	})
	as := func(user string) Config {
		return Config{URL: strings.Replace(s.ClientURL(), "nats://", "nats://"+user+"@", 1), pace: brisk}
	}
	w := &world{t: t, Config: as("service:one"), log: newLog(t)}
	w.Client = w.client()
	w.Config = as("worker:two")
	w.worker(1, echo)
	eavesdropper, err := nats.Connect(as("service:one").URL,
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		t.Fatal(err)
	}
	defer eavesdropper.Close()
	heard, err := eavesdropper.SubscribeSync(offers)
	if err := errors.Join(err, eavesdropper.Flush()); err != nil {
		t.Fatal(err)
	}
	w.clean("page")
	if m, err := heard.NextMsg(time.Millisecond); err == nil {
		t.Errorf("another service heard %s", m.Data)
	}
}
