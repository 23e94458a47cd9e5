package limit_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"unink/internal/ident"
	"unink/internal/limit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clock is a time that tests set.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.Unix(1_800_000_000, 0)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// subject is a Limiter and its time. Redis has its own clock, which advance cannot set: there the
// time of the machine passes by itself.
type subject struct {
	limit.Limiter
	now     func() time.Time
	advance func(time.Duration)
	unit    time.Duration // windows of a few of these are long enough to fill, short enough to pass
}

func each(t *testing.T, test func(t *testing.T, s subject)) {
	t.Run("memory", func(t *testing.T) {
		c := newClock()
		test(t, subject{limit.NewMemory(limit.DefaultKeys, c.now), c.now, c.advance, time.Second})
	})
	t.Run("redis", func(t *testing.T) {
		// To the microsecond, as Redis has it, and without the monotonic time.
		now := func() time.Time { return time.Now().Truncate(time.Microsecond) }
		test(t, subject{redisAt(t, redisURL()), now, func(time.Duration) {}, time.Millisecond})
	})
}

func redisURL() string {
	if address := os.Getenv("UNINK_TEST_REDIS"); address != "" {
		return address
	}
	return "redis://127.0.0.1:56379"
}

// redisAt is a Redis until the test ends. Its keys expire by themselves; tests take keys that no
// other test has.
func redisAt(t *testing.T, address string) *limit.Redis {
	t.Helper()
	r, err := limit.NewRedis(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func (s subject) ask(t interface{ Fatal(...any) }, b *book, keys ...string) limit.Verdict {
	begin := s.now()
	v, err := s.Allow(context.Background(), keys, b.windows)
	if err != nil {
		t.Fatal("Redis is needed: run make services: ", err)
	}
	if err := b.add(call{begin, s.now(), keys, v}); err != nil {
		t.Fatal(err)
	}
	return v
}

func minuteAndHour() []limit.Window {
	return []limit.Window{
		{Name: "minute", Limit: 5, Every: time.Minute},
		{Name: "hour", Limit: 30, Every: time.Hour},
	}
}

func TestEveryVerdictIsJustified(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		rapid.Check(t, func(t *rapid.T) {
			b := &book{windows: []limit.Window{
				{Name: "short", Limit: rapid.IntRange(1, 4).Draw(t, "short limit"), Every: s.unit},
				{Name: "long", Limit: rapid.IntRange(1, 9).Draw(t, "long limit"), Every: 4 * s.unit},
			}}
			run := ident.New("test")
			var last limit.Verdict
			var lastKeys []string
			for range rapid.IntRange(1, 60).Draw(t, "requests") {
				pause := time.Duration(rapid.Int64Range(0, int64(s.unit)).Draw(t, "pause"))
				keys := rapid.SampledFrom(
					[][]string{{"a"}, {"b"}, {"a", "b"}, {"b", "c"}, {"c", "c"}},
				).Draw(t, "keys")
				for i, key := range keys {
					keys[i] = run + key[len(key)-1:]
				}
				again := !last.OK && lastKeys != nil && rapid.Bool().Draw(t, "asks again in time")
				if again {
					pause, keys = last.RetryAfter, lastKeys
				}
				s.advance(pause)
				last, lastKeys = s.ask(t, b, keys...), keys
			}
		})
	})
}

func TestRetryAfterIsExact(t *testing.T) {
	windows := minuteAndHour()
	c := newClock()
	m := limit.NewMemory(limit.DefaultKeys, c.now)
	passes := func() limit.Verdict {
		v, err := m.Allow(context.Background(), []string{"a"}, windows)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for n := range 30 {
		if n > 0 && n%5 == 0 {
			c.advance(passes().RetryAfter - 1)
			if passes().OK {
				t.Fatal("passes too early")
			}
			c.advance(1)
		}
		if v := passes(); !v.OK {
			t.Fatalf("request %d: %+v", n, v)
		}
	}
	want := limit.Verdict{Window: "hour", RetryAfter: 55 * time.Minute}
	if v := passes(); v != want {
		t.Errorf("verdict is %+v, want %+v", v, want)
	}
}

func TestRedisPassesAgainInTime(t *testing.T) {
	r := redisAt(t, redisURL())
	s := subject{Limiter: r, now: func() time.Time { return time.Now().Truncate(time.Microsecond) }}
	b := &book{windows: []limit.Window{{Name: "short", Limit: 3, Every: 50 * time.Millisecond}}}
	key := ident.New("test")
	for range 3 {
		s.ask(t, b, key)
	}
	deadline := time.Now().Add(10 * time.Second)
	for passed := 0; passed < 6; {
		if time.Now().After(deadline) {
			t.Fatal("does not pass again")
		}
		if s.ask(t, b, key).OK { // the book sees to it that it is neither early nor late
			passed++
		}
	}
}

// What Redis keeps of a key is as much as its greatest limit, ends by itself, and does not show the
// key.
func TestRedisIsBounded(t *testing.T) {
	ctx := context.Background()
	key := ident.New("test")
	r := redisAt(t, redisURL())
	windows := []limit.Window{{Name: "short", Limit: 3, Every: time.Millisecond},
		{Name: "long", Limit: 4, Every: 2 * time.Millisecond}}
	deadline := time.Now().Add(10 * time.Second)
	for passed := 0; passed < 10; {
		v, err := r.Allow(ctx, []string{key}, windows)
		if err != nil || time.Now().After(deadline) {
			t.Fatal("requests do not pass: ", err)
		}
		if v.OK {
			passed++
		}
	}
	client, err := redis.DialURL(redisURL())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	hash := sha256.Sum256([]byte(key))
	name := "unink:limit:" + base64.RawURLEncoding.EncodeToString(hash[:16])
	if n, err := redis.Int(client.Do("ZCARD", name)); err != nil || n != 4 {
		t.Errorf("%d requests are kept, %v, want 4", n, err)
	}
	if left, err := redis.Int(client.Do("PTTL", name)); err != nil || left <= 0 || left > 2000 {
		t.Errorf("the key ends in %v ms, %v", left, err)
	}
}

func TestAllOrNothing(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		run := ident.New("test")
		b := &book{windows: []limit.Window{{Name: "day", Limit: 3, Every: 24 * time.Hour}}}
		address := run + "address"
		for n := range 3 {
			if v := s.ask(t, b, fmt.Sprint(run, n), address); !v.OK {
				t.Fatalf("device %d: %+v", n, v)
			}
		}
		device := run + "another"
		for range 5 {
			if v := s.ask(t, b, device, address); v.OK || v.Window != "day" {
				t.Fatalf("the address is used up, verdict is %+v", v)
			}
		}
		for range 3 {
			if v := s.ask(t, b, device); !v.OK {
				t.Fatalf("refused requests were counted: %+v", v)
			}
		}
	})
}

func TestManyAtOnce(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		key := ident.New("test")
		var passed atomic.Int64
		var group sync.WaitGroup
		for range 200 {
			group.Go(func() {
				v, err := s.Allow(context.Background(), []string{key}, minuteAndHour())
				if err != nil {
					t.Error(err)
				}
				if v.OK {
					passed.Add(1)
				}
			})
		}
		group.Wait()
		if n := passed.Load(); n != 5 {
			t.Errorf("%d pass, want 5", n)
		}
	})
}

// A thousand requests from fifty callers over some hours, each caller its own way: some in bursts,
// some again as soon as they may.
func TestThousandRequests(t *testing.T) {
	c := newClock()
	s := subject{Limiter: limit.NewMemory(limit.DefaultKeys, c.now), now: c.now}
	books := make([]*book, 50)
	due := make([]time.Time, len(books))
	for i := range books {
		books[i] = &book{windows: minuteAndHour()}
		due[i] = c.now()
	}
	random := rand.New(rand.NewPCG(1, 2))
	refused := map[string]int{}
	for range 4000 {
		next := 0
		for i := range due {
			if due[i].Before(due[next]) {
				next = i
			}
		}
		c.advance(due[next].Sub(c.now()))
		v := s.ask(t, books[next], fmt.Sprint("caller", next))
		refused[v.Window]++
		pause := time.Duration(random.Int64N(int64(10 * time.Second)))
		if !v.OK && next%2 == 0 {
			pause = v.RetryAfter
		}
		due[next] = due[next].Add(pause)
	}
	if refused[""] < 1000 || refused["minute"] == 0 || refused["hour"] == 0 {
		t.Errorf("verdicts by window are %v: the test does not try what it should", refused)
	}
}

func TestBadWindows(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		for want, w := range map[string]limit.Window{
			"at least 1, not 0":      {Name: "w", Limit: 0, Every: time.Second},
			"at least 1ms, not -1ns": {Name: "w", Limit: 1, Every: -1},
		} {
			_, err := s.Allow(context.Background(), []string{"a"}, []limit.Window{w})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error is %v, want %q", err, want)
			}
		}
		v, err := s.Allow(context.Background(), nil, minuteAndHour())
		if err != nil || !v.OK {
			t.Errorf("without a key: %+v, %v", v, err)
		}
	})
}

func TestMemoryIsBounded(t *testing.T) {
	windows := minuteAndHour()
	c := newClock()
	m := limit.NewMemory(100, c.now)
	allow := func(keys ...string) limit.Verdict {
		v, err := m.Allow(context.Background(), keys, windows)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for n := range 100 {
		if v := allow(fmt.Sprint(n)); !v.OK {
			t.Fatalf("key %d: %+v", n, v)
		}
		c.advance(time.Second)
	}
	want := limit.Verdict{Window: "hour", RetryAfter: time.Hour - 100*time.Second}
	if v := allow("new"); v != want {
		t.Fatalf("a new key without room: %+v, want %+v", v, want)
	}
	m.Record([]string{"new"}, windows)
	if !allow("7").OK {
		t.Error("a known key is refused for want of room")
	}
	c.advance(want.RetryAfter - 1)
	if allow("new").OK {
		t.Error("a new key passes before there is room")
	}
	c.advance(1)
	if !allow("new").OK {
		t.Error("a new key does not pass when the first one has ended")
	}
	if allow("8", "other", "another").OK {
		t.Error("two new keys share one place")
	}
	c.advance(time.Hour)
	if n := m.Keys(); n != 0 {
		t.Errorf("%d keys are held when none counts any more", n)
	}
}

func TestNewRedisHidesThePassword(t *testing.T) {
	for _, address := range []string{"redis://u:sec/ret@host:1", "redis://:secret%@host",
		"http://u:secret@host", "redis:u:secret", "redis://host/secret"} {
		_, err := limit.NewRedis(address)
		if err == nil || strings.Contains(err.Error(), "sec") {
			t.Errorf("%s: error is %v", address, err)
		}
	}
}

func TestSlots(t *testing.T) {
	s := limit.NewSlots(2)
	first, ok1 := s.Acquire("a")
	second, ok2 := s.Acquire("a")
	none, ok3 := s.Acquire("a")
	_, other := s.Acquire("b")
	if !ok1 || !ok2 || ok3 || !other {
		t.Fatalf("got slots %v %v %v, other key %v", ok1, ok2, ok3, other)
	}
	none()
	if _, ok := s.Acquire("a"); ok {
		t.Error("the release of a refused request freed a slot")
	}
	first()
	first()
	if _, ok := s.Acquire("a"); !ok {
		t.Error("a released slot is not free")
	}
	if _, ok := s.Acquire("a"); ok {
		t.Error("a slot released twice was freed twice")
	}
	second()
	if _, ok := s.Acquire("a"); !ok {
		t.Error("the second slot is not free")
	}
}

func TestSlotsAtOnce(t *testing.T) {
	s := limit.NewSlots(4)
	var running, got atomic.Int64
	var group sync.WaitGroup
	for range 200 {
		group.Go(func() {
			release, ok := s.Acquire("a")
			defer release()
			if !ok {
				return
			}
			got.Add(1)
			if n := running.Add(1); n > 4 {
				t.Errorf("%d run at once", n)
			}
			running.Add(-1)
		})
	}
	group.Wait()
	if got.Load() == 0 {
		t.Error("nobody got a slot")
	}
}

func TestThrottle(t *testing.T) {
	c := newClock()
	windows := []limit.Window{{Name: "minute", Limit: 2, Every: time.Minute}}
	slower := []limit.Window{{Name: "second", Limit: 1, Every: time.Second}}
	throttle := limit.NewThrottle(limit.NewMemory(10, c.now), windows, slower)
	for n, attempt := range []struct{ pause, want time.Duration }{
		{0, 0}, {0, 0}, {20 * time.Second, 40 * time.Second}, {20 * time.Second, 20 * time.Second}, {20 * time.Second, 0},
	} {
		c.advance(attempt.pause)
		wait, err := throttle.Allow(context.Background(), "account")
		if err != nil || wait != attempt.want {
			t.Errorf("attempt %d: wait is %v, %v, want %v", n, wait, err, attempt.want)
		}
	}
	for n, want := range []time.Duration{0, time.Second} {
		if wait, err := throttle.Slow(context.Background(), "shared"); err != nil || wait != want {
			t.Errorf("slow attempt %d: wait is %v, %v, want %v", n, wait, err, want)
		}
	}
	broken := limit.NewThrottle(limit.NewMemory(10, c.now), []limit.Window{{}}, slower)
	if _, err := broken.Allow(context.Background(), "account"); err == nil {
		t.Error("no error without a verdict")
	}
}
