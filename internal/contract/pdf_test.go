package contract

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"unink/internal/browsertest"
	"unink/internal/store/storetest"
)

// pdfState is what the service tells of a PDF.
type pdfState struct {
	ID, State, File string
	Error           *struct{ Code int }
	Pages           struct{ Total, Waiting, Cleaned, Kept, Failed, Charged int }
	Page            []struct {
		Number, Charged int
		State           string
		Error           *struct{ Code int }
	}
}

const (
	hookKey    = "0123456789abcdef0123456789abcdef"
	hookSecret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
)

// examOf is a PDF of small scanned pages.
func examOf(pages int) string {
	var made []browsertest.PDFPage
	for i := range pages {
		made = append(made, browsertest.PDFPage{Width: 70 + i, Height: 40, Grey: 90, Written: true})
	}
	return string(browsertest.PDF(made...))
}

// sendPDF is a request with a PDF and fields, which are pairs of a name and a value.
func (c customer) sendPDF(t *testing.T, document string, fields ...string) request {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreateFormFile("pdf", "exam.pdf")
	if err == nil {
		_, err = io.WriteString(part, document)
	}
	for i := 0; i < len(fields) && err == nil; i += 2 {
		err = w.WriteField(fields[i], fields[i+1])
	}
	if err = closed(w, err); err != nil {
		t.Fatal(err)
	}
	r := c.cleanup(b.String())
	r.path, r.content = "/pdf", w.FormDataContentType()
	return r
}

func closed(c io.Closer, err error) error {
	if err != nil {
		return err
	}
	return c.Close()
}

// ask is a request for what is at a path.
func (c customer) ask(method, path string) request {
	return request{method: method, path: path, host: c.host, header: c.cleanup("").header}
}

func (a answer) pdf(t *testing.T, status int) pdfState {
	t.Helper()
	a.code(t, status, 0)
	var v struct{ Data pdfState }
	if err := json.Unmarshal(a.body, &v); err != nil {
		t.Fatal(err)
	}
	return v.Data
}

// until asks how far a PDF is until that is enough.
func (s *service) until(t *testing.T, c customer, id string, enough func(pdfState) bool) pdfState {
	t.Helper()
	late := time.After(10 * patience)
	for {
		state := s.send(t, c.ask(http.MethodGet, "/pdf/"+id)).pdf(t, http.StatusOK)
		if enough(state) {
			return state
		}
		select {
		case <-time.After(50 * time.Millisecond): // sooner than Retry-After asks
		case <-late:
			t.Fatalf("it came no further than %+v", state)
		}
	}
}

func ended(p pdfState) bool { return p.State != "waiting" && p.State != "working" }

var pageOfPDF = regexp.MustCompile(`/Type\s*/Page\b`)

// TestPDFSurvives kills the service in the middle of a PDF while the webhook's receiver is away:
// the file comes, each page is paid once, and the webhook is told, signed.
func TestPDFSurvives(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, address string) {
		t.Parallel()
		s := prepare(t, address, "--webhook-network", "127.0.0.0/8")
		s.start(t)
		const pages, credits = 40, 45
		c := s.customerWith(t, credits)
		port := freePort(t)
		send := c.sendPDF(t, examOf(pages), "webhook", "http://127.0.0.1:"+port+"/told",
			"webhook_secret", hookSecret).with("Idempotency-Key", "exam")
		a := s.send(t, send)
		id := a.pdf(t, http.StatusAccepted).ID
		if a.header.Get("Location") != "/pdf/"+id {
			t.Errorf("Location %q", a.header.Get("Location"))
		}
		a.cost(t, 0, credits)
		middle := s.until(t, c, id, func(p pdfState) bool { return p.Pages.Cleaned >= 7 })
		if ended(middle) || middle.Pages.Total != pages {
			t.Fatalf("not in the middle: %+v", middle)
		}
		s.send(t, c.ask(http.MethodGet, "/pdf/"+id+"/file")).code(t, http.StatusConflict, 4000)
		s.kill()
		s.start(t)
		again := s.until(t, c, id, func(pdfState) bool { return true })
		if again.Pages.Cleaned < middle.Pages.Cleaned {
			t.Errorf("%d pages were done before, and %d after", middle.Pages.Cleaned, again.Pages.Cleaned)
		}
		if other := s.send(t, send).pdf(t, http.StatusAccepted); other.ID != id {
			t.Errorf("the same key gave %s, and %s before", other.ID, id)
		}
		done := s.until(t, c, id, ended)
		if done.State != "done" || done.Pages.Cleaned != pages || done.Pages.Charged != pages {
			t.Fatalf("%+v", done)
		}
		s.log.wait(t, "webhook", func(l line) bool {
			return l["msg"] == "a PDF's webhook was not told yet" && l["tries"].(float64) >= 2
		})
		told := receiveHook(t, port)
		select {
		case got := <-told:
			if got.Type != "pdf.done" || got.Data.ID != id || got.Data.Pages != done.Pages {
				t.Errorf("told %+v", got)
			}
		case <-time.After(patience):
			t.Error("the webhook was not told")
		}
		s.log.wait(t, "webhook's end", func(l line) bool {
			return l["msg"] == "a PDF's webhook ended" && l["told"] == true
		})
		if len(told) > 0 {
			t.Errorf("the webhook was told again")
		}

		file := s.send(t, c.ask(http.MethodGet, done.File))
		if n := len(pageOfPDF.FindAll(file.body, -1)); file.status != http.StatusOK || n != pages ||
			file.header.Get("Content-Type") != "application/pdf" {
			t.Errorf("the file: %d, %d pages, %v", file.status, n, file.header)
		}
		part := s.send(t, c.ask(http.MethodGet, done.File).with("Range", "bytes=5-99"))
		if part.status != http.StatusPartialContent || !bytes.Equal(part.body, file.body[5:100]) {
			t.Errorf("a part of the file: %d %d bytes", part.status, len(part.body))
		}
		s.released(t, c)
		l := s.ledger(t, c.id)
		if l.count("settle") != pages || l.sum() != credits-pages {
			t.Errorf("%d pages were paid, %d credits are left", l.count("settle"), l.sum())
		}
		if a := s.send(t, c.ask(http.MethodDelete, "/pdf/"+id)); a.status != http.StatusNoContent {
			t.Errorf("DELETE: %d %s", a.status, a.body)
		}
		for _, path := range []string{"/pdf/" + id, done.File} {
			s.send(t, c.ask(http.MethodGet, path)).code(t, http.StatusNotFound, 1000)
		}
		s.audit(t)
		s.stop(t)
	})
}

// hookEvent is what a webhook is told.
type hookEvent struct {
	Type string
	Data pdfState
}

// receiveHook listens until the test ends, and hands on what is signed with [hookKey].
func receiveHook(t *testing.T, port string) <-chan hookEvent {
	t.Helper()
	told := make(chan hookEvent, 10)
	receiver := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter,
		r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		h := r.Header
		mac := hmac.New(sha256.New, []byte(hookKey))
		fmt.Fprintf(mac, "%s.%s.%s", h.Get("Webhook-Id"), h.Get("Webhook-Timestamp"), body)
		want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
		if h.Get("Webhook-Signature") != want || r.Method != http.MethodPost || r.URL.Path != "/told" {
			t.Errorf("%s %s signed %q, want %q", r.Method, r.URL.Path, h.Get("Webhook-Signature"), want)
		}
		var e hookEvent
		if err := json.Unmarshal(body, &e); err != nil {
			t.Error(err)
		}
		told <- e
	}))
	var err error
	if receiver.Listener, err = net.Listen("tcp", "127.0.0.1:"+port); err != nil {
		t.Fatal(err)
	}
	receiver.Start()
	t.Cleanup(receiver.Close)
	return told
}

func TestPDF(t *testing.T) {
	each(t, []string{"--pdf-jobs", "3"}, func(t *testing.T, s *service) {
		t.Run("refusals", func(t *testing.T) { pdfRefusals(t, s) })
		t.Run("credits", func(t *testing.T) { pdfCredits(t, s) })
		t.Run("kept", func(t *testing.T) { pdfKept(t, s) })
		s.audit(t)
	})
}

func pdfRefusals(t *testing.T, s *service) {
	c, other, poor := s.customerWith(t, 5), s.customerWith(t, 5), s.customerWith(t, 0)
	exam := examOf(1)
	inJSON := func(body string) request {
		r := c.cleanup(body)
		r.path = "/pdf"
		return r
	}
	for name, k := range map[string]struct {
		r            request
		status, code int
	}{
		"no token":     {request{path: "/pdf", host: c.host}, 401, 1008},
		"other method": {c.ask(http.MethodPut, "/pdf"), 405, 1000},
		"no file":      {inJSON(`{}`), 400, 1003},
		"not JSON":     {inJSON(`{`), 400, 1000},
		"unknown key":  {inJSON(`{"return_layers":true}`), 400, 1001},
		"a picture":    {inJSON(media(page)), 400, 1005},
		"no form":      {func() request { r := c.sendPDF(t, exam); r.body = nil; return r }(), 415, 1002},
		"pages":        {c.sendPDF(t, exam, "pages", "2-1"), 400, 1001},
		"WebP":         {c.sendPDF(t, exam, "output_format", "webp"), 400, 1001},
		"no secret":    {c.sendPDF(t, exam, "webhook", "https://example.com"), 400, 1001},
		"weak secret":  {c.sendPDF(t, exam, "webhook", "https://example.com", "webhook_secret", "abc"), 400, 1001},
		"loopback":     {c.sendPDF(t, exam, "webhook", "http://127.0.0.1:1/", "webhook_secret", hookSecret), 400, 1001},
		"localhost":    {c.sendPDF(t, exam, "webhook", "http://a.localhost/", "webhook_secret", hookSecret), 400, 1001},
		"private":      {c.sendPDF(t, exam, "webhook", "http://10.1.2.3/", "webhook_secret", hookSecret), 400, 1001},
		"link-local":   {c.sendPDF(t, exam, "webhook", "http://[fe80::1]/", "webhook_secret", hookSecret), 400, 1001},
		"metadata":     {c.sendPDF(t, exam, "webhook", "http://169.254.169.254/", "webhook_secret", hookSecret), 400, 1001},
		"mapped":       {c.sendPDF(t, exam, "webhook", "http://[::ffff:10.0.0.1]/", "webhook_secret", hookSecret), 400, 1001},
		"file scheme":  {c.sendPDF(t, exam, "webhook", "file:///etc/passwd", "webhook_secret", hookSecret), 400, 1001},
		"no credits":   {poor.sendPDF(t, exam), 402, 1008},
		"too large":    {c.sendPDF(t, "%PDF-"+strings.Repeat("a", 32<<20)), 413, 1007},
		"no such":      {c.ask(http.MethodGet, "/pdf/pdf_nothing"), 404, 1000},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.send(t, k.r)
			a.code(t, k.status, k.code)
		})
	}
	mine := s.send(t, c.sendPDF(t, exam).with("Idempotency-Key", "one")).pdf(t, 202)
	for _, r := range []request{other.ask(http.MethodGet, "/pdf/"+mine.ID),
		other.ask(http.MethodDelete, "/pdf/"+mine.ID),
		other.ask(http.MethodGet, "/pdf/"+mine.ID+"/file")} {
		s.send(t, r).code(t, http.StatusNotFound, 1000)
	}
	s.send(t, c.sendPDF(t, exam, "keep_ori", "true").with("Idempotency-Key", "one")).
		code(t, 400, 1001)
	theirs := s.send(t, other.sendPDF(t, exam).with("Idempotency-Key", "one")).pdf(t, 202)
	if theirs.ID == mine.ID {
		t.Error("two customers' keys met")
	}
	for range 2 {
		s.send(t, c.sendPDF(t, exam)).pdf(t, 202)
	}
	s.send(t, c.sendPDF(t, exam)).code(t, http.StatusTooManyRequests, 4000)
	s.send(t, c.sendPDF(t, exam).with("Idempotency-Key", "one")).pdf(t, 202)

	broken := s.send(t, other.sendPDF(t, "%PDF-1.4\nnothing")).pdf(t, 202)
	state := s.until(t, other, broken.ID, ended)
	if state.State != "failed" || state.Error == nil || state.Error.Code != 1005 {
		t.Errorf("a broken PDF: %+v", state)
	}
	s.send(t, other.ask(http.MethodGet, "/pdf/"+broken.ID+"/file")).code(t, 404, 1000)
	if a := s.send(t, other.ask(http.MethodDelete, "/pdf/"+broken.ID)); a.status != 204 {
		t.Errorf("DELETE: %d", a.status)
	}
	none := s.send(t, other.sendPDF(t, exam, "pages", "7")).pdf(t, 202)
	if state := s.until(t, other, none.ID, ended); state.State != "failed" || state.Error == nil ||
		state.Error.Code != 1001 {
		t.Errorf("a page that is not there: %+v", state)
	}
}

// pdfCredits has fewer credits than pages: what is paid comes back, in a file with all pages.
func pdfCredits(t *testing.T, s *service) {
	c := s.customerWith(t, 2)
	id := s.send(t, c.sendPDF(t, examOf(6), "pages", "2-6")).pdf(t, 202).ID
	done := s.until(t, c, id, ended)
	if done.State != "partial" || done.Pages.Cleaned != 2 || done.Pages.Failed != 3 ||
		done.Pages.Charged != 2 || done.Error == nil || done.Error.Code != 1008 {
		t.Fatalf("%+v", done)
	}
	for _, p := range done.Page {
		if (p.State == "failed") != (p.Error != nil && p.Error.Code == 1008 && p.Charged == 0) {
			t.Errorf("page %+v", p)
		}
	}
	file := s.send(t, c.ask(http.MethodGet, done.File))
	if n := len(pageOfPDF.FindAll(file.body, -1)); n != 5 {
		t.Errorf("%d pages are in the file", n)
	}
	if l := s.ledger(t, c.id); l.count("settle") != 2 || l.sum() != 0 {
		t.Errorf("%+v", l.Entries)
	}
}

// pdfKept has a page that is all print, which stays and costs nothing, and one with an annotation,
// which comes off and costs a credit.
func pdfKept(t *testing.T, s *service) {
	c := s.customerWith(t, 3)
	plain := browsertest.PDFPage{Width: 90, Height: 90, Grey: 90}
	written, marked := plain, plain
	written.Written, marked.Marked = true, true
	for keep, want := range map[string]string{
		"false": "cleaned 1, kept 0, kept 1", "true": "cleaned 1, kept 0, kept 0",
	} {
		id := s.send(t, c.sendPDF(t, string(browsertest.PDF(written, plain, marked)), "keep_marks",
			keep)).pdf(t, 202).ID
		done := s.until(t, c, id, ended)
		var pages []string
		for _, p := range done.Page {
			pages = append(pages, fmt.Sprintf("%s %d", p.State, p.Charged))
		}
		if got := strings.Join(pages, ", "); done.State != "done" || got != want {
			t.Errorf("keep_marks %s: %s %s, want %s", keep, done.State, got, want)
		}
	}
	if l := s.ledger(t, c.id); l.count("settle") != 3 || l.sum() != 0 {
		t.Errorf("%+v", l.Entries)
	}
}
