package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"unink/internal/account"
	"unink/internal/botcheck"
	"unink/internal/credit"
	"unink/internal/httpapi/call"
	"unink/internal/httpapi/setup"
	"unink/internal/limit"
	"unink/internal/mail"
	"unink/internal/operator"
	"unink/internal/pdfjob"
	"unink/internal/store"
	"unink/internal/store/storetest"
	"unink/internal/usage"
	"unink/internal/webui"
)

// undescribed are the pages and the probes, which are no part of what callers program against.
var undescribed = []string{"GET /", "GET /openapi.json", "GET /developers",
	"GET /developers/account", "GET /developers/console", "GET /operator", "GET /healthz",
	"GET /readyz"}

// operations are the described methods and paths.
func operations(t testing.TB) (*openapi3.T, map[string]*openapi3.Operation) {
	t.Helper()
	doc, err := description()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]*openapi3.Operation{}
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			found[method+" "+path] = operation
		}
	}
	return doc, found
}

// registered are the methods and paths that the source registers.
func registered(t *testing.T) []string {
	t.Helper()
	route := regexp.MustCompile(`^(GET|HEAD|POST|PUT|PATCH|DELETE) /\S*$`)
	var found []string
	for _, name := range []string{"httpapi.go", "web/web.go", "developer/developer.go",
		"developer/pdf.go", "accounts/accounts.go", "operate/operate.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				text, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Error(err)
				}
				if route.MatchString(text) {
					found = append(found, strings.TrimSuffix(text, "{$}"))
				}
			}
			return true
		})
	}
	return found
}

func TestEveryRouteIsDescribed(t *testing.T) {
	_, described := operations(t)
	routes := registered(t)
	if len(routes) < len(described) {
		t.Fatalf("found %d routes in the source, fewer than are described (%d)", len(routes),
			len(described))
	}
	for _, route := range routes {
		if described[route] == nil && !slices.Contains(undescribed, route) {
			t.Errorf("%s is not described", route)
		}
	}
}

// TestEveryDescribedOperationIsThere sends a request without a body to each, and looks in the log
// which route took it.
func TestEveryDescribedOperationIsThere(t *testing.T) {
	_, described := operations(t)
	s := withAccounts(t)
	for name := range described {
		method, path, _ := strings.Cut(name, " ")
		s.call(method, path, "", nil)
		if got := s.lastRoute(); got != name {
			t.Errorf("%s was answered by %q", name, got)
		}
	}
}

// TestAccountsAnswerAsDescribed goes through an account's life; each answer is held against the
// description.
func TestAccountsAnswerAsDescribed(t *testing.T) {
	s := withAccounts(t)
	const email, password, other = "ann@example.com", "correct horse battery", "staple battery horse"

	s.is(http.StatusOK, "GET", "/api/catalogue", "", nil)
	s.is(http.StatusBadRequest, "POST", "/api/sign-up", "",
		map[string]string{"email": email, "password": password, "cfTurnstileToken": "no"})
	s.is(http.StatusBadRequest, "POST", "/api/sign-up", "", map[string]string{"e-mail": email})
	s.is(http.StatusAccepted, "POST", "/api/sign-up", "",
		map[string]string{"email": email, "password": password, "cfTurnstileToken": s.human()})
	s.is(http.StatusBadRequest, "POST", "/api/log-in", "",
		map[string]string{"email": email, "password": password})
	s.is(http.StatusBadRequest, "POST", "/api/verify", "", map[string]string{"token": "no"})
	s.is(http.StatusNoContent, "POST", "/api/verify", "", map[string]string{"token": s.notice.Token})

	session := s.logIn(email, password)
	s.is(http.StatusUnauthorized, "GET", "/api/me", "", nil)
	var me struct {
		Account struct{ Credits int }
	}
	s.read(s.is(http.StatusOK, "GET", "/api/me", session, nil), &me)
	if me.Account.Credits != s.Config.AccountCredits {
		t.Errorf("a new account has %d credits, want %d", me.Account.Credits, s.Config.AccountCredits)
	}
	s.is(http.StatusOK, "GET", "/api/me/export", session, nil)
	s.is(http.StatusNotFound, "POST", "/api/checkout", session, map[string]string{"plan": "starter"})
	s.is(http.StatusNotFound, "GET", "/api/sign-in", "", nil)
	s.is(http.StatusNotFound, "POST", "/api/stripe/webhook", "", map[string]string{})
	s.is(http.StatusBadRequest, "POST", "/api/password", session,
		map[string]string{"old": "wrong", "new": other})
	s.is(http.StatusNoContent, "POST", "/api/password", session,
		map[string]string{"old": password, "new": other})
	s.is(http.StatusUnauthorized, "GET", "/api/me", session, nil)

	s.is(http.StatusBadRequest, "POST", "/api/password-reset", "", map[string]string{"email": email})
	s.is(http.StatusAccepted, "POST", "/api/password-reset", "",
		map[string]string{"email": email, "cfTurnstileToken": s.human()})
	s.is(http.StatusNoContent, "POST", "/api/password-reset/done", "",
		map[string]string{"token": s.notice.Token, "password": password})
	s.is(http.StatusNoContent, "POST", "/api/log-out-everywhere", s.logIn(email, password), nil)
	s.is(http.StatusNoContent, "POST", "/api/log-out", s.logIn(email, password), nil)
	s.is(http.StatusNoContent, "DELETE", "/api/me", s.logIn(email, password), nil)
	s.is(http.StatusBadRequest, "POST", "/api/log-in", "",
		map[string]string{"email": email, "password": password})
}

// TestBadTextsAreRefusedAsDescribed sends NUL in each text that a route of accounts takes.
func TestBadTextsAreRefusedAsDescribed(t *testing.T) {
	s := withAccounts(t)
	session := s.member("ann@example.com", account.Operator)
	_, described := operations(t)
	for name, operation := range described {
		method, path, _ := strings.Cut(name, " ")
		if operation.RequestBody == nil || path == "/api/checkout" || path == "/api/stripe/webhook" {
			continue // nothing is sold here
		}
		body := operation.RequestBody.Value.Content["application/json"]
		if body == nil || path == "/cleanup" || path == "/pdf" {
			continue
		}
		for key, value := range body.Schema.Value.Properties {
			if value.Value.Type.Is("string") {
				s.is(http.StatusBadRequest, method, path, session, map[string]string{key: "a\x00b"})
			}
		}
	}
	for _, query := range []string{"/api/sign-in/callback?code=%00", "/api/me/uses?after=%00"} {
		s.is(http.StatusBadRequest, "GET", query, session, nil)
	}
}

func TestAnonymousAccountsAnswerAsDescribed(t *testing.T) {
	s := withAccounts(t)
	ask := func() *http.Request {
		r := httptest.NewRequest(http.MethodPost, "/api/anonymous-accounts", nil)
		r.Header.Set("X-User-Type", "anonymous")
		r.Header.Set("X-Device-Id", "device-of-the-tests")
		return r
	}
	for _, want := range []int{http.StatusCreated, http.StatusOK} {
		if a := s.send(ask()); a.status != want {
			t.Errorf("status %d, want %d: %s", a.status, want, a.body)
		}
	}
	s.is(http.StatusBadRequest, "POST", "/api/anonymous-accounts", "", nil)
	s.refuseAttempts = true
	if a := s.send(ask()); a.status != http.StatusTooManyRequests {
		t.Errorf("status %d: %s", a.status, a.body)
	}
}

func TestCustomersAnswerAsDescribed(t *testing.T) {
	s := withAccounts(t)
	customer, _, err := s.Services.Accounts.CreateCustomer(
		t.Context(), "dev@example.com", "Dev", "dev-shop", "",
	)
	if err != nil {
		t.Fatal(err)
	}
	key, _, err := s.Services.Accounts.NewToken(t.Context(), customer.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	send := func(method, path, body string) answer {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Host = customer.Slug + "." + s.Config.Domain
		r.Header.Set("Authorization", "Bearer "+key)
		r.Header.Set("Content-Type", contentType)
		return s.send(r)
	}
	page := mediaJSON(picture(t, 20, 20), "")
	if a := send("POST", "/cleanup", page); a.status != http.StatusPaymentRequired {
		t.Errorf("without credits: status %d: %s", a.status, a.body)
	}
	if _, _, err := s.Services.Credits.Grant(t.Context(), credit.Grant{
		Owner: call.CustomerOwner(customer.ID), Plan: "starter", Credits: 2, Expires: credit.Never,
		Source: "test",
	}); err != nil {
		t.Fatal(err)
	}
	a := send("POST", "/cleanup", page)
	if got := a.header; a.status != http.StatusOK || got.Get("X-Credits-Charged") != "1" ||
		got.Get("X-Credits-Remaining") != "1" {
		t.Errorf("status %d, headers %v", a.status, got)
	}
	var left struct{ Data struct{ Credits int } }
	s.read(send("GET", "/account", ""), &left)
	if left.Data.Credits != 1 {
		t.Errorf("%d credits are left, want 1", left.Data.Credits)
	}
	if a := send("PUT", "/account", ""); a.status != http.StatusMethodNotAllowed {
		t.Errorf("PUT /account: status %d", a.status)
	}
	s.is(http.StatusUnauthorized, "GET", "/account", "", nil)
}

// TestPagesAreRefusedAsDescribed reaches the refusals of the web entry point that open mode has
// not.
func TestPagesAreRefusedAsDescribed(t *testing.T) {
	s := withAccounts(t)
	upload := func(fields ...field) answer {
		web := &service{t: t}
		r := web.webRequest("", append(fields, field{name: "image", data: picture(t, 20, 20)})...)
		// The request is for a server; without a socket its remote address has to be said.
		r.RemoteAddr = "192.0.2.1:1234"
		return s.send(r)
	}
	if a := upload(); a.status != http.StatusBadRequest {
		t.Errorf("a guest without a token: status %d: %s", a.status, a.body)
	}
	pdf := []field{{name: "isPdfProcessing", value: "true"},
		{name: "deviceId", value: "device-of-the-tests"}}
	for range s.Config.PDFGuestDaily {
		if a := upload(pdf...); a.status != http.StatusOK {
			t.Fatalf("status %d: %s", a.status, a.body)
		}
	}
	if a := upload(pdf...); a.status != http.StatusPaymentRequired ||
		!strings.Contains(string(a.body), `"redirectUrl":"/pricing"`) {
		t.Errorf("an allowance used up: status %d: %s", a.status, a.body)
	}
	for range 2 { // a request that finds no credits counts too
		upload(pdf...)
	}
	if a := upload(pdf...); a.status != http.StatusTooManyRequests ||
		!strings.Contains(string(a.body), `"limitType":"minute"`) {
		t.Errorf("beyond the window: status %d: %s", a.status, a.body)
	}
	r := httptest.NewRequest(http.MethodPost, "/api/log-out", nil)
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	if a := s.send(r); a.status != http.StatusForbidden {
		t.Errorf("from another site: status %d: %s", a.status, a.body)
	}
}

// accountServer is a server with accounts on a database.
type accountServer struct {
	*Server
	t              testing.TB
	log            *lockedBuffer
	mu             sync.Mutex
	notice         account.Notice // the last
	refuseAttempts bool
}

// Send keeps a mail's notice.
func (s *accountServer) Send(_ context.Context, n account.Notice) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notice = n
	return nil
}

// mailed is the last mail's notice, which must be of a kind.
func (s *accountServer) mailed(kind string) account.Notice {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.notice.Kind != kind {
		s.t.Fatalf("the last mail is %+v, not of kind %s", s.notice, kind)
	}
	return s.notice
}

// Allow is the throttle of attempts.
func (s *accountServer) Allow(context.Context, string) (time.Duration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuseAttempts {
		return 1500 * time.Millisecond, nil
	}
	return 0, nil
}

// Slow is the same.
func (s *accountServer) Slow(ctx context.Context, key string) (time.Duration, error) {
	return s.Allow(ctx, key)
}

func withAccounts(t testing.TB, change ...func(*setup.Services)) *accountServer {
	t.Helper()
	return withAccountsOn(t, storetest.SQLite(t), change...)
}

// withAccountsOn is withAccounts on another database.
func withAccountsOn(t testing.TB, address string, change ...func(*setup.Services)) *accountServer {
	t.Helper()
	s := &accountServer{t: t, log: &lockedBuffer{}}
	log := slog.New(slog.NewJSONHandler(s.log, nil))
	db := storetest.Open(t, address)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	secret := bytes.Repeat([]byte("k"), 32)
	config := account.DefaultConfig()
	config.Secret = secret
	accounts, err := account.New(config, store.NewAccounts(db), s, s, time.Now, log)
	must(err)
	credits, err := credit.New(store.NewCredits(db), credit.DefaultConfig(), time.Now)
	must(err)
	bots, err := botcheck.NewALTCHA(botcheck.ALTCHAConfig{Key: secret, Cost: 1},
		store.NewNonces(db), time.Now)
	must(err)
	uses, err := usage.NewRecorder(store.NewUsage(db), usage.DefaultConfig(), log)
	must(err)
	history := usage.New(store.NewUsage(db))
	cfg := setup.Default()
	cfg.Browser = webui.BrowserOff // its pages are cleaned by the service
	kept, err := store.NewPDFs(db, secret)
	must(err)
	pdfs, err := pdfjob.New(kept, credits, pdfjob.Config{Bounds: pdfjob.DefaultBounds, Pages: 1},
		time.Now, log)
	must(err)
	services := &setup.Services{
		PDFs: pdfs, Accounts: accounts, Credits: credits, Catalogue: credit.DefaultCatalogue(),
		Limits: limit.NewMemory(limit.DefaultKeys, time.Now), Slots: limit.NewSlots(4),
		Bots: bots, Challenge: func() (any, error) { return bots.Challenge() },
		Uses: uses, History: history, Revenue: store.NewPurchases(db).Revenue, Database: db.Ping,
		Mail:     func(context.Context) (mail.Status, error) { return mail.Status{}, nil },
		Operator: operator.New(store.NewActs(db), accounts, credits, history, time.Now),
	}
	for _, c := range change {
		c(services)
	}
	s.Server, err = New(&fakeCleaner{}, cfg, services, log)
	must(err)
	return s
}

// call sends a JSON body, with a session where there is one.
func (s *accountServer) call(method, path, session string, body any) answer {
	s.t.Helper()
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			s.t.Fatal(err)
		}
		content = bytes.NewReader(text)
	}
	r := httptest.NewRequest(method, path, content)
	r.Header.Set("Content-Type", "application/json")
	if session != "" {
		r.Header.Set("Authorization", "Bearer "+session)
	}
	return s.send(r)
}

// is is call, of which a status is expected.
func (s *accountServer) is(status int, method, path, session string, body any) answer {
	s.t.Helper()
	a := s.call(method, path, session, body)
	if a.status != status {
		s.t.Errorf("%s %s: status %d, want %d: %.200s", method, path, a.status, status, a.body)
	}
	return a
}

// send hands a request to the handler and holds the answer against the description.
func (s *accountServer) send(r *http.Request) answer {
	s.t.Helper()
	rec := &deadlineRecorder{httptest.NewRecorder()}
	s.Handler().ServeHTTP(rec, r)
	a := answer{rec.Code, rec.Header(), rec.Body.Bytes()}
	s.conforms(r.Method+" "+r.URL.Path, a)
	return a
}

// deadlineRecorder takes the deadlines that a connection would.
type deadlineRecorder struct{ *httptest.ResponseRecorder }

func (deadlineRecorder) SetReadDeadline(time.Time) error { return nil }

var placeholder = regexp.MustCompile(`\\{\w+\\}`)

// template is the described name of a request's method and path, which may have parameters.
func template(name string, described map[string]*openapi3.Operation) string {
	for other := range described {
		if regexp.MustCompile("^"+placeholder.ReplaceAllString(
			regexp.QuoteMeta(other), "[^/]+",
		)+"$").MatchString(name) && described[name] == nil {
			return other
		}
	}
	return name
}

func (s *accountServer) conforms(name string, a answer) {
	s.t.Helper()
	doc, described := operations(s.t)
	name = template(name, described)
	operation := described[name]
	if method, path, _ := strings.Cut(name, " "); operation == nil { // a method that is refused
		for _, other := range doc.Paths.Find(path).Operations() {
			operation, name = other, method+" (not described) "+path
		}
	}
	response := operation.Responses.Status(a.status)
	if response == nil {
		s.t.Fatalf("%s: status %d is not described: %.200s", name, a.status, a.body)
	}
	for header := range response.Value.Headers {
		if a.header.Get(header) == "" {
			s.t.Errorf("%s: status %d lacks the header %s", name, a.status, header)
		}
	}
	content := response.Value.Content.Get("application/json")
	if content == nil {
		if a.header.Get("Content-Type") == "application/json" {
			s.t.Errorf("%s: status %d has a body that is not described: %.200s", name, a.status, a.body)
		}
		return
	}
	var v any
	s.read(a, &v)
	if err := doc.ValidateSchemaJSON(content.Schema.Value, v); err != nil {
		s.t.Errorf("%s: status %d: %v", name, a.status, err)
	}
}

func (s *accountServer) read(a answer, v any) {
	s.t.Helper()
	if err := json.Unmarshal(a.body, v); err != nil {
		s.t.Fatalf("status %d: %v in %.200q", a.status, err, a.body)
	}
}

// lastRoute is the route of the log's last line about a request.
func (s *accountServer) lastRoute() (route string) {
	for line := range strings.Lines(s.log.String()) {
		var entry struct{ Msg, Route string }
		if err := json.Unmarshal([]byte(line), &entry); err == nil && entry.Msg == "request" {
			route = entry.Route
		}
	}
	return route
}

func (s *accountServer) logIn(email, password string) string {
	s.t.Helper()
	var in struct{ Session string }
	s.read(s.is(http.StatusOK, "POST", "/api/log-in", "",
		map[string]string{"email": email, "password": password}), &in)
	return in.Session
}

// human solves a challenge.
func (s *accountServer) human() string {
	s.t.Helper()
	var challenge botcheck.Challenge
	s.read(s.is(http.StatusOK, "GET", "/api/bot-challenge", "", nil), &challenge)
	solved, err := botcheck.Solve(s.t.Context(), challenge)
	if err != nil {
		s.t.Fatal(err)
	}
	return solved
}
