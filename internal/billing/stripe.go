package billing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v84"
	"github.com/stripe/stripe-go/v84/webhook"

	"unink/internal/ident"
)

const (
	stripeTime = 10 * time.Second
	tolerance  = 5 * time.Minute
	keepEvents = 60 * 24 * time.Hour
	maxPayload = 1 << 20 // bytes
)

// Config is the access to Stripe.
type Config struct {
	SecretKey     string // of the API; empty: nothing is sold here, an operator grants
	WebhookSecret string // with which Stripe signs its calls
	URL           string // of the API; Stripe's own by default
}

// Enabled reports whether there is access to Stripe.
func (c Config) Enabled() bool { return c.SecretKey != "" }

// Validate says which field is wrong.
func (c Config) Validate() error {
	switch {
	case (c.SecretKey == "") != (c.WebhookSecret == ""):
		return errors.New("the Stripe secret key and the webhook secret must both be set, or neither: " +
			"without both, payments would not be delivered")
	case c.URL != "" && !strings.HasPrefix(c.URL, "https://") &&
		!strings.HasPrefix(c.URL, "http://127.0.0.1:"):
		return fmt.Errorf("the Stripe URL must begin with https://, not be %q", c.URL)
	}
	return nil
}

// Stripe sells through Stripe Checkout.
type Stripe struct {
	backend   stripe.Backend // not stripe.Client, which links in all of the API: 6 MB
	key       string
	secret    string
	plans     Catalogue
	deliverer *Deliverer
	store     Store
	now       func() time.Time
	log       *slog.Logger
}

// NewStripe makes the connection between Stripe and the delivery of purchases. It does not connect
// yet.
func NewStripe(c Config, plans Catalogue, deliverer *Deliverer, store Store, now func() time.Time,
	log *slog.Logger) (*Stripe, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if !c.Enabled() {
		return nil, errors.New("the Stripe secret key is missing")
	}
	backend := &stripe.BackendConfig{
		HTTPClient:      &http.Client{Timeout: stripeTime},
		EnableTelemetry: stripe.Bool(false),
		LeveledLogger:   &stripe.LeveledLogger{Level: stripe.LevelNull}, // errors are returned
	}
	if c.URL != "" {
		backend.URL = stripe.String(c.URL)
	}
	return &Stripe{
		backend: stripe.GetBackendWithConfig(stripe.APIBackend, backend), key: c.SecretKey,
		secret: c.WebhookSecret, plans: plans, deliverer: deliverer, store: store, now: now, log: log,
	}, nil
}

// Buyer is who is about to pay.
type Buyer struct {
	Email  string // fills in Stripe's form; may be empty
	Name   string // developer plans; may be empty
	Slug   string // developer plans: the domain wished for; may be empty
	UserID string // of a logged-in user; needed for web packs
}

// The keys of a session's metadata. Stripe shows them to us again, and to no buyer.
const (
	metaPlan = "plan"
	metaUser = "user"
	metaSlug = "slug"
	metaName = "name"
)

// Checkout opens a page of Stripe's on which a buyer pays for a plan, and returns its URL. It
// returns [ErrRefused] for a plan that is not on sale, or needs a user where there is none. The
// call may take 10 seconds.
func (s *Stripe) Checkout(ctx context.Context, planID string, b Buyer, successURL,
	cancelURL string) (string, error) {
	plan, known := s.plans.Plan(planID)
	switch {
	case !known:
		return "", fmt.Errorf("%w: the catalogue has no plan %q", ErrRefused, planID)
	case !plan.Developer && b.UserID == "":
		return "", fmt.Errorf("%w: plan %s needs a user", ErrRefused, planID)
	}
	ctx, cancel := context.WithTimeout(ctx, stripeTime)
	defer cancel()
	params := sessionOf(plan, b, successURL, cancelURL)
	params.Context = ctx
	var session struct {
		stripe.APIResource
		URL string `json:"url"`
	}
	err := s.backend.Call(http.MethodPost, "/v1/checkout/sessions", s.key, params, &session)
	if err != nil {
		return "", fmt.Errorf("billing: stripe: %w", err)
	}
	return session.URL, nil
}

func sessionOf(plan Plan, b Buyer, successURL,
	cancelURL string) *stripe.CheckoutSessionCreateParams {
	params := &stripe.CheckoutSessionCreateParams{
		Mode:       stripe.String(string(stripe.CheckoutSessionModePayment)),
		SuccessURL: stripe.String(successURL),
		CancelURL:  stripe.String(cancelURL),
		// What is paid must be the catalogue's price, in its currency.
		AdaptivePricing: &stripe.CheckoutSessionCreateAdaptivePricingParams{Enabled: stripe.Bool(false)},
		LineItems: []*stripe.CheckoutSessionCreateLineItemParams{{
			Quantity: stripe.Int64(1),
			PriceData: &stripe.CheckoutSessionCreateLineItemPriceDataParams{
				Currency:   stripe.String(plan.Currency),
				UnitAmount: stripe.Int64(plan.Cents),
				ProductData: &stripe.CheckoutSessionCreateLineItemPriceDataProductDataParams{
					Name: stripe.String(plan.Name),
				},
			},
		}},
	}
	for key, value := range map[string]string{metaPlan: plan.ID, metaUser: b.UserID,
		metaSlug: clean(b.Slug), metaName: clean(b.Name)} {
		if value != "" {
			params.AddMetadata(key, value)
		}
	}
	if b.UserID != "" {
		params.ClientReferenceID = stripe.String(b.UserID)
	}
	if b.Email != "" {
		params.CustomerEmail = stripe.String(b.Email)
	}
	params.SetIdempotencyKey(ident.New("checkout")) // the library tries again when the network fails
	return params
}

// Webhook takes one call of Stripe's: the body as it came, and the header Stripe-Signature. After
// nil answer 200; after [ErrSignature] 400; after any other error 500, and Stripe will call again.
//
// A paid session is delivered, or parked where it cannot be. A full refund, and a dispute that
// takes the money, revoke; a partial refund and a bank's mere inquiry are left to the operator.
// Other events are acknowledged.
func (s *Stripe) Webhook(ctx context.Context, payload []byte, signature string) error {
	if len(payload) > maxPayload {
		return fmt.Errorf("%w: the body is larger than %d bytes", ErrSignature, maxPayload)
	}
	event, err := webhook.ConstructEventWithOptions(payload, signature, s.secret,
		webhook.ConstructEventOptions{Tolerance: tolerance, IgnoreAPIVersionMismatch: true})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSignature, err)
	}
	if event.ID == "" || event.Data == nil {
		return errors.New("billing: the event has no id or no data")
	}
	// That events are remembered spares work; it is not what makes a delivery happen once.
	if heard, err := s.store.Heard(ctx, event.ID); heard || err != nil {
		return err
	}
	if err := s.handle(ctx, event); err != nil {
		return err
	}
	return s.store.Hear(ctx, event.ID, s.now())
}

func (s *Stripe) handle(ctx context.Context, event stripe.Event) error {
	switch event.Type {
	case stripe.EventTypeCheckoutSessionCompleted,
		stripe.EventTypeCheckoutSessionAsyncPaymentSucceeded:
		return with(event, s.paid)(ctx)
	case stripe.EventTypeChargeRefunded:
		return with(event, s.refunded)(ctx)
	case stripe.EventTypeChargeDisputeCreated, stripe.EventTypeChargeDisputeFundsWithdrawn:
		return with(event, s.disputed)(ctx)
	}
	return nil
}

// with reads an event's object for a function that handles it.
func with[T any](event stripe.Event,
	handle func(context.Context, T) error) func(context.Context) error {
	return func(ctx context.Context) error {
		var object T
		if err := json.Unmarshal(event.Data.Raw, &object); err != nil {
			return fmt.Errorf("billing: event %s %s: %w", event.Type, event.ID, err)
		}
		return handle(ctx, object)
	}
}

// The objects below have only what is needed here, so that other versions of Stripe's API do as
// well.

type session struct {
	ID              string            `json:"id"`
	Mode            string            `json:"mode"`
	PaymentStatus   string            `json:"payment_status"`
	PaymentIntent   objectID          `json:"payment_intent"`
	AmountTotal     int64             `json:"amount_total"`
	Currency        string            `json:"currency"`
	Metadata        map[string]string `json:"metadata"`
	CustomerEmail   string            `json:"customer_email"`
	CustomerDetails struct {
		Email string `json:"email"`
		Name  string `json:"name"`
	} `json:"customer_details"`
}

type charge struct {
	ID             string   `json:"id"`
	PaymentIntent  objectID `json:"payment_intent"`
	Amount         int64    `json:"amount"`
	AmountRefunded int64    `json:"amount_refunded"`
	Refunded       bool     `json:"refunded"` // wholly
}

type dispute struct {
	ID            string   `json:"id"`
	PaymentIntent objectID `json:"payment_intent"`
	Reason        string   `json:"reason"`
	Status        string   `json:"status"`
}

// objectID is the id of an object that Stripe gives by its id, or whole, or as null.
type objectID string

// UnmarshalJSON reads either form.
func (id *objectID) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '{' {
		var object struct {
			ID string `json:"id"`
		}
		err := json.Unmarshal(data, &object)
		*id = objectID(object.ID)
		return err
	}
	return json.Unmarshal(data, (*string)(id))
}

// reference is what a session's purchase is known by: the payment intent, because refunds and
// disputes name that and not the session.
func (c session) reference() string {
	if c.PaymentIntent != "" {
		return string(c.PaymentIntent)
	}
	return c.ID
}

func (s *Stripe) paid(ctx context.Context, c session) error {
	planID := c.Metadata[metaPlan]
	log := s.log.With("session", c.ID, "reference", c.reference(), "plan", planID)
	switch {
	case planID == "":
		log.Info("a payment that is not for a plan is left alone")
		return nil
	case c.PaymentStatus == string(stripe.CheckoutSessionPaymentStatusUnpaid):
		log.Info("a payment is under way") // another event tells how it ends
		return nil
	}
	p := Purchase{
		Reference: c.reference(), Plan: planID, Email: firstOf(c.CustomerDetails.Email, c.CustomerEmail),
		Name: firstOf(c.Metadata[metaName], c.CustomerDetails.Name), Slug: c.Metadata[metaSlug],
		UserID: c.Metadata[metaUser],
		Cents:  c.AmountTotal, Currency: c.Currency,
	}
	err := s.checkPrice(c, planID)
	if err == nil {
		_, err = s.deliverer.Deliver(ctx, p)
	}
	if errors.Is(err, ErrRefused) { // Stripe's telling of it again would change nothing
		return s.deliverer.park(ctx, p, err)
	}
	return err
}

// checkPrice makes sure that what was paid is the price of the plan: that a session names a plan is
// not enough to get it.
func (s *Stripe) checkPrice(c session, planID string) error {
	plan, known := s.plans.Plan(planID)
	switch {
	case !known:
		return fmt.Errorf("%w: the catalogue has no plan %q", ErrRefused, planID)
	case c.PaymentStatus != string(stripe.CheckoutSessionPaymentStatusPaid):
		return fmt.Errorf("%w: the payment's status is %q, not paid", ErrRefused, c.PaymentStatus)
	case c.Mode != string(stripe.CheckoutSessionModePayment):
		return fmt.Errorf("%w: the session's mode is %q, not payment", ErrRefused, c.Mode)
	case c.AmountTotal != plan.Cents || c.Currency != plan.Currency:
		return fmt.Errorf("%w: paid were %d %s; the plan's price is %d %s", ErrRefused, c.AmountTotal,
			c.Currency, plan.Cents, plan.Currency)
	}
	return nil
}

func (s *Stripe) refunded(ctx context.Context, c charge) error {
	switch {
	case c.PaymentIntent == "":
		s.log.Warn("a refund names no payment intent; revoke its purchase by hand if it is one",
			"charge", c.ID)
		return nil
	case !c.Refunded:
		s.log.Warn("a partial refund is left to the operator", "reference", string(c.PaymentIntent),
			"refunded", c.AmountRefunded, "of", c.Amount)
		return nil
	}
	return s.deliverer.Revoke(ctx, string(c.PaymentIntent), "refunded")
}

func (s *Stripe) disputed(ctx context.Context, d dispute) error {
	switch {
	case d.PaymentIntent == "":
		s.log.Warn("a dispute names no payment intent; revoke its purchase by hand if it is one",
			"dispute", d.ID)
		return nil
	case strings.HasPrefix(d.Status, "warning_"): // the money stays where it is
		s.log.Warn("a bank inquires about a payment", "reference", string(d.PaymentIntent),
			"dispute", d.ID)
		return nil
	}
	return s.deliverer.Revoke(ctx, string(d.PaymentIntent), "disputed: "+clean(d.Reason))
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// Prune forgets the events of more than 60 days ago, and returns their number.
func (s *Stripe) Prune(ctx context.Context) (int64, error) {
	return s.store.Forget(ctx, s.now().Add(-keepEvents))
}
