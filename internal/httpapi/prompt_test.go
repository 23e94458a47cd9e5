package httpapi

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"unink"
	"unink/internal/account"
	"unink/internal/credit"
	"unink/internal/httpapi/call"
)

// witness takes an answer, and looks at the service each time something of it arrives.
type witness struct {
	deadlineRecorder
	begins  func()               // before the header is written
	arrives func(so []byte)      // after each part of the body
	refuse  func(b []byte) error // whether a part can be written; nil is always
}

func (w *witness) WriteHeader(status int) {
	w.begins()
	w.deadlineRecorder.WriteHeader(status)
}

func (w *witness) Write(b []byte) (int, error) {
	if w.refuse != nil {
		if err := w.refuse(b); err != nil {
			return 0, err
		}
	}
	n, err := w.deadlineRecorder.Write(b)
	w.arrives(w.Body.Bytes())
	return n, err
}

// shop is a customer with a few credits, whose requests each have the same idempotency key.
type shop struct {
	*accountServer
	account.Customer
	token string
	page  string
}

func newShop(t *testing.T, credits int) *shop {
	s := withAccounts(t)
	c, token := s.bought("prompt@example.com", "prompt-shop")
	if _, _, err := s.Services.Credits.Grant(
		t.Context(), credit.Grant{Owner: call.CustomerOwner(c.ID), Credits: credits,
			Expires: credit.Never,
			Source:  "test"},
	); err != nil {
		t.Fatal(err)
	}
	return &shop{s, c, token, mediaJSON(picture(t, 32, 32), "")}
}

func (s *shop) send(w http.ResponseWriter) { s.sendAs(s.t.Context(), w) }

func (s *shop) sendAs(ctx context.Context, w http.ResponseWriter) {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/cleanup", strings.NewReader(s.page))
	r.Host = s.Slug + "." + s.Config.Domain
	r.Header.Set("Authorization", "Bearer "+s.token)
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("Idempotency-Key", "prompt")
	defer func() {
		p := recover()
		if err, _ := p.(error); p != nil && !errors.Is(err, http.ErrAbortHandler) {
			panic(p) // anything else than the end of a connection
		}
	}()
	s.Handler().ServeHTTP(w, r)
}

// slotsFree reports whether the customer may have as many requests at once as ever.
func (s *shop) slotsFree() bool {
	for range 4 {
		free, ok := s.Services.Slots.Acquire(call.CustomerOwner(s.ID))
		if !ok {
			return false
		}
		defer free()
	}
	return true
}

func (s *shop) left() (usable, held int) {
	s.t.Helper()
	usable, err := s.Services.Credits.Balance(s.t.Context(), call.CustomerOwner(s.ID))
	if err != nil {
		s.t.Fatal(err)
	}
	open, err := s.Services.Credits.Outstanding(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return usable, open.Held
}

// Who asks again as soon as an answer is there must find nothing of the first request in the way.
func TestNothingIsHeldWhenARefusalBegins(t *testing.T) {
	s := newShop(t, 1)
	s.engine.Cleaner = refusing(unink.ErrNoContent)
	w := &witness{deadlineRecorder: deadlineRecorder{httptest.NewRecorder()}, arrives: func([]byte) {}}
	begun := false
	w.begins = func() {
		begun = true
		if usable, held := s.left(); usable != 1 || held != 0 || !s.slotsFree() {
			t.Errorf("the refusal begins with %d credits usable, %d held, slots free %v", usable, held,
				s.slotsFree())
		}
	}
	s.send(w)
	if !begun || w.Code != http.StatusUnprocessableEntity ||
		w.Header().Get("X-Credits-Remaining") != "1" {
		t.Errorf("got %d with %q credits", w.Code, w.Header().Get("X-Credits-Remaining"))
	}
}

// Nothing of a picture is on its way before it is paid for, and then nothing is held.
func TestCreditIsSettledBeforeTheAnswerBegins(t *testing.T) {
	s := newShop(t, 2)
	begun := false
	w := &witness{deadlineRecorder: deadlineRecorder{httptest.NewRecorder()}, arrives: func([]byte) {}}
	w.begins = func() {
		begun = true
		if usable, held := s.left(); usable != 1 || held != 0 || !s.slotsFree() {
			t.Errorf("the answer begins with %d credits usable, %d held, slots free %v", usable, held,
				s.slotsFree())
		}
	}
	s.send(w)
	if !begun || w.Code != http.StatusOK || w.Header().Get("X-Credits-Charged") != "1" {
		t.Fatalf("got %d, charged %q: %s", w.Code, w.Header().Get("X-Credits-Charged"), w.Body)
	}
	again := &deadlineRecorder{httptest.NewRecorder()}
	s.send(again)
	if again.Code != http.StatusOK || again.Header().Get("X-Credits-Charged") != "0" {
		t.Errorf("the same key again: %d, charged %q", again.Code,
			again.Header().Get("X-Credits-Charged"))
	}
}

// timed is a witness that keeps when the client's time to take the answer was granted.
type timed struct {
	*witness
	granted func()
}

func (w *timed) SetWriteDeadline(time.Time) error {
	w.granted()
	return nil
}

// A database that answers late takes its own time to settle, not the client's to receive.
func TestSettlingTakesNoTimeFromTheClient(t *testing.T) {
	s := newShop(t, 1)
	settled := false
	w := &timed{witness: &witness{deadlineRecorder: deadlineRecorder{httptest.NewRecorder()},
		begins: func() {}, arrives: func([]byte) {}}}
	w.granted = func() {
		_, held := s.left()
		settled = held == 0
	}
	s.send(w)
	if w.Code != http.StatusOK || !settled {
		t.Errorf("got %d; its time began before the settlement", w.Code)
	}
}

// Whoever reads a part of an answer and closes has paid: the part may be the picture. With an
// idempotency key the rest comes for nothing.
func TestAnswerThatIsBrokenOffIsPaidFor(t *testing.T) {
	s := newShop(t, 1)
	w := &witness{deadlineRecorder: deadlineRecorder{httptest.NewRecorder()}, begins: func() {},
		arrives: func([]byte) {}}
	w.refuse = func([]byte) error { return errors.New("the connection was reset") }
	s.send(w)
	if usable, held := s.left(); usable != 0 || held != 0 {
		t.Errorf("%d credits usable, %d held after an answer that was broken off", usable, held)
	}
	again := &deadlineRecorder{httptest.NewRecorder()}
	s.send(again)
	if again.Code != http.StatusOK || again.Header().Get("X-Credits-Charged") != "0" {
		t.Errorf("the same key again: %d %s", again.Code, again.Body)
	}
}

// Whoever has left before the page is done pays nothing.
func TestNobodyPaysWhoLeftBefore(t *testing.T) {
	s := newShop(t, 1)
	ctx, leave := context.WithCancel(t.Context())
	s.engine.Cleaner = &fakeCleaner{clean: func(_ context.Context, data []byte, o unink.Options) (
		*unink.Result, error,
	) {
		leave()
		return echo(data, o)
	}}
	s.sendAs(ctx, &deadlineRecorder{httptest.NewRecorder()})
	if usable, held := s.left(); usable != 1 || held != 0 {
		t.Errorf("%d credits usable, %d held after a client that left", usable, held)
	}
}

// What the service has no worker for counts nowhere: when there is one again, the caller has its
// whole minute.
func TestBusyServiceUsesUpNoWindow(t *testing.T) {
	s := withAccounts(t)
	owner := s.userWith(10)
	session := s.logIn(pia, passwordOfAll)
	send := func() int {
		body, form := formOf(t, field{name: "image", data: picture(t, 32, 32)},
			field{name: "userId", value: strings.TrimPrefix(owner, account.OwnerPrefix)})
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/process-image", body)
		r.Header.Set("Content-Type", form)
		r.Header.Set("Authorization", "Bearer "+session)
		return s.send(r).status
	}
	s.engine.Gate.Resize(0)
	for range 7 {
		if got := send(); got != http.StatusServiceUnavailable {
			t.Fatalf("without a worker: %d", got)
		}
	}
	s.engine.Gate.Resize(1)
	for i := range 5 {
		if got := send(); got != http.StatusOK {
			t.Fatalf("page %d of a minute: %d", i+1, got)
		}
	}
	if got := send(); got != http.StatusTooManyRequests {
		t.Errorf("a sixth page: %d", got)
	}
}
