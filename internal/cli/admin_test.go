package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"unink/internal/account"
	"unink/internal/app"
	"unink/internal/credit"
	"unink/internal/mail"
	"unink/internal/operator"
	"unink/internal/store"
	"unink/internal/store/storetest"
)

// site is a place where the operator's commands work.
type site struct {
	t     *testing.T
	flags storeFlags
}

// eachSite runs a test on an empty database of each kind.
func eachSite(t *testing.T, test func(t *testing.T, s *site)) {
	for _, name := range []string{settingsVariable, "UNINK_CATALOGUE", "UNINK_DOMAIN",
		"UNINK_TEST_CREDITS", "UNINK_DATA_DIR", "UNINK_DATABASE", "UNINK_SECRET_FILE"} {
		if _, there := os.LookupEnv(name); there {
			t.Fatalf("%s is set", name)
		}
	}
	t.Run("sqlite", func(t *testing.T) { test(t, newSite(t, storeFlags{Data: t.TempDir()})) })
	t.Run("postgres", func(t *testing.T) {
		data := t.TempDir()
		test(t, newSite(t, storeFlags{Data: data, Database: storetest.Postgres(t),
			Secret: filepath.Join(data, "secret")}))
	})
}

// newSite is a place where a service has been.
func newSite(t *testing.T, flags storeFlags) *site {
	t.Helper()
	s := &site{t, flags}
	s.backend(app.Keep{})
	return s
}

// No command makes a database where there is none, nor a folder.
func TestAdminMakesNoDatabase(t *testing.T) {
	empty, missing := t.TempDir(), filepath.Join(t.TempDir(), "other")
	for _, arguments := range [][]string{
		{"user", "add", "a@example.com"}, {"user", "list"}, {"customer", "add", "a@example.com"}, {"grant", "a@example.com", "--credits", "1"},
		{"audit"}, {"stats"}, {"outbox", "list"}, {"backup", filepath.Join(t.TempDir(), "copy")},
	} {
		for _, data := range []string{empty, missing} {
			s := &site{t, storeFlags{Data: data}}
			s.refused(exitFailed, "there is no database in "+data+"; start unink serve first", arguments...)
		}
		s := &site{t, storeFlags{Data: missing, Database: "postgres://nobody@localhost:1/none",
			Secret: filepath.Join(missing, "secret")}}
		s.refused(exitFailed, "there is no secret", arguments...)
	}
	if left, err := os.ReadDir(empty); err != nil || len(left) > 0 {
		t.Errorf("%v are made, %v", left, err)
	}
	if _, err := os.Stat(missing); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder is made: %v", err)
	}
}

// What a new operator is told to do works on the data that is served, and is told only while there
// are no users.
func TestFirstSteps(t *testing.T) {
	eachSite(t, func(t *testing.T, s *site) {
		c := &serveCmd{storeFlags: s.flags, domainFlags: domainFlags{Domain: "api.example.com"}}
		c.TestCredits = 5
		b := s.backend(app.Keep{})
		steps, err := c.firstSteps(t.Context(), b)
		where := " --data " + s.flags.Data
		if s.flags.Database != "" {
			where = " --secret " + s.flags.Secret
		}
		if err != nil || strings.Count(steps, where+"\n") != 2 ||
			!strings.Contains(steps, "--domain api.example.com --test-credits 5 ") {
			t.Errorf("%s %v", steps, err)
		}
		s.must("user", "add", "you@example.com")
		if steps, err := c.firstSteps(t.Context(), b); err != nil || steps != "" {
			t.Errorf("with a user: %s %v", steps, err)
		}
	})
	if got := quoted("/srv/it's here"); got != `'/srv/it'\''s here'` {
		t.Errorf("quoted %s", got)
	}
}

func (s *site) arguments(arguments []string) []string {
	arguments = append(arguments, "--data", s.flags.Data)
	if s.flags.Database != "" {
		arguments = append(arguments, "--database", s.flags.Database, "--secret", s.flags.Secret)
	}
	return arguments
}

// run runs an operator's command.
func (s *site) run(arguments ...string) (code int, stdout, stderr string) {
	var out, complaints bytes.Buffer
	env := &environment{ctx: s.t.Context(), stdin: strings.NewReader("a l0ng passphrase\n"),
		stdout: &out, stderr: &complaints, open: openDrawing}
	code = run(env, s.arguments(append([]string{"admin"}, arguments...)))
	return code, out.String(), complaints.String()
}

// must runs a command that works, and returns what it prints.
func (s *site) must(arguments ...string) string {
	s.t.Helper()
	code, out, complaints := s.run(arguments...)
	if code != exitDone {
		s.t.Fatalf("%q: exit code %d, %s", arguments, code, complaints)
	}
	return out
}

// refused runs a command that must not work, and wants a word in its complaint.
func (s *site) refused(want int, word string, arguments ...string) {
	s.t.Helper()
	code, out, complaints := s.run(arguments...)
	if code != want || !strings.Contains(complaints, word) {
		s.t.Errorf("%q: exit code %d, %s%s, want %d and %q", arguments, code, out, complaints, want, word)
	}
}

// backend opens what stands behind the commands.
func (s *site) backend(keep app.Keep) *app.Backend {
	s.t.Helper()
	config := app.Config{Storage: app.Storage(s.flags), MailFrom: mail.DefaultConfig().From,
		Keep: keep}
	b, err := app.Open(s.t.Context(), config, slog.New(slog.DiscardHandler))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = b.Close() })
	return b
}

// database opens the database itself.
func (s *site) database() *store.DB {
	s.t.Helper()
	db, err := store.Open(s.t.Context(), app.Storage(s.flags).DatabaseURL())
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestCustomerAddRefusesASlugThatCannotBeHad(t *testing.T) {
	eachSite(t, func(t *testing.T, s *site) {
		add := func(email string, more ...string) []string {
			return append([]string{"customer", "add", email, "--name", "Acme"}, more...)
		}
		s.must(add("a@example.com", "--slug", "acme")...)
		s.refused(exitFailed, `the slug "acme" is taken`, add("b@example.com", "--slug", "acme")...)
		s.refused(exitFailed, "slug must be 3 to 40", add("b@example.com", "--slug", "A_cme")...)
		s.refused(exitFailed, "is reserved", add("b@example.com", "--slug", "www")...)
		s.refused(exitFailed, "is a customer already, with the API domain acme.localhost",
			add("a@example.com", "--slug", "other")...)

		s.must(add("a@example.com", "--slug", "acme")...) // another package for the same customer
		if out := s.must(add("b@example.com")...); !regexp.MustCompile(
			`acme-[a-z0-9]+\.localhost`,
		).MatchString(out) {
			t.Errorf("without a slug it says %s", out)
		}
		// a customer of its own, and another's slug
		s.refused(exitFailed, "slug", add("b@example.com", "--slug", "acme")...)

		b := s.backend(app.Keep{})
		for slug, want := range map[string]int{"acme": 1010, "other": -1} {
			c, err := b.Accounts.FindCustomer(t.Context(), slug)
			if (err == nil) != (want >= 0) {
				t.Errorf("customer %s is %+v, %v", slug, c, err)
				continue
			}
			if got, err := b.Credits.Balance(t.Context(), "customer:"+c.ID); want >= 0 &&
				(err != nil || got != want) {
				t.Errorf("customer %s has %d credits, %v, want %d", slug, got, err, want)
			}
		}
		if all, err := b.Accounts.Customers(t.Context(), 10, ""); err != nil || len(all) != 2 {
			t.Errorf("customers are %+v, %v", all, err)
		}
		if mails, err := b.Outbox.List(t.Context(), "", 10); err != nil || len(mails) != 3 {
			t.Errorf("%d mails, %v", len(mails), err)
		}
		if left, err := store.NewPurchases(s.database()).Unfinished(
			t.Context(), time.Now().Add(time.Hour), time.Time{}, 10,
		); err != nil || len(left) != 0 {
			t.Errorf("the service would still deliver %+v, %v", left, err)
		}
	})
}

const ownCatalogue = `{"plans": [
	{"id": "tiny", "name": "Tiny", "entry": "developer", "cents": 100, "currency": "usd", "credits": 7, "months": 1},
	{"id": "web-9", "name": "9 credits", "entry": "web", "cents": 100, "currency": "usd", "credits": 9, "months": 1}
]}`

// The operator's commands sell what the service sells, wherever it is told of its catalogue.
func TestAdminUsesTheServicesCatalogue(t *testing.T) {
	s := newSite(t, storeFlags{Data: t.TempDir()})
	file := filepath.Join(t.TempDir(), "catalogue.json")
	settings := filepath.Join(t.TempDir(), "settings.json")
	for name, text := range map[string]string{
		file: ownCatalogue, settings: `{"catalogue": "` + file + `"}`,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	commands := [][]string{
		{"customer", "add", "a@example.com", "--slug", "acme", "--plan", "tiny"},
		{"grant", "acme", "--plan", "tiny"},
		{"grant", "you@example.com", "--plan", "web-9"},
	}
	s.must("user", "add", "you@example.com", "--credits", "0")
	s.must("customer", "add", "a@example.com", "--slug", "acme", "--test-credits",
		"0") // starter of the built-in one: 500
	for _, command := range commands {
		s.refused(exitUsage, "there is no", command...)
		s.must(append(command, "--catalogue", file)...)
	}
	for name, value := range map[string]string{"UNINK_CATALOGUE": file, settingsVariable: settings} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			for _, command := range commands {
				s.must(command...)
			}
			s.refused(exitUsage, "there is no", "grant", "acme", "--plan", "starter")
		})
	}
	s.refused(exitFailed, "--catalogue", "grant", "acme", "--plan", "tiny", "--catalogue", file+".not")

	b := s.backend(app.Keep{})
	c, err := b.Accounts.FindCustomer(t.Context(), "acme")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := b.Credits.Balance(t.Context(), "customer:"+c.ID); err != nil || got != 500+3*(7+7) {
		t.Errorf("the customer has %d credits, %v", got, err)
	}
	u, err := b.Accounts.FindUser(t.Context(), "you@example.com")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := b.Credits.Balance(t.Context(), "user:"+u.ID); err != nil || got != 3*9 {
		t.Errorf("the user has %d credits, %v", got, err)
	}
}

// A plan that the operator gives stands for a sale; credits given away do not.
func TestGrantOfAPlanCountsAsBought(t *testing.T) {
	eachSite(t, func(t *testing.T, s *site) {
		s.must("user", "add", "you@example.com")
		b := s.backend(app.Keep{})
		want := func(bought bool) {
			t.Helper()
			if u, err := b.Accounts.FindUser(t.Context(), "you@example.com"); err != nil ||
				u.Bought != bought {
				t.Errorf("user is %+v, %v, want bought %v", u, err, bought)
			}
		}
		want(false)
		s.must("grant", "you@example.com", "--credits", "10")
		want(false)
		s.refused(exitUsage, "there is no plan", "grant", "you@example.com", "--plan", "nothing")
		want(false)
		s.must("grant", "you@example.com", "--plan", "web-50")
		want(true)

	})
}

// What commands do is in the log, with the note that says why.
func TestCommandsAreWrittenDown(t *testing.T) {
	eachSite(t, func(t *testing.T, s *site) {
		s.must("user", "add", "you@example.com", "--credits", "3")
		s.must("user", "role", "you@example.com", "operator", "--note", "new here")
		s.must("customer", "add", "dev@example.com", "--slug", "acme", "--note", "invoice 7")
		var granted []credit.Package
		if err := json.Unmarshal(
			[]byte(s.must("grant", "acme", "--credits", "7", "--note", "sorry", "--json")), &granted,
		); err != nil {
			t.Fatal(err)
		}
		s.must("revoke", granted[0].Source, "--note", "too much")
		s.must("rotate", "acme", "--note", "lost")
		s.must("customer", "revoke", "acme", "--note", "gone")
		s.must("user", "delete", "you@example.com", "--note", "asked")
		s.refused(exitFailed, "not found", "customer", "revoke", "nobody")
		s.refused(exitFailed, "reason must be one line", "rotate", "acme", "--note", "two\nlines")

		var log []operator.Entry
		if err := json.Unmarshal([]byte(s.must("log", "--json")), &log); err != nil {
			t.Fatal(err)
		}
		type line struct {
			reason  string
			credits int
		}
		want := map[operator.Kind]line{
			operator.UserAdded: {"", 3}, operator.RoleSet: {"new here", 0},
			operator.CustomerAdded: {"invoice 7", 500},
			operator.Granted:       {"sorry", 7}, operator.TookBack: {"too much", -7},
			operator.Rotated: {"lost", 0},
			operator.Closed:  {"gone", 0}, operator.UserDeleted: {"asked", -3},
		}
		if len(log) != len(want) {
			t.Errorf("the log is %+v", log)
		}
		for _, e := range log {
			if e.Actor != operator.CommandLine || e.Target == "" ||
				want[e.Kind] != (line{e.Reason, e.Credits}) {
				t.Errorf("the log says %+v, want %+v", e, want[e.Kind])
			}
		}
		older := s.must("log", "--before", log[len(log)-1].ID)
		if !strings.Contains(s.must("log", "--limit", "1"), "asked") || strings.Contains(older, "act_") {
			t.Errorf("before the first act there is %s", older)
		}
	})
}

func TestOperatorsAreMadeAndUnmade(t *testing.T) {
	eachSite(t, func(t *testing.T, s *site) {
		s.must("user", "add", "you@example.com")
		b := s.backend(app.Keep{})
		for _, c := range []struct{ given, want string }{{"operator", account.Operator}, {"none", ""}} {
			s.must("user", "role", "you@example.com", c.given)
			if u, err := b.Accounts.FindUser(t.Context(), "you@example.com"); err != nil ||
				u.Role != c.want {
				t.Errorf("after %s: %+v, %v", c.given, u, err)
			}
		}
		s.refused(exitUsage, "must be one of", "user", "role", "you@example.com", "king")
		s.refused(exitFailed, "not found", "user", "role", "nobody@example.com", "operator")
	})
}

// A new customer begins with credits to try the service with, once.
func TestTestCredits(t *testing.T) {
	eachSite(t, func(t *testing.T, s *site) {
		s.must("customer", "add", "dev@example.com", "--slug", "acme", "--test-credits", "10")
		s.must("customer", "add", "dev@example.com", "--test-credits", "10") // once
		s.must("customer", "add", "few@example.com", "--slug", "few", "--test-credits", "2")
		s.must("customer", "add", "none@example.com", "--slug", "none", "--test-credits", "0")
		s.must("customer", "add", "usual@example.com", "--slug", "usual")
		s.refused(exitUsage, "--test-credits must be from 0 to 1000, not -1", "customer", "add",
			"a@example.com", "--test-credits=-1")

		ctx, b := t.Context(), s.backend(app.Keep{})
		for slug, want := range map[string]int{"acme": 10, "few": 2, "none": 0, "usual": 10} {
			c, err := b.Accounts.FindCustomer(ctx, slug)
			if err != nil {
				t.Fatal(err)
			}
			packages, err := b.Credits.Packages(ctx, account.CustomerPrefix+c.ID)
			if err != nil {
				t.Fatal(err)
			}
			given := 0
			for i, p := range packages {
				if p.Plan == "test" {
					given += p.Credits
					if i != 0 || p.Source != account.TestPrefix+c.ID {
						t.Errorf("%s has %+v after %d others", slug, p, i)
					}
				}
			}
			if given != want {
				t.Errorf("%s began with %d credits, want %d", slug, given, want)
			}
		}
	})
}

// Credits go to somebody who is there, and plans to those whom they are for.
func TestGrantNeedsWhomItIsFor(t *testing.T) {
	eachSite(t, func(t *testing.T, s *site) {
		ctx, b := t.Context(), s.backend(app.Keep{})
		s.must("user", "add", "you@example.com", "--credits", "0")
		s.must("customer", "add", "dev@example.com", "--slug", "acme")
		u, err := b.Accounts.FindUser(ctx, "you@example.com")
		if err != nil {
			t.Fatal(err)
		}
		c, err := b.Accounts.FindCustomer(ctx, "acme")
		if err != nil {
			t.Fatal(err)
		}
		for _, nobody := range []string{"", ":", "nobody", "user:typo", "customer:typo", "user:",
			":" + u.ID, "customer:" + u.ID, "user:" + c.ID, "device:you", "user:user:" + u.ID} {
			if owner, _, err := b.Operator.Buyer(ctx, nobody); err == nil ||
				!strings.Contains(err.Error(), "there is no user and no customer") {
				t.Errorf("%q is %q, %v", nobody, owner, err)
			}
		}
		for want, names := range map[string][]string{
			"user:" + u.ID + " web": {u.ID, "user:" + u.ID, "you@example.com",
				"user:YOU@example.com"},
			"customer:" + c.ID + " developer": {c.ID, "customer:" + c.ID, "acme", c.AppCode,
				"customer:acme"},
		} {
			for _, name := range names {
				if owner, entry, err := b.Operator.Buyer(ctx, name); err != nil || owner+" "+entry != want {
					t.Errorf("%q is %q %q, %v, want %s", name, owner, entry, err, want)
				}
			}
		}
		before, err := b.Credits.Entries(ctx, credit.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		s.refused(exitFailed, `there is no user and no customer "user:typo"`, "grant", "user:typo",
			"--credits", "1")
		s.refused(exitFailed, `there is no user and no customer "customer:typo"`, "grant",
			"customer:typo", "--plan", "starter")
		s.refused(exitUsage, `the plan "starter" is for customers, and you@example.com is none`, "grant",
			"you@example.com", "--plan", "starter")
		s.refused(exitUsage, `the plan "web-50" is for users, and acme is none`, "grant", "acme",
			"--plan", "web-50")
		if after, err := b.Credits.Entries(ctx, credit.Filter{}); err != nil ||
			len(after) != len(before) {
			t.Errorf("after refused grants the ledger is %+v, %v", after, err)
		}
		if u, err := b.Accounts.FindUser(ctx, u.ID); err != nil || u.Bought {
			t.Errorf("the user is %+v, %v", u, err)
		}
		s.must("grant", "user:"+u.ID, "--plan", "web-50")
		s.must("grant", "acme", "--plan", "starter")
		s.must("grant", "acme", "--credits", "1")
		for owner, want := range map[string]int{"user:" + u.ID: 50, "customer:" + c.ID: 10 + 2*500 + 1} {
			if got, err := b.Credits.Balance(ctx, owner); err != nil || got != want {
				t.Errorf("%s has %d credits, %v, want %d", owner, got, err, want)
			}
		}
		s.must("ledger", "device:you") // also of whom no account is known
		s.must("ledger", "user:gone")
		s.refused(exitFailed, "there is no user and no customer", "ledger", "gone")
	})
}

// Accounts that nobody uses are deleted with their first credits, and mails that were written to
// files.
func TestUnusedAccountsArePruned(t *testing.T) {
	eachSite(t, func(t *testing.T, s *site) {
		ctx := t.Context()
		b := s.backend(app.Keep{Guests: time.Hour, Unconfirmed: 30 * day, DeadMail: time.Hour})
		s.must("user", "add", "you@example.com")
		var ids []string
		for _, device := range []string{"device-idle", "device-paid"} {
			u, _, err := b.Accounts.Anonymous(ctx, device, "192.0.2.1", 10)
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := b.Credits.Grant(ctx, credit.Grant{
				Owner: account.OwnerPrefix + u.ID, Plan: "welcome", Credits: 3, Expires: credit.Never,
				Source: account.WelcomePrefix + u.ID,
			}); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, u.ID)
		}
		s.must("grant", ids[1], "--plan", "web-50")
		if err := b.Accounts.SignUp(ctx, "new@example.com", "a l0ng passphrase",
			"192.0.2.1"); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Outbox.SendDue(ctx); err != nil {
			t.Fatal(err)
		}
		want := func(users, entries, mails int) {
			t.Helper()
			if err := b.Prune(ctx); err != nil {
				t.Fatal(err)
			}
			if all, err := b.Accounts.Users(ctx, 10, ""); err != nil || len(all) != users {
				t.Errorf("users are %+v, %v, want %d", all, err, users)
			}
			if all, err := b.Credits.Entries(ctx, credit.Filter{}); err != nil || len(all) != entries {
				t.Errorf("the ledger is %+v, %v, want %d entries", all, err, entries)
			}
			if files, err := filepath.Glob(filepath.Join(s.flags.Data, "mail", "*.eml")); err != nil ||
				len(files) != mails {
				t.Errorf("mails are %v, %v, want %d", files, err, mails)
			}
		}
		want(4, 4, 1)
		b = s.backend(app.Keep{Unconfirmed: 30 * day})
		want(3, 3, 0)
		s.must("audit")
	})
}

// A mail with credentials that cannot be sent is discarded, by hand or in time, and the token that
// was in it replaced.
func TestDeadCredentials(t *testing.T) {
	eachSite(t, func(t *testing.T, s *site) {
		ctx, now := t.Context(), time.Now()
		b := s.backend(app.Keep{DeadMail: time.Hour})
		mails := store.NewMails(s.database())
		bury := func(at time.Time) mail.Mail {
			t.Helper()
			m, claimed, err := mails.Claim(ctx, now.Add(time.Minute), now.Add(time.Hour))
			if err != nil || !claimed {
				t.Fatal(claimed, err)
			}
			if err := mails.Bury(ctx, m.ID, m.Attempts, at, "refused"); err != nil {
				t.Fatal(err)
			}
			return m
		}
		// dead makes a customer whose mail with the token is dead, and returns both.
		dead := func(slug string, at time.Time) (id, token string) {
			t.Helper()
			s.must("customer", "add", slug+"@example.com", "--slug", slug)
			m := bury(at)
			token = regexp.MustCompile(`unk_\w+`).FindString(m.Text)
			if c, err := b.Accounts.Authenticate(ctx, token); err != nil || c.Slug != slug {
				t.Fatalf("the token is of %+v, %v", c, err)
			}
			return m.ID, token
		}
		left := func(want int) {
			t.Helper()
			if all, err := b.Outbox.List(ctx, "", 10); err != nil || len(all) != want {
				t.Errorf("mails are %+v, %v, want %d", all, err, want)
			}
		}

		id, token := dead("acme", now)
		s.refused(exitFailed, "no dead mail", "outbox", "discard", "mail_unknown")
		s.must("outbox", "retry", id)
		s.refused(exitFailed, "no dead mail", "outbox", "discard", id) // it waits
		s.refused(exitFailed, "no dead mail", "outbox", "retry", id)
		bury(now)
		var said map[string]string
		if err := json.Unmarshal([]byte(s.must("outbox", "discard", id, "--json")), &said); err != nil ||
			said["discarded"] != id {
			t.Errorf("it says %v, %v", said, err)
		}
		left(0)
		if _, err := b.Accounts.Authenticate(ctx, token); err != nil {
			t.Errorf("the mail may have arrived after all, but its token is refused: %v", err)
		}
		fresh := strings.TrimSpace(s.must("rotate", "acme", "--grace", "0s"))
		if _, err := b.Accounts.Authenticate(ctx, token); !errors.Is(err, account.ErrToken) {
			t.Errorf("the lost token after rotation: %v", err)
		}
		if _, err := b.Accounts.Authenticate(ctx, fresh); err != nil {
			t.Errorf("the new token: %v", err)
		}

		id, _ = dead("bravo", now.Add(-2*time.Hour))
		left(1)
		if err := b.Prune(ctx); err != nil {
			t.Fatal(err)
		}
		left(0)
		s.refused(exitFailed, "no dead mail", "outbox", "retry", id)
	})
}

// What guests leave is deleted when it is old, and the service's allowances are known for what they
// are.
func TestWhatGuestsLeaveIsPruned(t *testing.T) {
	eachSite(t, func(t *testing.T, s *site) {
		s.guest()
		s.must("user", "add", "you@example.com")
		ctx, b := t.Context(), s.backend(app.Keep{})
		old := credit.Grant{Owner: "device:old", Credits: 1, Expires: time.Now().Add(-time.Minute),
			Source: credit.AllowancePrefix + "old"}
		if _, _, err := b.Credits.Grant(ctx, old); err != nil {
			t.Fatal(err)
		}
		want := func(entries, uses int) {
			t.Helper()
			ledger, err := b.Credits.Entries(ctx, credit.Filter{})
			if err != nil || len(ledger) != entries {
				t.Errorf("the ledger is %+v, %v, want %d entries", ledger, err, entries)
			}
			rows, err := b.Uses.Stats(ctx, time.Now().Add(-time.Hour), time.Now().Add(time.Hour),
				[]string{"caller"})
			if err != nil || len(rows) != uses {
				t.Errorf("uses are %+v, %v, want %d", rows, err, uses)
			}
		}
		const cleaned, welcome = 6, 1 // granted, reserved and settled, for device and address
		for _, c := range []struct {
			keep          time.Duration
			entries, uses int
		}{{time.Hour, cleaned + welcome + 1, 1}, {0, cleaned + welcome, 0}} {
			if err := s.backend(app.Keep{Guests: c.keep}).Prune(ctx); err != nil {
				t.Fatal(err)
			}
			want(c.entries, c.uses)
		}
		credits, later := store.NewCredits(s.database()), time.Now().Add(48*time.Hour)
		if err := credits.Forget(ctx, later, later); err != nil { // as the sweeper does in time
			t.Fatal(err)
		}
		if n, err := credits.Prune(ctx, later, 100); err != nil || n != 2 {
			t.Errorf("pruned %d, %v, want the day of the device and that of the address", n, err)
		}
		want(welcome, 0)
		s.must("audit")
	})
}

// guest has a page cleaned by the service as a guest with a page of a PDF, who needs no bot check.
func (s *site) guest() {
	s.t.Helper()
	url, stop := serve(s.t, openDrawing, s.arguments(nil)...)
	defer stop()
	form, contentType := upload(s.t, map[string]string{
		"isPdfProcessing": "true", "deviceId": "a device of the tests",
	})
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	status, answer := send(s.t, client, http.MethodPost, url+"/api/process-image",
		contentType, "", form)
	holdsPage(s.t, status, answer)
}

// The commands that the documentation tells an operator to make the first customer with do so.
func TestDocumentedCustomerAdd(t *testing.T) {
	for _, name := range []string{"../../README.md", "../../docs/set-up.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(
			`(?m)^ .*unink admin (customer add [^#\n]*)`,
		).FindAllSubmatch(text, -1)
		if len(found) == 0 {
			t.Errorf("%s makes no customer", name)
		}
		for _, f := range found {
			s := newSite(t, storeFlags{Data: t.TempDir()})
			s.must(strings.Fields(string(f[1]))...)
		}
	}
}
