package billing_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"unink/internal/billing"
)

// away is a store that keeps nothing, so that what an event says is read and then given up.
type away struct{ billing.Store }

var errAway = errors.New("away")

func (away) Heard(context.Context, string) (bool, error)             { return false, nil }
func (away) Hear(context.Context, string, time.Time) error           { return nil }
func (away) Revoke(context.Context, string, string, time.Time) error { return errAway }
func (away) Begin(context.Context, billing.Purchase, time.Time, time.Time) (billing.Record, error) {
	return billing.Record{}, errAway
}
func (away) Find(context.Context, string) (billing.Record, error) {
	return billing.Record{}, errAway
}

// FuzzWebhook hears events that are signed, whatever they say, and the same ones with what is no
// signature.
func FuzzWebhook(f *testing.F) {
	for kind, about := range map[string]string{
		"checkout.session.completed": `{"id":"cs_1","mode":"payment","payment_status":"paid","payment_intent":{"id":"pi_1"},"amount_total":1900,` +
			`"currency":"eur","metadata":{"unink_plan":"starter"},"customer_details":{"email":"a@example.com","name":"A"}}`,
		"charge.refunded":        `{"id":"ch_1","payment_intent":"pi_1","amount":1900,"amount_refunded":1900,"refunded":true}`,
		"charge.dispute.created": `{"id":"dp_1","payment_intent":null,"reason":"fraudulent","status":"warning_needs_response"}`,
	} {
		f.Add(
			[]byte(
				`{"id":"evt_1","object":"event","type":"`+kind+`","created":1,"data":{"object":`+about+`}}`,
			), "t=1,v1=00",
		)
	}
	f.Add([]byte(`{"id":"evt_1","data":null}`), "")
	f.Add(
		[]byte(`{"id":"evt_1","type":"charge.refunded","data":{"object":null,"previous_attributes":[]}}`),
		"t=,v1=,,=",
	)
	quiet := slog.New(slog.DiscardHandler)
	deliverer := billing.NewDeliverer(away{}, catalogue{}, nil, nil, nil, nil, time.Now, quiet)
	c := billing.Config{SecretKey: "sk_test_1", WebhookSecret: webhookSecret}
	s, err := billing.NewStripe(c, catalogue{}, deliverer, away{}, time.Now, quiet)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, payload []byte, signature string) {
		if err := s.Webhook(t.Context(), payload, signature); !errors.Is(err, billing.ErrSignature) {
			t.Errorf("%q is taken for a signature: %v", signature, err)
		}
		_ = s.Webhook(t.Context(), payload, sign(payload, webhookSecret, time.Now()))
	})
}
