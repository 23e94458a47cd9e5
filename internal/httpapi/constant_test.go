package httpapi

import (
	"bytes"
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"unink/internal/account"
	"unink/internal/store"
	"unink/internal/store/storetest"
)

// secrets is an account service, what was asked of its database, and tokens and log-ins for it.
type secrets struct {
	*account.Service
	asked   *askedStore
	good    string
	unknown string // well signed, but of no customer here
	email   string
}

// askedStore counts how often a token was looked up.
type askedStore struct {
	account.Store
	tokens int
}

func (s *askedStore) FindToken(ctx context.Context,
	hash string) (account.Token, account.Customer, error) {
	s.tokens++
	return s.Store.FindToken(ctx, hash)
}

func newSecrets(t testing.TB) secrets {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	s := secrets{email: "ann@example.com"}
	tokenOn := func(asked *askedStore) (*account.Service, string) {
		c := account.DefaultConfig()
		c.Secret = bytes.Repeat([]byte("k"), 32)
		accounts, err := account.New(c, asked, nil, nil, time.Now, slog.New(slog.DiscardHandler))
		must(err)
		customer, _, err := accounts.CreateCustomer(t.Context(), "dev@example.com", "Dev", "", "")
		must(err)
		token, _, err := accounts.NewToken(t.Context(), customer.ID, 0)
		must(err)
		return accounts, token
	}
	_, s.unknown = tokenOn(
		&askedStore{Store: store.NewAccounts(storetest.Open(t, storetest.SQLite(t)))},
	)
	s.asked = &askedStore{Store: store.NewAccounts(storetest.Open(t, storetest.SQLite(t)))}
	s.Service, s.good = tokenOn(s.asked)
	_, err := s.CreateUser(t.Context(), s.email, "correct horse battery", "")
	must(err)
	return s
}

// changed is a token with another digit at a place of its signature, the last 32 digits.
func changed(good string, place int) string {
	b := []byte(good)
	i := len(b) - 32 + place
	b[i] = map[bool]byte{true: '1', false: '0'}[b[i] == '0']
	return string(b)
}

// A wrong signature is refused in the same way wherever it is wrong, and before the database is
// asked; a well-signed token is looked up by its hash, once, whether it is known or not.
func TestTokensAreCheckedAlike(t *testing.T) {
	s := newSecrets(t)
	for name, c := range map[string]struct {
		token string
		want  error
		asked int
	}{
		"first digit wrong": {changed(s.good, 0), account.ErrSignature, 0},
		"last digit wrong":  {changed(s.good, 31), account.ErrSignature, 0},
		"unknown":           {s.unknown, account.ErrToken, 1},
		"good":              {s.good, nil, 1},
	} {
		before := s.asked.tokens
		if _, err := s.Authenticate(t.Context(), c.token); !errors.Is(err, c.want) {
			t.Errorf("%s: error is %v", name, err)
		}
		if asked := s.asked.tokens - before; asked != c.asked {
			t.Errorf("%s: the database was asked %d times", name, asked)
		}
	}
}

// Secrets are compared by crypto/subtle and by nothing else. What else these functions compare is
// compared with a constant: a length, a separator, nil. That a log-in costs one computation of
// argon2id whether its address is known or not is account's TestLogInNeverTells.
func TestSecretsAreComparedInConstantTime(t *testing.T) {
	for _, c := range []struct{ file, function string }{
		{"../account/customer.go", "genuine"},
		{"../account/customer.go", "Authenticate"},
		{"developer/token.go", "equal"},
	} {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.FromSlash(c.file), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(file.Decls, func(d ast.Decl) bool {
			f, ok := d.(*ast.FuncDecl)
			return ok && f.Name.Name == c.function
		})
		if i < 0 {
			t.Fatalf("%s has no function %s", c.file, c.function)
		}
		constantTime := 0
		ast.Inspect(file.Decls[i], func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				switch called(n) {
				case "subtle.ConstantTimeCompare":
					constantTime++
				case "bytes.Equal", "bytes.Compare", "bytes.HasPrefix", "strings.EqualFold", "strings.Compare",
					"strings.HasPrefix", "slices.Equal":
					t.Errorf("%s: %s is compared by %s", c.file, c.function, called(n))
				}
			case *ast.BinaryExpr:
				if (n.Op == token.EQL || n.Op == token.NEQ) && !constant(n.X) && !constant(n.Y) {
					t.Errorf("%s: %s compares two values with %s", c.file, c.function, n.Op)
				}
			}
			return true
		})
		if constantTime == 0 {
			t.Errorf("%s: %s does not use subtle.ConstantTimeCompare", c.file, c.function)
		}
	}
}

func called(c *ast.CallExpr) string {
	if f, ok := c.Fun.(*ast.SelectorExpr); ok {
		if of, ok := f.X.(*ast.Ident); ok {
			return of.Name + "." + f.Sel.Name
		}
	}
	return ""
}

func constant(e ast.Expr) bool {
	if name, ok := e.(*ast.Ident); ok {
		return name.Name == "nil" || name.Name == "tokenLength"
	}
	_, literal := e.(*ast.BasicLit)
	return literal
}

// BenchmarkSecrets measures whether the time of a refusal tells anything. The cases take turns in
// random order, so that what else the machine does, and what came before, is the same for all.
func BenchmarkSecrets(b *testing.B) {
	s := newSecrets(b)
	token := func(token string) func() {
		return func() { _, _ = s.Authenticate(b.Context(), token) }
	}
	logIn := func(email string) func() {
		return func() { _, _, _ = s.LogIn(b.Context(), email, "staple correct horse", "192.0.2.7", "") }
	}
	type attempt struct {
		name string
		do   func()
	}
	for group, attempts := range map[string][]attempt{
		"token": {
			{"first-digit-wrong", token(changed(s.good, 0))}, {"last-digit-wrong", token(changed(s.good, 31))},
			{"unknown", token(s.unknown)}, {"good", token(s.good)},
		},
		"login": {{"address-known", logIn(s.email)}, {"address-unknown", logIn("bea@example.com")}},
	} {
		b.Run(group, func(b *testing.B) {
			took := map[string][]time.Duration{}
			for b.Loop() {
				rand.Shuffle(len(attempts), func(i, j int) {
					attempts[i], attempts[j] = attempts[j], attempts[i]
				})
				for _, a := range attempts {
					start := time.Now()
					a.do()
					took[a.name] = append(took[a.name], time.Since(start))
				}
			}
			for name, all := range took {
				slices.Sort(all)
				b.ReportMetric(float64(all[len(all)/2].Nanoseconds())/1000, name+"-µs")
			}
		})
	}
}
