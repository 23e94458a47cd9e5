package resilience

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"time"
)

// Page is a small page with something printed on it: little work for a worker.
var Page = func() []byte {
	m := image.NewGray(image.Rect(0, 0, side, side))
	draw.Draw(m, m.Rect, image.White, image.Point{}, draw.Src)
	for y := 20; y < side-20; y += 20 {
		for x := 10; x < side-10; x += 12 {
			draw.Draw(m, image.Rect(x, y, x+6, y+9), image.NewUniform(color.Black), image.Point{}, draw.Src)
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		panic(err)
	}
	return b.Bytes()
}()

const side = 64

// Caller is somebody who has pages cleaned: a customer of the developer entry point, or an account
// of the web entry point.
type Caller struct {
	Owner string // as the ledger names it

	system *System
	next   atomic.Uint64
	host   string // of the developer entry point; empty for an account
	token  string
}

// Answer is what came of one page.
type Answer struct {
	Status     int
	Code       string // the contract's: a number, or a word; "0" is a page
	Took       time.Duration
	RetryAfter bool
	Text       string // of a refusal
	Err        error  // no answer came, or one that cannot be
}

// String is the status and the code.
func (a Answer) String() string {
	if a.Err != nil {
		return "no answer"
	}
	return strconv.Itoa(a.Status) + " " + a.Code
}

// Cleaned reports whether the page came back.
func (a Answer) Cleaned() bool { return a.Err == nil && a.Status == http.StatusOK }

// Customer makes a customer with at least so many credits.
func (s *System) Customer(credits int) (*Caller, error) {
	var made struct {
		Customer struct{ ID, Slug string }
	}
	scheme, web, domain := s.config.hosts()
	if err := s.Admin(&made, "", "customer", "add", rand.Text()+"@example.com", "--name", "Acme",
		"--domain", domain, "--public-url", scheme+"://"+web); err != nil {
		return nil, err
	}
	id := made.Customer.ID
	var rotated struct{ Token string }
	if err := s.Admin(&rotated, "", "rotate", id, "--grace", "0s"); err != nil {
		return nil, err
	}
	if err := s.Admin(nil, "", "grant", id, "--credits", strconv.Itoa(credits)); err != nil {
		return nil, err
	}
	return &Caller{Owner: "customer:" + id, system: s, host: made.Customer.Slug + "." + domain,
		token: rotated.Token}, nil
}

// User makes an account with so many credits, and logs it in.
func (s *System) User(credits int) (*Caller, error) {
	const password = "correct horse battery"
	email := rand.Text() + "@example.com"
	var made []struct{ ID string }
	if err := s.Admin(&made, password+"\n", "user", "add", email, "--credits",
		strconv.Itoa(credits)); err != nil {
		return nil, err
	}
	body, err := json.Marshal(map[string]string{"email": email, "password": password})
	if err != nil {
		return nil, err
	}
	res, err := s.Services[0].client.Post(s.url("/api/log-in"), "application/json",
		bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	var session struct{ Session string }
	if err := json.NewDecoder(res.Body).Decode(&session); err != nil || session.Session == "" {
		return nil, errors.Join(fmt.Errorf("log-in: %s", res.Status), err)
	}
	return &Caller{Owner: "user:" + made[0].ID, system: s, token: session.Session}, nil
}

// Clean has a page cleaned, by one service after the other.
func (c *Caller) Clean(page []byte) Answer {
	began := time.Now()
	a, err := c.clean(page)
	a.Took, a.Err = time.Since(began), err
	return a
}

func (c *Caller) clean(page []byte) (Answer, error) {
	services := c.system.Services
	service := services[int(c.next.Add(1))%len(services)]
	request := c.upload
	if c.host != "" {
		request = c.cleanup
	}
	req, err := request(page)
	if err != nil {
		return Answer{}, err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	res, err := service.client.Do(req)
	if err != nil {
		return Answer{}, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return Answer{}, err
	}
	return read(res, body)
}

// cleanup is a request of the developer entry point.
func (c *Caller) cleanup(page []byte) (*http.Request, error) {
	body, err := json.Marshal(map[string][]byte{"media_id": page})
	if err != nil {
		return nil, err
	}
	scheme, _, _ := c.system.config.hosts()
	req, err := http.NewRequest(http.MethodPost, scheme+"://"+c.host+"/cleanup",
		bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	return req, nil
}

// upload is a request of the web entry point.
func (c *Caller) upload(page []byte) (*http.Request, error) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("image", "page.png")
	if err != nil {
		return nil, err
	}
	if _, err := part.Write(page); err != nil {
		return nil, err
	}
	if err := form.Close(); err != nil {
		return nil, err
	}
	req, err := http.NewRequest(http.MethodPost, c.system.url("/api/process-image"), &body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", form.FormDataContentType())
	return req, nil
}

// read understands the answers of both entry points.
func read(res *http.Response, body []byte) (Answer, error) {
	a := Answer{Status: res.StatusCode, RetryAfter: res.Header.Get("Retry-After") != ""}
	var v struct {
		Code  json.Number
		Error string
		Data  struct{ Data struct{ MediaID string } }
	}
	if err := json.Unmarshal(body, &v); err != nil {
		return a, fmt.Errorf("%s: %.200s: %w", res.Status, body, err)
	}
	a.Code = v.Code.String()
	if a.Code == "" {
		a.Code = v.Error
	}
	if a.Status != http.StatusOK {
		a.Text = string(body)
		return a, nil
	}
	result, err := base64.StdEncoding.DecodeString(v.Data.Data.MediaID)
	if err != nil {
		return a, err
	}
	if _, format, err := image.DecodeConfig(bytes.NewReader(result)); err != nil ||
		!slices.Contains([]string{"png", "jpeg"}, format) {
		return a, fmt.Errorf("what came back is no page: %w", err)
	}
	return a, nil
}

// Used is how many of the caller's credits are gone: charged, or held. Its error says too where the
// ledger and a balance do not agree, whoever's they are.
func (c *Caller) Used() (int, error) {
	var ledger struct {
		Packages []struct{ Credits, Remaining int }
	}
	if err := c.system.Admin(&ledger, "", "ledger", c.Owner, "--limit", "1"); err != nil {
		return 0, err
	}
	used := 0
	for _, p := range ledger.Packages {
		if p.Remaining < 0 {
			return 0, fmt.Errorf("%s has %d credits", c.Owner, p.Remaining)
		}
		used += p.Credits - p.Remaining
	}
	var wrong []any
	if err := c.system.Admin(&wrong, "", "audit"); err != nil {
		return 0, err
	}
	if len(wrong) > 0 {
		return 0, fmt.Errorf("audit: %v", wrong)
	}
	return used, nil
}
