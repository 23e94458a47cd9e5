package contract

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	"unink/internal/ident"
	"unink/internal/store/storetest"
)

func TestDeveloper(t *testing.T) {
	each(t, nil, func(t *testing.T, s *service) {
		c := s.newCustomer(t)
		t.Run("success", func(t *testing.T) { developerSuccess(t, s, c) })
		t.Run("codes", func(t *testing.T) { developerCodes(t, s, c) })
		t.Run("order of checks", func(t *testing.T) { developerOrder(t, s, c) })
		t.Run("tokens", func(t *testing.T) { developerTokens(t, s) })
		t.Run("credits used up", func(t *testing.T) { developerCredits(t, s) })
		t.Run("idempotency", func(t *testing.T) { developerIdempotency(t, s) })
		t.Run("forms and files", func(t *testing.T) { developerForms(t, s) })
		s.audit(t)
	})
}

func developerSuccess(t *testing.T, s *service, c customer) {
	a := s.send(t, c.cleanup(media(page)))
	developerCleaned(t, a)
	a.cost(t, 1, 499)
	body := strings.TrimSuffix(media(page), "}") +
		`,"keep_distortion":true,"keep_ori":true,"preserve_color":true,"output_format":"png","return_layers":true,"remove":["blue"]}`
	a = s.send(t, c.cleanup(body))
	developerCleaned(t, a)
	a.cost(t, 1, 498)
	var v struct {
		Data struct {
			Data struct {
				Layers struct{ Handwriting, Mask []byte }
			}
		}
	}
	if err := json.Unmarshal(a.body, &v); err != nil {
		t.Fatal(err)
	}
	isPage(t, v.Data.Data.Layers.Handwriting)
	isPage(t, v.Data.Data.Layers.Mask)

	a = s.send(t, request{method: http.MethodGet, path: "/account", host: c.host,
		header: c.cleanup("").header})
	a.code(t, 200, 0)
	a.cost(t, 0, 498)
	var account struct {
		Data struct {
			Credits  int
			Packages []struct {
				Plan               string
				Credits, Remaining int
				Expires            string
				Expired            bool
			}
		}
	}
	if err := json.Unmarshal(a.body, &account); err != nil {
		t.Fatal(err)
	}
	got := account.Data
	if got.Credits != 498 || len(got.Packages) != 1 || got.Packages[0].Plan != "starter" ||
		got.Packages[0].Credits != 500 ||
		got.Packages[0].Remaining != 498 || got.Packages[0].Expires == "" || got.Packages[0].Expired {
		t.Errorf("GET /account: %s", a.body)
	}
	if l := s.ledger(t, c.id); l.count("settle") != 2 || l.sum() != 498 {
		t.Errorf("the ledger of 2 pages: %+v", l.Entries)
	}
}

func developerCleaned(t *testing.T, a answer) {
	t.Helper()
	a.code(t, 200, 0)
	var v struct {
		Message string
		Data    struct{ Data struct{ MediaID []byte } }
	}
	if err := json.Unmarshal(a.body, &v); err != nil || v.Message != "success" {
		t.Errorf("%v, message %q", err, v.Message)
	}
	isPage(t, v.Data.Data.MediaID)
}

// tooMuch is longer than any body that holds an image of 5 MiB.
var tooMuch = `{"media_id":"` + strings.Repeat("A", 7_300_000) + `"}`

func developerCodes(t *testing.T, s *service, c customer) {
	good := c.cleanup(media(page))
	typed := func(contentType string) request { r := good; r.content = contentType; return r }
	chunked := c.cleanup(tooMuch)
	chunked.chunked = true
	extra := func(keys string) request {
		return c.cleanup(strings.TrimSuffix(media(page), "}") + "," + keys + "}")
	}
	get := good
	get.method = http.MethodGet
	for name, k := range map[string]struct {
		r            request
		status, code int
	}{
		"method":                  {get, 405, 1000},
		"empty":                   {c.cleanup(""), 400, 1000},
		"not JSON":                {c.cleanup(`{"media_id":`), 400, 1000},
		"trailing data":           {c.cleanup(media(page) + "{}"), 400, 1000},
		"a list":                  {c.cleanup("[]"), 400, 1001},
		"unknown key":             {extra(`"x":1`), 400, 1001},
		"key in capitals":         {extra(`"Keep_Ori":true`), 400, 1001},
		"wrong type":              {extra(`"keep_ori":"true"`), 400, 1001},
		"null":                    {extra(`"keep_distortion":null`), 400, 1001},
		"bad value":               {extra(`"output_format":"exe"`), 400, 1001},
		"bad ink":                 {extra(`"remove":["gold"]`), 400, 1001},
		"data: prefix":            {c.cleanup(`{"media_id":"data:image/png;base64,AAAA"}`), 400, 1001},
		"no Content-Type":         {typed(""), 415, 1002},
		"a form":                  {typed("multipart/form-data; boundary=x"), 415, 1002},
		"Latin-1":                 {typed("application/json; charset=ISO-8859-1"), 415, 1002},
		"no media_id":             {c.cleanup("{}"), 400, 1003},
		"empty media_id":          {c.cleanup(`{"media_id":""}`), 400, 1003},
		"side over 4000 px":       {c.cleanup(media(hollow(4001, 20))), 400, 1004},
		"side under 16 px":        {c.cleanup(media(string(encoded(drawn(15, 100, false))))), 400, 1004},
		"over 5 MiB":              {c.cleanup(media(page + strings.Repeat("x", 5<<20))), 400, 1004},
		"not Base64":              {c.cleanup(`{"media_id":"!!!"}`), 400, 1005},
		"white space":             {c.cleanup(`{"media_id":"AAAA\nAAAA"}`), 400, 1005},
		"not a picture":           {c.cleanup(media("I am a text, not a picture.")), 400, 1005},
		"half a picture":          {c.cleanup(media(page[:len(page)/2])), 400, 1005},
		"body too large":          {c.cleanup(tooMuch).with("Expect", "100-continue"), 413, 1007},
		"body too large, chunked": {chunked.with("Expect", "100-continue"), 413, 1007},
		"blank":                   {c.cleanup(media(string(encoded(drawn(200, 120, false))))), 422, 2003},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.send(t, k.r)
			a.code(t, k.status, k.code)
			if remaining := "498"; k.code != 1000 || k.status != 405 {
				if a.header.Get("X-Credits-Charged") != "0" ||
					a.header.Get("X-Credits-Remaining") != remaining {
					t.Errorf("charged %q, remaining %q", a.header.Get("X-Credits-Charged"),
						a.header.Get("X-Credits-Remaining"))
				}
			}
			message, _ := a.object(t)["message"].(string)
			if k.code == 1004 && (!strings.Contains(message, "5 MB") || !strings.Contains(message, "4000")) {
				t.Errorf("1004 does not state its limits: %q", message)
			}
			if name == "data: prefix" && !strings.Contains(message, "data:") {
				t.Errorf("the message does not say what to leave out: %q", message)
			}
		})
	}
	for _, contentType := range []string{"application/json", "application/json;charset=utf-8"} {
		s.send(t, typed(contentType)).code(t, 200, 0)
	}
	if l := s.ledger(t, c.id); l.sum() != 496 || l.count("settle") != 4 {
		t.Errorf("the ledger after 4 pages and refusals: sum %d, %d settled", l.sum(), l.count("settle"))
	}
}

// developerOrder breaks two rules at once: the earlier one is told.
func developerOrder(t *testing.T, s *service, c customer) {
	poor := s.customerWith(t, 0)
	r := c.cleanup(media(page)).with("Authorization", "Bearer "+forged(c.token))
	r.method = http.MethodGet
	s.send(t, r).code(t, 405, 1000)

	r = c.cleanup(media(page)).with("Authorization", "Bearer "+forged(c.token))
	r.host = "localhost"
	s.send(t, r).code(t, 401, 1008) // Host, then token
	for _, host := range []string{"localhost", s.newCustomer(t).host} {
		r = c.cleanup(media(page))
		r.host = host
		a := s.send(t, r)
		a.code(t, 401, 1008)
		if at := "http://" + c.host + ":"; !strings.Contains(string(a.body), at) {
			t.Errorf("at %s it is not said that the customer's address begins with %s: %s", host, at, a.body)
		}
	}

	r = c.cleanup("").with("Authorization", "Bearer "+forged(c.token))
	r.content = "text/plain"
	s.send(t, r).code(t, 401, 1006) // token, then Content-Type

	r = c.cleanup(tooMuch).with("Expect", "100-continue")
	r.content = "text/plain"
	s.send(t, r).code(t, 415, 1002) // Content-Type, then size

	// size, then JSON
	s.send(t, c.cleanup(tooMuch[:len(tooMuch)-2]).with("Expect", "100-continue")).code(t, 413, 1007)
	// JSON, then parameters
	s.send(t, c.cleanup(`{"x":1} {`)).code(t, 400, 1000)
	// parameters, then image
	s.send(t, c.cleanup(`{"x":1}`)).code(t, 400, 1001)
	// image, then credits
	s.send(t, poor.cleanup(media("no picture"))).code(t, 400, 1005)
	s.send(t, poor.cleanup(media(page))).code(t, 402, 1008)
}

// forged is a token with another signature.
func forged(token string) string {
	last := "0"
	if strings.HasSuffix(token, "0") {
		last = "1"
	}
	return token[:len(token)-1] + last
}

func developerTokens(t *testing.T, s *service) {
	c, other := s.newCustomer(t), s.newCustomer(t)
	body := media(page)
	refused := func(r request, code int) {
		t.Helper()
		a := s.send(t, r)
		a.code(t, 401, code)
		a.cost(t, 0, 0)
		if a.header.Get("WWW-Authenticate") != "Bearer" {
			t.Error("401 without WWW-Authenticate")
		}
	}
	none := c.cleanup(body)
	none.header = nil
	refused(none, 1008)
	for _, token := range []string{forged(c.token), c.token[:len(c.token)-1], c.token + "a", "x",
		ident.Secret(), ""} {
		refused(c.cleanup(body).with("Authorization", "Bearer "+token), 1006)
	}
	refused(c.cleanup(body).with("Authorization", "Basic "+c.token), 1006)

	foreign := c.cleanup(body)
	foreign.host = other.host
	refused(foreign, 1008)
	for _, host := range []string{"localhost", "a." + c.host, "example.com", "127.0.0.1"} {
		wrong := c.cleanup(body)
		wrong.host = host
		refused(wrong, 1008)
	}
	capitals := c.cleanup(body)
	capitals.host = strings.ToUpper(c.host) + ":" + s.port
	s.send(t, capitals).code(t, 200, 0)

	account := request{method: http.MethodGet, path: "/account", host: other.host,
		header: c.cleanup("").header}
	refused(account, 1008)

	fresh := c
	fresh.token = s.rotate(t, c, "1h")
	s.send(t, c.cleanup(body)).code(t, 200, 0) // within the grace period
	latest := c
	latest.token = s.rotate(t, c, "0s")
	refused(c.cleanup(body), 1008)
	refused(fresh.cleanup(body), 1008)
	s.send(t, latest.cleanup(body)).code(t, 200, 0)

	s.admin(t, nil, "customer", "revoke", c.id)
	refused(latest.cleanup(body), 1008)
}

func developerCredits(t *testing.T, s *service) {
	c := s.customerWith(t, 1)
	s.send(t, c.cleanup(media(page))).cost(t, 1, 0)
	a := s.send(t, c.cleanup(media(page)))
	a.code(t, 402, 1008)
	a.cost(t, 0, 0)
	if l := s.ledger(t, c.id); l.count("settle") != 1 || l.sum() != 0 {
		t.Errorf("the ledger: %+v", l.Entries)
	}
}

// developerForms sends forms, and asks for the picture alone.
func developerForms(t *testing.T, s *service) {
	c := s.customerWith(t, 4)
	sent := func(fields ...string) request {
		r := c.cleanup("")
		r.content, r.body = form(t, fields...)
		return r
	}
	a := s.send(t, sent("image", page, "keep_ori", "true", "remove", "blue,red",
		"return_layers", "true"))
	developerCleaned(t, a)
	a.cost(t, 1, 3)

	a = s.send(t, sent("image", page, "output_format", "png").with("Accept", "image/*"))
	if a.status != 200 || a.header.Get("Content-Type") != "image/png" {
		t.Fatalf("asked for a picture, got %d %s", a.status, a.header.Get("Content-Type"))
	}
	isPage(t, a.body)
	a.cost(t, 1, 2)
	if a = s.send(t, c.cleanup(media(page)).with(
		"Accept", "application/json, image/*",
	)); a.status != 200 {
		t.Fatalf("asked for either, got %d", a.status)
	}
	developerCleaned(t, a)
	a.cost(t, 1, 1)

	for _, cost := range []int{1, 0} { // the boundary is another one each time
		s.send(t, sent("image", page).with("Idempotency-Key", "form")).cost(t, cost, 0)
	}
	s.send(t, sent("image", page, "keep_ori", "true").with(
		"Idempotency-Key", "form",
	)).code(t, 400, 1001)

	s.send(t, sent("image", page, "unknown", "x")).code(t, 400, 1001)
	s.send(t, sent("image", page, "keep_ori", "maybe")).code(t, 400, 1001)
	s.send(t, sent("image", page, "return_layers", "true").with(
		"Accept", "image/png",
	)).code(t, 400, 1001)
	s.send(t, sent("keep_ori", "true").with("Accept", "image/*")).code(t, 400, 1003)
	s.send(t, sent("image", "no picture")).code(t, 400, 1005)
	s.send(t, sent("image", page+strings.Repeat("x", 5<<20))).code(t, 400, 1004)
	s.send(t, sent("image", page)).code(t, 402, 1008)
}

func developerIdempotency(t *testing.T, s *service) {
	c := s.customerWith(t, 3)
	keyed := c.cleanup(media(page)).with("Idempotency-Key", "page 1")
	a := s.send(t, keyed)
	developerCleaned(t, a)
	a.cost(t, 1, 2)
	a = s.send(t, keyed)
	developerCleaned(t, a)
	a.cost(t, 0, 2)

	changed := keyed
	changed.body = append(bytes.Clone(keyed.body), ' ')
	a = s.send(t, changed)
	a.code(t, 400, 1001)
	a.cost(t, 0, 2)
	s.send(t, keyed.with("Idempotency-Key", strings.Repeat("k", 256))).code(t, 400, 1001)
	s.send(t, keyed.with("Idempotency-Key", "page 2")).cost(t, 1, 1)

	// What was refused is not remembered.
	blank := c.cleanup(media(string(encoded(drawn(200, 120, false))))).with(
		"Idempotency-Key", "page 3",
	)
	s.send(t, blank).code(t, 422, 2003)
	a = s.send(t, blank)
	a.code(t, 422, 2003)
	a.cost(t, 0, 1)
	if l := s.ledger(t, c.id); l.count("settle") != 2 || l.sum() != 1 {
		t.Errorf("the ledger: %+v", l.Entries)
	}
}

// TestCredentialsMail buys a package while the service is stopped, by a command that does not know
// its address, and uses what the mail says.
func TestCredentialsMail(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, address string) {
		t.Parallel()
		s := prepare(t, address)
		var made struct {
			Customer struct{ Slug, AppCode string }
			Token    string
		}
		s.start(t)
		s.stop(t)
		s.admin(t, &made, "customer", "add", "buyer@example.com", "--slug", "buyers-own", "--show-token")
		s.start(t)
		text := s.mail(t, "credentials")
		host := "buyers-own.localhost"
		said := func(name string) string {
			_, after, found := strings.Cut(text, name)
			if !found {
				t.Fatalf("the mail does not say %q", name)
			}
			return strings.Fields(after)[0]
		}
		if url := said("API domain"); url != "http://"+host+":"+s.port {
			t.Errorf("API domain %q", url)
		}
		if code := said("AppCode"); code != made.Customer.AppCode {
			t.Errorf("AppCode %q, want %q", code, made.Customer.AppCode)
		}
		token := said("Bearer token:")
		if token != made.Token {
			t.Errorf("the mail's token is %q, and %q was printed", token, made.Token)
		}
		file := s.mailFile(t, "credentials", "")
		if !strings.Contains(string(file), "\r\n"+token+"\r\n") {
			t.Errorf("the token cannot be copied whole from the mail's file:\n%s", file)
		}
		a := s.send(t, customer{host: host, token: token}.cleanup(media(page)))
		developerCleaned(t, a)
		a.cost(t, 1, 499)
		s.stop(t)
		if strings.Contains(s.log.text(), token) {
			t.Error("the log tells the token")
		}
	})
}

func TestRequestsAtOnce(t *testing.T) {
	each(t, []string{"--per-customer", "1"}, func(t *testing.T, s *service) {
		c := s.customerWith(t, 20)
		cleaned, refused := 0, 0
		for _, a := range s.together(t, 8, c.cleanup(media(page))) {
			if a.status == http.StatusOK {
				cleaned++
				continue
			}
			refused++
			a.code(t, 429, 4000)
			if a.header.Get("Retry-After") == "" {
				t.Error("429 without Retry-After")
			}
		}
		if cleaned == 0 || refused == 0 {
			t.Errorf("of 8 requests at once %d were cleaned and %d refused", cleaned, refused)
		}
		if l := s.ledger(t, c.id); l.count("settle") != cleaned || l.sum() != 20-cleaned {
			t.Errorf("%d cleaned, the ledger: %+v", cleaned, l.Entries)
		}
	})
}

// together sends a request many times at once, and returns the answers once all are concluded.
func (s *service) together(t *testing.T, n int, r request) []answer {
	t.Helper()
	answers, errs := make([]answer, n), make([]error, n)
	var sent sync.WaitGroup
	for i := range n {
		sent.Go(func() { answers[i], errs[i] = s.try(r) })
	}
	sent.Wait()
	for i, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
		s.concluded(t, answers[i])
	}
	return answers
}

// TestLastCredits has more requests at once than there are credits.
func TestLastCredits(t *testing.T) {
	flags := []string{"--per-customer", "200", "--queue", "200", "--max-requests", "400",
		"--deadline", "2m"}
	each(t, flags, func(t *testing.T, s *service) {
		const requests, credits = 200, 50
		s.client.Timeout = 2 * patience // the last of 50 pages is waited for
		c := s.customerWith(t, credits)
		cleaned := 0
		for _, a := range s.together(t, requests, c.cleanup(media(smallPage))) {
			if a.status == http.StatusOK {
				a.code(t, 200, 0)
				cleaned++
				continue
			}
			a.code(t, 402, 1008)
		}
		l := s.ledger(t, c.id)
		if cleaned != credits || l.count("settle") != credits || l.count("reserve") != credits ||
			l.sum() != 0 {
			t.Errorf("%d cleaned; %d reserved, %d settled, %d left", cleaned, l.count("reserve"),
				l.count("settle"), l.sum())
		}
		s.audit(t)
	})
}
