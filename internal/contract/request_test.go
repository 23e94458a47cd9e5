package contract

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"unink/internal/botcheck"
	"unink/internal/ident"
	"unink/internal/pagetest"
)

// request is what a test sends.
type request struct {
	method  string // POST when empty
	path    string
	host    string
	from    string // client's address; a new one when empty
	header  map[string]string
	content string // Content-Type
	body    []byte
	chunked bool // sent without Content-Length
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
}

var addresses atomic.Uint32

// newAddress is a client's address that no other test has.
func newAddress() string {
	n := addresses.Add(1)
	return fmt.Sprintf("10.%d.%d.%d", n>>16, n>>8&255, n&255)
}

func (s *service) try(r request) (answer, error) {
	method := r.method
	if method == "" {
		method = http.MethodPost
	}
	var body io.Reader = bytes.NewReader(r.body)
	if r.chunked {
		body = io.MultiReader(body) // whose length net/http does not know
	}
	req, err := http.NewRequest(method, s.url+r.path, body)
	if err != nil {
		return answer{}, err
	}
	if r.host != "" {
		req.Host = r.host
	}
	from := r.from
	if from == "" {
		from = newAddress()
	}
	req.Header.Set("X-Forwarded-For", from)
	if r.content != "" {
		req.Header.Set("Content-Type", r.content)
	}
	for name, value := range r.header {
		req.Header.Set(name, value)
	}
	res, err := s.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = res.Body.Close() }()
	a := answer{status: res.StatusCode, header: res.Header}
	a.body, err = io.ReadAll(res.Body)
	return a, err
}

// send returns the answer once the service has written down what the request cost.
func (s *service) send(t *testing.T, r request) answer {
	t.Helper()
	a, err := s.try(r)
	if err != nil {
		t.Fatal(err)
	}
	s.concluded(t, a)
	return a
}

func (s *service) concluded(t *testing.T, a answer) {
	t.Helper()
	id := a.header.Get("X-Request-Id")
	if id == "" {
		t.Fatalf("an answer without X-Request-Id: %d %.300s", a.status, a.body)
	}
	s.log.wait(t, "request "+id, func(l line) bool {
		return l["request_id"] == id && l["msg"] == "request"
	})
}

// upload sends a form to the web entry point. The fields are pairs of a name and a value.
func (s *service) upload(t *testing.T, r request, fields ...string) answer {
	t.Helper()
	if r.path == "" {
		r.path = "/api/process-image"
	}
	r.content, r.body = form(t, fields...)
	return s.send(t, r)
}

func form(t *testing.T, fields ...string) (contentType string, body []byte) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(fields); i += 2 {
		var part io.Writer
		var err error
		if fields[i] == "image" {
			part, err = w.CreateFormFile("image", "page.png")
		} else {
			part, err = w.CreateFormField(fields[i])
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(part, fields[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w.FormDataContentType(), b.Bytes()
}

// object is the answer's JSON object.
func (a answer) object(t *testing.T) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(a.body, &v); err != nil {
		t.Fatalf("%d %.300s: %v", a.status, a.body, err)
	}
	return v
}

// is wants a status, and an error's name or, for success, an empty one.
func (a answer) is(t *testing.T, status int, name string) {
	t.Helper()
	v := a.object(t)
	got, _ := v["error"].(string)
	if a.status != status || got != name {
		t.Fatalf("got %d %.300s, want %d %s", a.status, a.body, status, name)
	}
	if name != "" && status != http.StatusInternalServerError &&
		status != http.StatusTooManyRequests && v["message"] == "" {
		t.Errorf("no message: %s", a.body)
	}
}

// cleaned wants a cleaned page of the web entry point.
func (a answer) cleaned(t *testing.T, trial bool) {
	t.Helper()
	var v struct {
		Code    *int
		IsTrial *bool
		Data    struct{ Data struct{ MediaID []byte } }
	}
	if err := json.Unmarshal(a.body, &v); err != nil {
		t.Fatal(err)
	}
	if a.status != http.StatusOK || v.Code == nil || *v.Code != 0 || v.IsTrial == nil {
		t.Fatalf("not cleaned: %d %.300s", a.status, a.body)
	}
	if *v.IsTrial != trial {
		t.Errorf("isTrial is %v", *v.IsTrial)
	}
	isPage(t, v.Data.Data.MediaID)
}

func isPage(t *testing.T, data []byte) {
	t.Helper()
	config, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil || config.Width != pageWidth || config.Height != pageHeight {
		t.Errorf("the answer's page: %+v, %v", config, err)
	}
}

const pageWidth, pageHeight = 200, 120

// page is a small page with some lines of print on it.
var page = string(encoded(drawn(pageWidth, pageHeight, true)))

func drawn(width, height int, print bool) image.Image {
	m := image.NewGray(image.Rect(0, 0, width, height))
	draw.Draw(m, m.Rect, image.White, image.Point{}, draw.Src)
	if print {
		pagetest.PrintText(m, m.Rect.Inset(10), color.Black)
	}
	return m
}

func encoded(m image.Image) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// hollow is a PNG whose header promises a picture that does not follow.
func hollow(width, height uint32) string {
	header := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)
	return "\x89PNG\r\n\x1a\n" + chunk("IHDR", string(header)+"\x08\x00\x00\x00\x00") +
		chunk("IDAT", "nothing") + chunk("IEND", "")
}

func chunk(kind, data string) string {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	b = append(b, kind+data...)
	return string(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE([]byte(kind+data))))
}

// user is somebody with an account and a session.
type user struct {
	id, email, session string
}

const password = "correct horse battery"

// newUser makes an account with credits and logs it in.
func (s *service) newUser(t *testing.T, credits int) user {
	t.Helper()
	u := user{email: ident.Secret() + "@example.com"}
	var made []struct{ ID string }
	s.adminInput(t, password+"\n", &made, "user", "add", u.email, "--credits", fmt.Sprint(credits))
	u.id = made[0].ID
	a := s.post(t, "/api/log-in", map[string]string{"email": u.email, "password": password})
	a.is(t, http.StatusOK, "")
	u.session, _ = a.object(t)["session"].(string)
	return u
}

func (u user) bearer() map[string]string {
	return map[string]string{"Authorization": "Bearer " + u.session}
}

// post sends JSON to one of the pages about accounts.
func (s *service) post(t *testing.T, path string, v any) answer {
	t.Helper()
	return s.send(t, request{path: path, content: "application/json", body: marshal(t, v)})
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// credits is what a user has left, as the service tells it.
func (s *service) credits(t *testing.T, u user) int {
	t.Helper()
	a := s.send(t, request{method: http.MethodGet, path: "/api/me", header: u.bearer()})
	var me struct{ Account struct{ Credits int } }
	if err := json.Unmarshal(a.body, &me); err != nil || a.status != http.StatusOK {
		t.Fatalf("%d %s %v", a.status, a.body, err)
	}
	return me.Account.Credits
}

// botToken solves a challenge of the bot check.
func (s *service) botToken(t *testing.T) string {
	t.Helper()
	a := s.send(t, request{method: http.MethodGet, path: "/api/bot-challenge"})
	var c botcheck.Challenge
	if err := json.Unmarshal(a.body, &c); err != nil || a.status != http.StatusOK {
		t.Fatalf("%d %s %v", a.status, a.body, err)
	}
	if c.Parameters.Cost != botCost {
		t.Errorf("a bot check of %d rounds where --bot-cost is %d", c.Parameters.Cost, botCost)
	}
	token, err := botcheck.Solve(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// customer is somebody who bought a developer package.
type customer struct {
	id, appCode, host, token string
}

// newCustomer makes a customer with a token and the 500 credits of a starter package.
func (s *service) newCustomer(t *testing.T) customer {
	t.Helper()
	var made struct {
		Customer struct{ ID, Slug, AppCode string }
	}
	s.admin(t, &made, "customer", "add", ident.Secret()+"@example.com", "--name", "Acme", "--domain",
		"localhost", "--public-url", "http://localhost:"+s.port)
	c := customer{id: made.Customer.ID, appCode: made.Customer.AppCode,
		host: made.Customer.Slug + ".localhost"}
	c.token = s.rotate(t, c, "0s")
	return c
}

func (s *service) rotate(t *testing.T, c customer, grace string) string {
	t.Helper()
	var made struct{ Token string }
	s.admin(t, &made, "rotate", c.id, "--grace", grace)
	return made.Token
}

// customerWith makes a customer with so many credits, which may be none.
func (s *service) customerWith(t *testing.T, credits int) customer {
	t.Helper()
	c := s.newCustomer(t)
	for _, p := range s.ledger(t, c.id).Packages {
		s.admin(t, nil, "revoke", p.Source)
	}
	if credits > 0 {
		s.admin(t, nil, "grant", c.id, "--credits", fmt.Sprint(credits))
	}
	return c
}

// ledger is what the operator sees of an owner's credits.
type ledger struct {
	Packages []struct {
		Plan, Source       string
		Credits, Remaining int
	}
	Entries []struct {
		Kind   string
		Amount int
	}
}

func (s *service) ledger(t *testing.T, owner string) ledger {
	t.Helper()
	var l ledger
	s.admin(t, &l, "ledger", owner, "--limit", "10000")
	return l
}

func (l ledger) count(kind string) int {
	n := 0
	for _, e := range l.Entries {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

func (l ledger) sum() int {
	n := 0
	for _, e := range l.Entries {
		n += e.Amount
	}
	return n
}

// audit wants every balance to be its ledger's sum.
func (s *service) audit(t *testing.T) {
	t.Helper()
	var wrong []any
	s.admin(t, &wrong, "audit")
	if len(wrong) > 0 {
		t.Errorf("audit: %v", wrong)
	}
}

const jsonUTF8 = "application/json; charset=UTF-8"

// cleanup is a request of the developer entry point.
func (c customer) cleanup(body string) request {
	return request{
		path: "/cleanup", host: c.host, content: jsonUTF8, body: []byte(body),
		header: map[string]string{"Authorization": "Bearer " + c.token},
	}
}

// media is a body with a picture.
func media(picture string) string {
	return `{"media_id":"` + base64.StdEncoding.EncodeToString([]byte(picture)) + `"}`
}

// with adds a header.
func (r request) with(name, value string) request {
	headers := map[string]string{name: value}
	for n, v := range r.header {
		if !strings.EqualFold(n, name) {
			headers[n] = v
		}
	}
	r.header = headers
	return r
}

// code wants a business code with its envelope and what every developer answer has.
func (a answer) code(t *testing.T, status, code int) {
	t.Helper()
	v := a.object(t)
	message, _ := v["message"].(string)
	got, isNumber := v["code"].(float64)
	if a.status != status || !isNumber || int(got) != code || message == "" {
		t.Fatalf("got %d %.300s, want %d with code %d", a.status, a.body, status, code)
	}
	if code != 0 && (v["error"] != "API_ERROR" || len(v) != 3) {
		t.Errorf("not the envelope: %.300s", a.body)
	}
	if a.header.Get("Content-Type") != jsonUTF8 {
		t.Errorf("Content-Type %q", a.header.Get("Content-Type"))
	}
	for _, name := range []string{"X-Request-Id", "X-Credits-Charged", "X-Credits-Remaining"} {
		if a.header.Get(name) == "" {
			t.Errorf("code %d without %s", code, name)
		}
	}
}

// cost wants what a developer answer says of credits.
func (a answer) cost(t *testing.T, charged, remaining int) {
	t.Helper()
	if got := a.header.Get("X-Credits-Charged"); got != fmt.Sprint(charged) {
		t.Errorf("charged %s, want %d", got, charged)
	}
	if got := a.header.Get("X-Credits-Remaining"); got != fmt.Sprint(remaining) {
		t.Errorf("remaining %s, want %d", got, remaining)
	}
}
