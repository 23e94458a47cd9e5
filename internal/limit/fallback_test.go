package limit_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"unink/internal/ident"
	"unink/internal/limit"
)

// line is a TCP connection to Redis that can be cut, and put together again.
type line struct {
	t       *testing.T
	to      string
	address string

	mu       sync.Mutex
	listener net.Listener
	open     []net.Conn
	group    sync.WaitGroup
}

func newLine(t *testing.T) *line {
	server, err := url.Parse(redisURL())
	if err != nil {
		t.Fatal(err)
	}
	l := &line{t: t, to: server.Host, address: "127.0.0.1:0"}
	l.mend()
	t.Cleanup(l.cut)
	return l
}

func (l *line) mend() {
	listener, err := net.Listen("tcp", l.address)
	if err != nil {
		l.t.Fatal(err)
	}
	l.listener, l.address = listener, listener.Addr().String()
	l.group.Go(l.accept)
}

func (l *line) accept() {
	for {
		from, err := l.listener.Accept()
		if err != nil {
			return
		}
		l.join(from)
	}
}

func (l *line) join(from net.Conn) {
	to, err := net.Dial("tcp", l.to)
	if err != nil {
		_ = from.Close()
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = append(l.open, from, to)
	for _, pair := range [][2]net.Conn{{from, to}, {to, from}} {
		l.group.Go(func() {
			_, _ = io.Copy(pair[0], pair[1])
			_ = pair[0].Close()
		})
	}
}

func (l *line) cut() {
	_ = l.listener.Close()
	l.mu.Lock()
	for _, c := range l.open {
		_ = c.Close()
	}
	l.open = nil
	l.mu.Unlock()
	l.group.Wait()
}

func TestFallbackKeepsTheWindows(t *testing.T) {
	l := newLine(t)
	c := newClock()
	var logged bytes.Buffer
	f := limit.NewFallback(redisAt(t, "redis://"+l.address), limit.NewMemory(limit.DefaultKeys, c.now),
		slog.New(slog.NewTextHandler(&logged, nil)))
	key := ident.New("test")
	expect := func(want ...bool) {
		t.Helper()
		for n, want := range want {
			v, err := f.Allow(context.Background(), []string{key}, minuteAndHour())
			if err != nil || v.OK != want {
				t.Fatalf("request %d: %+v, %v, want %v", n, v, err, want)
			}
		}
	}
	state := func(degraded bool, fallbacks uint64) {
		t.Helper()
		if f.Degraded() != degraded || f.Fallbacks() != fallbacks {
			t.Fatalf("degraded %v with %d fallbacks, want %v with %d", f.Degraded(), f.Fallbacks(),
				degraded, fallbacks)
		}
	}

	expect(true, true, true) // by Redis
	state(false, 0)
	l.cut()
	expect(true, true, false) // by memory, which knows the first three
	state(true, 3)
	c.advance(3 * time.Second)
	expect(false)
	state(true, 4)

	l.mend()
	expect(false) // Redis knows of three requests only, and may not decide alone
	c.advance(time.Minute)
	expect(true, true) // the minute has passed in memory, not in Redis, which has room for two
	state(false, 5)
	for range 8 { // refused by Redis: memory must not count them
		expect(false)
	}
	state(false, 5)
	l.cut()
	expect(true, true, true, false)
	state(true, 9)
	if text := logged.String(); strings.Count(text, "counted in memory") != 2 ||
		strings.Count(text, "Redis again") != 1 {
		t.Errorf("the log says:\n%s", text)
	}
}

// fake is a primary Limiter that fails when it is told to.
type fake struct {
	limit.Limiter
	err   error
	calls int
}

func (f *fake) Allow(ctx context.Context, keys []string,
	windows []limit.Window) (limit.Verdict, error) {
	f.calls++
	if f.err != nil {
		return limit.Verdict{}, f.err
	}
	return f.Limiter.Allow(ctx, keys, windows)
}

func TestFallbackLeavesRedisAlone(t *testing.T) {
	c := newClock()
	primary := &fake{limit.NewMemory(100, c.now), errors.New("away"), 0}
	f := limit.NewFallback(primary, limit.NewMemory(100, c.now), slog.New(slog.DiscardHandler))
	ask := func(key string) limit.Verdict {
		t.Helper()
		v, err := f.Allow(context.Background(), []string{key}, minuteAndHour())
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for range 20 {
		ask("greedy")
	}
	if primary.calls != 1 {
		t.Errorf("asked %d times in one moment, want once", primary.calls)
	}
	c.advance(2 * time.Second)
	ask("greedy") // has no place anyway, and must not use up the turn to try again
	primary.err = nil
	if !ask("modest").OK || f.Degraded() {
		t.Error("the primary was not tried again after the pause")
	}
}

func TestFallbackRemembersAnOutage(t *testing.T) {
	c := newClock()
	primary := &fake{limit.NewMemory(100, c.now), errors.New("away"), 0}
	memory := limit.NewMemory(100, c.now)
	f := limit.NewFallback(primary, memory, slog.New(slog.DiscardHandler))
	windows := []limit.Window{{Name: "hour", Limit: 5, Every: time.Hour}}
	passes := func(key string) bool {
		t.Helper()
		v, err := f.Allow(context.Background(), []string{key}, windows)
		if err != nil {
			t.Fatal(err)
		}
		return v.OK
	}
	passes("b")
	c.advance(1900 * time.Millisecond) // the primary is not tried yet
	for range 5 {
		passes("a")
	}
	c.advance(time.Hour - time.Second)
	primary.err = nil
	if !passes("b") || f.Degraded() {
		t.Fatal("the primary does not decide again")
	}
	if passes("a") {
		t.Error("the primary decides alone, without knowing what passed in the outage")
	}
	c.advance(time.Hour)
	for range 5 {
		memory.Record([]string{"a"}, windows)
	}
	if !passes("a") {
		t.Error("memory still decides when nothing that passed in the outage counts any more")
	}
}

func TestFallbackHearsTheCaller(t *testing.T) {
	c := newClock()
	r := redisAt(t, redisURL())
	f := limit.NewFallback(r, limit.NewMemory(100, c.now), slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := f.Allow(ctx, []string{ident.New("test")}, minuteAndHour()); !errors.Is(
		err, context.Canceled,
	) {
		t.Errorf("error is %v", err)
	}
	if f.Degraded() {
		t.Error("a caller who went away is taken for a failure of Redis")
	}
	if _, err := f.Allow(context.Background(), []string{"a"}, []limit.Window{{}}); err == nil ||
		f.Degraded() {
		t.Errorf("bad window: error %v, degraded %v", err, f.Degraded())
	}
}

// A Redis that takes connections and says nothing must not hold requests.
func TestFallbackFromSilence(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	c := newClock()
	f := limit.NewFallback(redisAt(t, "redis://"+silent.Addr().String()), limit.NewMemory(100, c.now),
		slog.New(slog.DiscardHandler))
	// It ends: the caller's context, which does not, is no help.
	v, err := f.Allow(context.Background(), []string{"a"}, minuteAndHour())
	if err != nil || !v.OK || !f.Degraded() {
		t.Errorf("%+v, %v, degraded %v", v, err, f.Degraded())
	}
}

// A Redis on the same machine may be reached by its socket in the file system.
func TestRedisOnAUnixSocket(t *testing.T) {
	server, err := url.Parse(redisURL())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "redis.sock")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	l := &line{t: t, to: server.Host, listener: listener}
	l.group.Go(l.accept)
	t.Cleanup(l.cut)
	windows := []limit.Window{{Name: "day", Limit: 1, Every: 24 * time.Hour}}
	r, key := redisAt(t, "unix://"+path), ident.New("test")
	for _, want := range []bool{true, false} {
		if v, err := r.Allow(t.Context(), []string{key}, windows); err != nil || v.OK != want {
			t.Errorf("%+v, %v, want %v", v, err, want)
		}
	}
}
