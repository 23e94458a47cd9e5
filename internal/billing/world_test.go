package billing_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"unink/internal/account"
	"unink/internal/billing"
	"unink/internal/credit"
	"unink/internal/mail"
	"unink/internal/store"
	"unink/internal/store/storetest"
)

// world is the real accounts, credits and outbox on a real database, with faults on the way to
// them.
type world struct {
	t         *testing.T
	raw       *sql.DB
	purchases store.Purchases
	accounts  *account.Service
	credits   *credit.Service
	outbox    *mail.Outbox
	faults    *faults
	logged    *lines

	mu   sync.Mutex
	time time.Time
	sent []mail.Message
}

// each runs a test in a new world on each database.
func each(t *testing.T, test func(t *testing.T, w *world)) {
	storetest.EachURL(t, func(t *testing.T, address string) { test(t, newWorld(t, address)) })
}

func newWorld(t *testing.T, address string) *world {
	t.Helper()
	db := storetest.Open(t, address)
	driver, name := "pgx", address
	if path, lite := strings.CutPrefix(address, "sqlite:"); lite {
		driver, name = "sqlite", path
	}
	raw, err := sql.Open(driver, name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = raw.Close() })
	w := &world{
		t: t, raw: raw, purchases: store.NewPurchases(db), faults: &faults{}, logged: &lines{},
		time: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC),
	}
	w.outbox = mail.New(store.NewMails(db), w, w.now, slog.New(slog.DiscardHandler))
	w.accounts, err = account.New(account.Config{
		Secret: []byte("0123456789abcdef0123456789abcdef"),
		Argon:  account.Argon{Memory: 8, Passes: 1, Lanes: 1},
	}, store.NewAccounts(db), nil, nil, w.now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	w.credits, err = credit.New(store.NewCredits(db), credit.DefaultConfig(), w.now)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.time
}

func (w *world) advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.time = w.time.Add(d)
}

// Send takes the mails of the outbox.
func (w *world) Send(_ context.Context, m mail.Message, _ string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent = append(w.sent, m)
	return nil
}

// deliverer makes one as a process of its own would.
func (w *world) deliverer() *billing.Deliverer {
	log := slog.New(slog.NewTextHandler(w.logged, nil))
	return billing.NewDeliverer(faultyStore{w.purchases, w.faults}, catalogue{}, customers{w},
		packages{w}, mails{w}, buyers{w}, w.now, log)
}

func (w *world) deliver(d *billing.Deliverer, p billing.Purchase) billing.Delivery {
	w.t.Helper()
	delivery, err := d.Deliver(w.t.Context(), p)
	if err != nil {
		w.t.Fatal(err)
	}
	return delivery
}

func (w *world) revoke(d *billing.Deliverer, reference string) {
	w.t.Helper()
	if err := d.Revoke(w.t.Context(), reference, "refunded"); err != nil {
		w.t.Fatal(err)
	}
}

var tokenForm = regexp.MustCompile(`unk_\w+`)

// mailed returns the tokens in the mails to an address.
func (w *world) mailed(to string) (tokens []string) {
	w.t.Helper()
	if _, err := w.outbox.SendDue(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.sent {
		if m.To == to {
			tokens = append(tokens, tokenForm.FindString(m.Text))
		}
	}
	return tokens
}

func (w *world) count(query string, args ...any) (n int) {
	w.t.Helper()
	if err := w.raw.QueryRow(query, args...).Scan(&n); err != nil {
		w.t.Fatal(err)
	}
	return n
}

func (w *world) liveTokens(email string) int {
	w.t.Helper()
	return w.count(`SELECT COUNT(*) FROM customer_tokens t JOIN customers c ON c.id = t.customer_id
		WHERE c.email = $1 AND (t.ends = 0 OR t.ends > $2)`, email, w.now().UnixMicro())
}

// wantOne checks that a buyer of one developer plan has one of each.
func (w *world) wantOne(email string, credits int) {
	w.t.Helper()
	tokens := w.mailed(email)
	if len(tokens) != 1 {
		w.t.Fatalf("%s has %d mails", email, len(tokens))
	}
	c, err := w.accounts.Authenticate(w.t.Context(), tokens[0])
	if err != nil || c.Email != email {
		w.t.Fatalf("the token in the mail to %s is of %+v, %v", email, c, err)
	}
	if n := w.liveTokens(email); n != 1 {
		w.t.Errorf("%s has %d live tokens", email, n)
	}
	if n := w.count(`SELECT COUNT(*) FROM customers WHERE email = $1`, email); n != 1 {
		w.t.Errorf("%s is %d customers", email, n)
	}
	w.wantPackage("customer:"+c.ID, credits)
}

func (w *world) wantPackage(owner string, credits int) {
	w.t.Helper()
	packs, err := w.credits.Packages(w.t.Context(), owner)
	if err != nil || len(packs) != 1 || packs[0].Remaining != credits {
		w.t.Errorf("%s has the packages %+v, %v, want one with %d credits", owner, packs, err, credits)
	}
}

// wantNothing checks that a buyer has neither credits nor credentials.
func (w *world) wantNothing(email string) {
	w.t.Helper()
	if tokens := w.mailed(email); len(tokens) != 0 {
		w.t.Errorf("%s has %d mails", email, len(tokens))
	}
	if n := w.liveTokens(email); n != 0 {
		w.t.Errorf("%s has %d live tokens", email, n)
	}
	if n := w.count(`SELECT COALESCE(SUM(remaining), 0) FROM packages p JOIN customers c ON p.owner = 'customer:' || c.id
		WHERE c.email = $1`, email); n != 0 {
		w.t.Errorf("%s has %d credits", email, n)
	}
}

// What follows is what the program's wiring does, with a fault before and after each step.

type catalogue struct{}

func (catalogue) Plan(id string) (billing.Plan, bool) {
	p, known := credit.DefaultCatalogue().Plan(id)
	return billing.Plan{ID: p.ID, Name: p.Name, Developer: p.Entry == credit.Developer,
		Cents: int64(p.Cents), Currency: p.Currency}, known
}

type customers struct{ w *world }

func (c customers) Customer(ctx context.Context,
	p billing.Purchase) (made billing.Customer, err error) {
	return made, c.w.faults.around(func() error {
		found, _, err := c.w.accounts.CreateCustomer(ctx, p.Email, p.Name, p.Slug, p.Reference)
		var input *account.InputError
		if errors.Is(err, account.ErrExists) || errors.As(err, &input) && input.Field == "slug" {
			return billing.ErrSlug
		}
		made = billing.Customer{ID: found.ID, Slug: found.Slug, AppCode: found.AppCode}
		return err
	})
}

const forever = 100 * 365 * 24 * time.Hour

func (c customers) NewToken(ctx context.Context, customerID string,
	only bool) (id, token string, err error) {
	grace := forever
	if only {
		grace = 0
	}
	return id, token, c.w.faults.around(func() (err error) {
		token, id, err = c.w.accounts.NewToken(ctx, customerID, grace)
		return err
	})
}

func (c customers) RevokeToken(ctx context.Context, id string) error {
	return c.w.faults.around(func() error { return c.w.accounts.RevokeToken(ctx, id) })
}

type packages struct{ w *world }

func (p packages) Grant(ctx context.Context, owner, planID,
	source string) (pack billing.Package, err error) {
	return pack, p.w.faults.around(func() error {
		plan, _ := credit.DefaultCatalogue().Plan(planID)
		got, _, err := p.w.credits.Grant(ctx, credit.Grant{
			Owner: owner, Plan: plan.ID, Credits: plan.Credits, Expires: plan.Expires(p.w.now()),
			Source: source,
		})
		pack = billing.Package{Credits: int64(got.Credits), Expires: got.Expires,
			Revoked: !got.Revoked.IsZero()}
		return err
	})
}

func (p packages) Revoke(ctx context.Context, source, why string) error {
	return p.w.faults.around(func() error {
		_, err := p.w.credits.Revoke(ctx, source, why)
		return err
	})
}

type mails struct{ w *world }

func (m mails) Queued(ctx context.Context, key string) (bool, error) {
	return m.w.outbox.Queued(ctx, key)
}

func (m mails) Credentials(ctx context.Context, key, to string,
	c billing.Credentials) (queued bool, err error) {
	return queued, m.w.faults.around(func() error {
		message, err := mail.Render(mail.KindCredentials, to, mail.CredentialsData{
			URL: "https://" + c.Customer.Slug + ".api.example.com", AppCode: c.Customer.AppCode,
			Token: c.Token,
			Plan:  c.Plan.Name, Credits: c.Package.Credits, Expires: c.Package.Expires,
		})
		if err != nil {
			return err
		}
		message.Key = key
		queued, err = m.w.outbox.Enqueue(ctx, message)
		return err
	})
}

type buyers struct{ w *world }

func (b buyers) Bought(ctx context.Context, userID string) error {
	return b.w.faults.around(func() error {
		err := b.w.accounts.SetBought(ctx, userID)
		if errors.Is(err, account.ErrNotFound) {
			return billing.ErrRefused
		}
		return err
	})
}

// faultyStore has faults around what changes a purchase.
type faultyStore struct {
	billing.Store
	faults *faults
}

func (s faultyStore) Begin(ctx context.Context, p billing.Purchase, now,
	lease time.Time) (r billing.Record, err error) {
	return r, s.faults.around(func() (err error) {
		r, err = s.Store.Begin(ctx, p, now, lease)
		return err
	})
}

func (s faultyStore) Note(ctx context.Context, reference string, attempt int, customerID,
	token string) (noted bool, err error) {
	return noted, s.faults.around(func() (err error) {
		noted, err = s.Store.Note(ctx, reference, attempt, customerID, token)
		return err
	})
}

func (s faultyStore) Finish(ctx context.Context, reference string, attempt int,
	now time.Time) error {
	return s.faults.around(func() error { return s.Store.Finish(ctx, reference, attempt, now) })
}

func (s faultyStore) Abandon(ctx context.Context, reference string, attempt int) error {
	return s.faults.around(func() error { return s.Store.Abandon(ctx, reference, attempt) })
}

func (s faultyStore) Revoke(ctx context.Context, reference, why string, now time.Time) error {
	return s.faults.around(func() error { return s.Store.Revoke(ctx, reference, why, now) })
}

var errFault = errors.New("a fault of the test")

// faults fails the calls at one point, just before or just after a step took effect; after a crash,
// all that follow too.
type faults struct {
	mu      sync.Mutex
	armed   bool
	crash   bool
	left    int // points to pass before the fault
	happens bool
}

// arm makes the point number n fail.
func (f *faults) arm(n int, crash bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.armed, f.crash, f.left, f.happens = true, crash, n, false
}

// disarm lets all pass, and reports whether there was a fault.
func (f *faults) disarm() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.armed = false
	return f.happens
}

func (f *faults) point() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.armed || f.happens && !f.crash {
		return nil
	}
	if f.left--; f.left >= 0 {
		return nil
	}
	f.happens = true
	return errFault
}

func (f *faults) around(step func() error) error {
	if err := f.point(); err != nil {
		return err
	}
	if err := step(); err != nil {
		return err
	}
	return f.point()
}

// lines is a log that tests can read.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
