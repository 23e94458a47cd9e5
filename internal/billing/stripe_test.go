package billing_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v84/webhook"

	"unink/internal/billing"
	"unink/internal/store/storetest"
)

const webhookSecret = "whsec_test"

func (w *world) stripe(url string) *billing.Stripe {
	w.t.Helper()
	c := billing.Config{SecretKey: "sk_test_1", WebhookSecret: webhookSecret, URL: url}
	s, err := billing.NewStripe(c, catalogue{}, w.deliverer(), w.purchases, w.now,
		slog.New(slog.NewTextHandler(w.logged, nil)))
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// object is a Stripe object, or a part of one.
type object = map[string]any

// event writes an event as Stripe does.
func event(t *testing.T, id, kind string, about object) []byte {
	t.Helper()
	payload, err := json.Marshal(object{
		"id": id, "object": "event", "type": kind, "api_version": "2020-08-27",
		"created": time.Now().Unix(),
		"data":    object{"object": about},
	})
	if err != nil {
		t.Fatal(err)
	}
	return payload
}

func sign(payload []byte, secret string, at time.Time) string {
	return webhook.GenerateTestSignedPayload(
		&webhook.UnsignedPayload{Payload: payload, Secret: secret, Timestamp: at},
	).Header
}

func (w *world) hear(s *billing.Stripe, payload []byte) error {
	return s.Webhook(w.t.Context(), payload, sign(payload, webhookSecret, time.Now()))
}

func (w *world) mustHear(s *billing.Stripe, payload []byte) {
	w.t.Helper()
	if err := w.hear(s, payload); err != nil {
		w.t.Fatal(err)
	}
}

// paidSession is a session in which buyer n paid for the plan Popular.
func paidSession(n int) object {
	return object{
		"id": fmt.Sprint("cs_", n), "object": "checkout.session", "mode": "payment",
		"payment_status": "paid",
		"payment_intent": fmt.Sprint("pi_", n), "amount_total": 34900, "currency": "usd",
		"metadata": object{"plan": "popular", "name": "Dev Ltd",
			"slug": fmt.Sprint("dev-ltd-", n)},
		"customer_details": object{"email": fmt.Sprintf("dev%d@example.com", n), "name": "D. Veloper"},
		"customer_email":   nil,
	}
}

func refund(n int) object {
	return object{"id": fmt.Sprint("ch_", n), "object": "charge",
		"payment_intent": fmt.Sprint("pi_", n),
		"amount":         34900, "amount_refunded": 34900, "refunded": true}
}

func dispute(n int) object {
	return object{"id": fmt.Sprint("dp_", n), "object": "dispute",
		"payment_intent": object{"id": fmt.Sprint("pi_", n), "object": "payment_intent"},
		"charge":         fmt.Sprint("ch_", n), "reason": "fraudulent", "status": "needs_response"}
}

const (
	completed = "checkout.session.completed"
	succeeded = "checkout.session.async_payment_succeeded"
	refunded  = "charge.refunded"
	disputed  = "charge.dispute.created"
	withdrawn = "charge.dispute.funds_withdrawn"
)

func TestSameWebhookTenTimesAtOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		s := w.stripe("")
		payload := event(t, "evt_1", completed, paidSession(1))
		var wait sync.WaitGroup
		for range 10 {
			wait.Go(func() {
				if err := w.hear(s, payload); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		w.wantOne("dev1@example.com", 5000)

		// That holds for other events of the same payment, and when the events are forgotten.
		w.mustHear(s, event(t, "evt_2", succeeded, paidSession(1)))
		w.advance(61 * 24 * time.Hour)
		if n, err := s.Prune(t.Context()); n != 2 || err != nil {
			t.Errorf("pruned %d events, %v", n, err)
		}
		w.mustHear(s, payload)
		if n := len(w.mailed("dev1@example.com")); n != 1 {
			t.Errorf("%d mails", n)
		}
		if n, err := s.Prune(t.Context()); n != 0 || err != nil {
			t.Errorf("pruned %d new events, %v", n, err)
		}
	})
}

// In whatever order Stripe tells of a payment and its refund or dispute, nothing is left of it; and
// when the refund came first, no credentials go out.
func TestShuffledEvents(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		s := w.stripe("")
		n := 0
		for _, undo := range []struct {
			kind  string
			about func(int) object
		}{{refunded, refund}, {disputed, dispute}, {withdrawn, dispute}} {
			for _, order := range [][]string{
				{completed, undo.kind}, {undo.kind, completed}, {completed, undo.kind, succeeded},
				{undo.kind, succeeded, completed}, {completed, succeeded, undo.kind}, {undo.kind, undo.kind, completed},
			} {
				n++
				for i, kind := range order {
					about := paidSession(n)
					if kind == undo.kind {
						about = undo.about(n)
					}
					w.mustHear(s, event(t, fmt.Sprint("evt_", n, "_", i), kind, about))
				}
				mails := len(w.mailed(fmt.Sprintf("dev%d@example.com", n)))
				if want := map[bool]int{true: 1}[order[0] == completed]; mails != want {
					t.Errorf("%v: %d mails", order, mails)
				}
				if left := w.count(`SELECT COALESCE(SUM(remaining), 0) FROM packages`); left != 0 {
					t.Fatalf("%v: %d credits are left", order, left)
				}
			}
		}
	})
}

func TestWebhookSignature(t *testing.T) {
	w := newWorld(t, storetest.SQLite(t))
	s := w.stripe("")
	payload := event(t, "evt_1", completed, paidSession(1))
	good := sign(payload, webhookSecret, time.Now())
	for name, call := range map[string]struct {
		payload   []byte
		signature string
	}{
		"none":            {payload, ""},
		"nonsense":        {payload, "t=1,v1=zz"},
		"another secret":  {payload, sign(payload, "whsec_other", time.Now())},
		"old":             {payload, sign(payload, webhookSecret, time.Now().Add(-6*time.Minute))},
		"changed body":    {[]byte(strings.Replace(string(payload), "popular", "enterprise", 1)), good},
		"changed time":    {payload, strings.Replace(good, "t=1", "t=2", 1)},
		"empty body":      {nil, good},
		"endless body":    {make([]byte, 2<<20), good},
		"not JSON":        {[]byte("{"), sign([]byte("{"), webhookSecret, time.Now())},
		"another version": {payload, strings.Replace(good, "v1=", "v0=", 1)},
	} {
		if err := s.Webhook(t.Context(), call.payload, call.signature); !errors.Is(
			err, billing.ErrSignature,
		) {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.wantNothing("dev1@example.com")
	if err := s.Webhook(t.Context(), payload, good); err != nil {
		t.Error(err)
	}
	w.wantOne("dev1@example.com", 5000)
}

func TestUnpaidSessionWaitsForItsPayment(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		s := w.stripe("")
		unpaid := paidSession(1)
		unpaid["payment_status"] = "unpaid"
		w.mustHear(s, event(t, "evt_1", completed, unpaid))
		w.mustHear(s, event(t, "evt_2", "checkout.session.async_payment_failed", unpaid))
		w.wantNothing("dev1@example.com")
		w.mustHear(s, event(t, "evt_3", succeeded, paidSession(1)))
		w.wantOne("dev1@example.com", 5000)
	})
}

// What is paid must be the price of what is asked for, by somebody who is there. Else it is kept
// for the operator, who is told once, and Stripe is told that it was heard.
func TestWrongPaymentsAreParkedWithOneAlarm(t *testing.T) {
	for name, change := range map[string]func(object){
		"less": func(o object) { o["amount_total"] = 9900 },
		"more": func(o object) { o["amount_total"] = 34901 },
		"nothing": func(o object) {
			o["amount_total"], o["payment_status"] = 0, "no_payment_required"
		},
		"another currency":  func(o object) { o["currency"] = "idr" },
		"no currency":       func(o object) { delete(o, "currency") },
		"a bigger plan":     func(o object) { o["metadata"] = object{"plan": "enterprise"} },
		"an unknown plan":   func(o object) { o["metadata"] = object{"plan": "everything"} },
		"a subscription":    func(o object) { o["mode"] = "subscription" },
		"no e-mail address": func(o object) { o["customer_details"] = nil },
		"a pack for a user who is gone": func(o object) {
			o["metadata"], o["amount_total"] = object{"plan": "web-50", "user": "usr_0"}, 490
		},
		"an unprintable reference": func(o object) { o["payment_intent"] = "pi_1\x00" },
		"a pack for nobody": func(o object) {
			o["metadata"], o["amount_total"] = object{"plan": "web-50"}, 490
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, storetest.SQLite(t))
			about := paidSession(1)
			change(about)
			for _, id := range []string{"evt_1", "evt_1", "evt_2"} {
				w.mustHear(w.stripe(""), event(t, id, completed, about))
			}
			if err := w.deliverer().Resume(t.Context()); err != nil {
				t.Error(err)
			}
			w.wantNothing("dev1@example.com")
			if n := w.count(`SELECT COUNT(*) FROM packages`); n != 0 {
				t.Errorf("%d packages", n)
			}
			if logged := w.logged.String(); strings.Count(logged, "alarm") != 1 ||
				!strings.Contains(logged, "pi_1") {
				t.Errorf("logged: %s", logged)
			}
			if n := w.count(`SELECT COUNT(*) FROM parked`); n != 1 {
				t.Errorf("%d are parked", n)
			}
		})
	}
}

func TestWebPackThroughStripe(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		s, user := w.stripe(""), w.webPack().UserID
		about := paidSession(1)
		about["metadata"], about["amount_total"] = object{"plan": "web-50", "user": user}, 490
		w.mustHear(s, event(t, "evt_1", completed, about))
		w.wantPackage("user:"+user, 50)
		w.mustHear(s, event(t, "evt_2", refunded, refund(1)))
		w.wantPackage("user:"+user, 0)
	})
}

// A session without a payment intent is known by its own id.
func TestSessionWithoutPaymentIntent(t *testing.T) {
	w := newWorld(t, storetest.SQLite(t))
	about := paidSession(1)
	about["payment_intent"] = nil
	w.mustHear(w.stripe(""), event(t, "evt_1", completed, about))
	w.wantOne("dev1@example.com", 5000)
	w.revoke(w.deliverer(), "cs_1")
	w.wantNothingLeft()
}

func (w *world) wantNothingLeft() {
	w.t.Helper()
	if n := w.count(`SELECT SUM(remaining) FROM packages`); n != 0 {
		w.t.Errorf("%d credits are left", n)
	}
}

func TestEventsThatChangeNothing(t *testing.T) {
	w := newWorld(t, storetest.SQLite(t))
	s := w.stripe("")
	w.mustHear(s, event(t, "evt_0", completed, paidSession(1)))
	partial, inquiry, nameless, foreign := refund(1), dispute(1), refund(1), paidSession(2)
	partial["refunded"], partial["amount_refunded"] = false, 100
	inquiry["status"] = "warning_needs_response"
	nameless["payment_intent"] = nil
	delete(foreign, "metadata")
	for i, call := range []struct {
		kind  string
		about object
	}{
		{refunded, partial}, {disputed, inquiry}, {refunded, nameless}, {completed, foreign},
		{"invoice.paid", object{"id": "in_1"}}, {"charge.dispute.closed", dispute(1)},
	} {
		w.mustHear(s, event(t, fmt.Sprint("evt_x", i), call.kind, call.about))
	}
	w.wantOne("dev1@example.com", 5000)
	w.wantNothing("dev2@example.com")
	if err := w.hear(s, event(t, "evt_y", completed, object{"amount_total": "many"})); err == nil ||
		errors.Is(err, billing.ErrSignature) {
		t.Errorf("an event that cannot be read: %v", err)
	}
}

// A webhook that failed is not remembered as heard.
func TestFailedWebhookIsHeardAgain(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		s := w.stripe("")
		payload := event(t, "evt_1", completed, paidSession(1))
		for point := range 6 {
			w.faults.arm(point, false)
			if err := w.hear(s, payload); !errors.Is(err, errFault) {
				t.Fatalf("error is %v", err)
			}
			w.faults.disarm()
			w.advance(3 * time.Minute) // an attempt that never knew it began lasts until its lease ends
		}
		w.mustHear(s, payload)
		w.wantOne("dev1@example.com", 5000)
	})
}

// stripeAPI is as much of Stripe's API as is used; it keeps what was asked of it.
type stripeAPI struct {
	mu       sync.Mutex
	forms    []url.Values
	headers  []http.Header
	statuses []int // of the next answers; then 200
}

const hangUp = 0 // a status: none, the connection breaks

func (a *stripeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	form, err := url.ParseQuery(string(body))
	if err != nil || r.Method != http.MethodPost || r.URL.Path != "/v1/checkout/sessions" {
		http.NotFound(w, r)
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forms, a.headers = append(a.forms, form), append(a.headers, r.Header.Clone())
	w.Header().Set("Content-Type", "application/json")
	if len(a.statuses) > 0 {
		status := a.statuses[0]
		a.statuses = a.statuses[1:]
		if status == hangUp {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"error":{"type":"api_error","message":"no"}}`)
		return
	}
	_, _ = io.WriteString(
		w, `{"id":"cs_1","object":"checkout.session","url":"https://checkout.stripe.example/c/cs_1"}`,
	)
}

func TestCheckout(t *testing.T) {
	w := newWorld(t, storetest.SQLite(t))
	api := &stripeAPI{}
	server := httptest.NewServer(api)
	defer server.Close()
	s := w.stripe(server.URL)
	buyer := billing.Buyer{Email: "dev@example.com", Name: "Dev\nLtd", Slug: "dev-ltd",
		UserID: "usr_1"}
	for range 2 {
		page, err := s.Checkout(t.Context(), "popular", buyer, "https://unink.example/ok",
			"https://unink.example/no")
		if err != nil || page != "https://checkout.stripe.example/c/cs_1" {
			t.Fatalf("page is %q, %v", page, err)
		}
	}
	for key, want := range map[string]string{
		"mode": "payment", "success_url": "https://unink.example/ok",
		"cancel_url":              "https://unink.example/no",
		"line_items[0][quantity]": "1", "line_items[0][price_data][currency]": "usd",
		"line_items[0][price_data][unit_amount]":        "34900",
		"line_items[0][price_data][product_data][name]": "Popular",
		"metadata[plan]": "popular", "metadata[user]": "usr_1", "metadata[slug]": "dev-ltd",
		"metadata[name]":      "Dev Ltd",
		"client_reference_id": "usr_1", "customer_email": "dev@example.com",
		"adaptive_pricing[enabled]": "false",
	} {
		if got := api.forms[0].Get(key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
		api.forms[0].Del(key)
	}
	if len(api.forms[0]) != 0 {
		t.Errorf("the form has besides %v", api.forms[0])
	}
	first, second := api.headers[0], api.headers[1]
	if first.Get("Authorization") != "Bearer sk_test_1" {
		t.Errorf("Authorization is %q", first.Get("Authorization"))
	}
	if key := first.Get("Idempotency-Key"); key == "" || key == second.Get("Idempotency-Key") {
		t.Errorf("idempotency keys are %q and %q", key, second.Get("Idempotency-Key"))
	}

	if _, err := s.Checkout(t.Context(), "web-50", billing.Buyer{}, "https://a",
		"https://b"); !errors.Is(err, billing.ErrRefused) {
		t.Errorf("a web pack without a user: %v", err)
	}
	if _, err := s.Checkout(t.Context(), "everything", buyer, "https://a", "https://b"); !errors.Is(
		err, billing.ErrRefused,
	) {
		t.Errorf("an unknown plan: %v", err)
	}
	if len(api.forms) != 2 {
		t.Errorf("Stripe was asked %d times", len(api.forms))
	}
}

// A call that is made again because the network failed carries the same idempotency key.
func TestCheckoutFailures(t *testing.T) {
	w := newWorld(t, storetest.SQLite(t))
	api := &stripeAPI{statuses: []int{hangUp}}
	server := httptest.NewServer(api)
	defer server.Close()
	if _, err := w.stripe(server.URL).Checkout(t.Context(), "popular", billing.Buyer{}, "https://a",
		"https://b"); err != nil {
		t.Fatal(err)
	}
	if len(api.headers) != 2 ||
		api.headers[0].Get("Idempotency-Key") != api.headers[1].Get("Idempotency-Key") {
		t.Errorf("%d calls", len(api.headers))
	}
	api.statuses = []int{http.StatusUnauthorized}
	_, err := w.stripe(server.URL).Checkout(t.Context(), "popular", billing.Buyer{}, "https://a",
		"https://b")
	if err == nil || strings.Contains(err.Error(), "sk_test_1") {
		t.Errorf("error is %v", err)
	}

	hang := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }))
	defer silent.Close()
	defer close(hang)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := w.stripe(silent.URL).Checkout(
		ctx, "popular", billing.Buyer{}, "https://a", "https://b",
	); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a silent Stripe: %v", err)
	}
}

func TestConfig(t *testing.T) {
	for _, test := range []struct {
		config billing.Config
		valid  bool
	}{
		{billing.Config{}, true},
		{billing.Config{SecretKey: "sk", WebhookSecret: "whsec"}, true},
		{billing.Config{SecretKey: "sk"}, false},
		{billing.Config{WebhookSecret: "whsec"}, false},
		{billing.Config{SecretKey: "sk", WebhookSecret: "whsec", URL: "http://stripe.example"}, false},
	} {
		if err := test.config.Validate(); (err == nil) != test.valid {
			t.Errorf("%+v: %v", test.config, err)
		}
	}
	if _, err := billing.NewStripe(billing.Config{}, nil, nil, nil, nil, nil); err == nil {
		t.Error("Stripe without a key")
	}
}
