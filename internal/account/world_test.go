package account_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"unink/internal/account"
	"unink/internal/store"
	"unink/internal/store/storetest"
)

const (
	email    = "ann@example.com"
	password = "correct horse battery"
	other    = "staple correct horse"
	address  = "192.0.2.7"
	agent    = "Firefox · Linux"
)

var (
	secret = []byte("0123456789abcdef0123456789abcdef")
	began  = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
)

// quick is a configuration with cheap passwords.
func quick() account.Config {
	return account.Config{Secret: secret, Argon: account.Argon{Memory: 64, Passes: 1, Lanes: 1}}
}

// world is a service with all that it talks to.
type world struct {
	*account.Service
	t        *testing.T
	ctx      context.Context
	hashing  *account.Hashing
	mu       sync.Mutex
	clock    time.Time
	mails    []account.Notice
	mailDown error
	attempts []string
	wait     map[string]time.Duration // the prefix of a key → how long it must wait
	down     error                    // of the throttle
}

// each runs a test on both databases.
func each(t *testing.T, test func(w *world)) {
	t.Helper()
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) { test(newWorld(t, db, quick())) })
}

func newWorld(t *testing.T, db *store.DB, c account.Config) *world {
	t.Helper()
	w := &world{t: t, ctx: t.Context(), clock: began, wait: map[string]time.Duration{}}
	s, err := account.New(c, store.NewAccounts(db), w, w, w.now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	w.Service, w.hashing = s, s.WatchHashing()
	return w
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.clock
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clock = w.clock.Add(d)
}

// anonymous establishes the account of a device, of which a network address may make 3 a day.
func (w *world) anonymous(device, address string) (account.User, bool, error) {
	return w.Anonymous(w.ctx, device, address, 3)
}

// Send implements account.Mailer.
func (w *world) Send(_ context.Context, n account.Notice) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mailDown == nil {
		w.mails = append(w.mails, n)
	}
	return w.mailDown
}

// Allow implements account.Throttle.
func (w *world) Allow(_ context.Context, key string) (time.Duration, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.attempts = append(w.attempts, key)
	for prefix, wait := range w.wait {
		if len(key) >= len(prefix) && key[:len(prefix)] == prefix {
			return wait, w.down
		}
	}
	return 0, w.down
}

// Slow implements account.Throttle.
func (w *world) Slow(ctx context.Context, key string) (time.Duration, error) {
	return w.Allow(ctx, key)
}

// mail is the last mail, which must be of a kind.
func (w *world) mail(kind string) account.Notice {
	w.t.Helper()
	if len(w.mails) == 0 || w.mails[len(w.mails)-1].Kind != kind {
		w.t.Fatalf("mails are %v, want the last to be %s", w.mails, kind)
	}
	return w.mails[len(w.mails)-1]
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) refused(err, want error) {
	w.t.Helper()
	if !errors.Is(err, want) {
		w.t.Fatalf("error is %v, want %v", err, want)
	}
}

// user makes a verified user, and logs in.
func (w *world) user() (account.User, string) {
	w.t.Helper()
	_, err := w.CreateUser(w.ctx, email, password, "")
	w.must(err)
	token, u, err := w.LogIn(w.ctx, email, password, address, agent)
	w.must(err)
	return u, token
}

// logIn is LogIn's error.
func (w *world) logIn(email, password string) error {
	_, _, err := w.LogIn(w.ctx, email, password, address, agent)
	return err
}

// session is Session's error.
func (w *world) session(token string) error {
	_, err := w.Session(w.ctx, token)
	return err
}

// atOnce runs do n times at the same time and returns how often it succeeded; other errors than
// want fail the test.
func (w *world) atOnce(n int, want error, do func(i int) error) int {
	w.t.Helper()
	var all sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		all.Go(func() { errs[i] = do(i) })
	}
	all.Wait()
	succeeded := 0
	for _, err := range errs {
		switch {
		case err == nil:
			succeeded++
		case !errors.Is(err, want):
			w.t.Errorf("error is %v, want %v", err, want)
		}
	}
	return succeeded
}

func (w *world) reset(token, password string) error {
	_, err := w.Reset(w.ctx, token, password, address)
	return err
}
