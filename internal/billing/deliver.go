package billing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	deliverTime = time.Minute // the most that an attempt may take
	// how long an attempt keeps others away; longer, so that they never overlap
	lease        = 2 * time.Minute
	abandonTime  = 5 * time.Second
	resumeFor    = 3 * 24 * time.Hour // how long an unfinished purchase is tried again
	resumeAtOnce = 100
	maxReference = 150 // bytes
	maxName      = 100 // characters
)

// tokenUnsure stands for a token that was perhaps made, by an attempt that ended before it knew.
const tokenUnsure = "?"

// Deliverer gives buyers what they bought. It is safe for concurrent use, also by several processes
// on one database.
type Deliverer struct {
	store     Store
	plans     Catalogue
	customers Customers
	packages  Packages
	mails     Mails
	buyers    Buyers
	now       func() time.Time
	log       *slog.Logger
	turn      chan struct{} // deliveries of this process take turns: sales are rare
}

// NewDeliverer makes a deliverer.
func NewDeliverer(store Store, plans Catalogue, customers Customers, packages Packages, mails Mails,
	buyers Buyers,
	now func() time.Time, log *slog.Logger) *Deliverer {
	return &Deliverer{
		store: store, plans: plans, customers: customers, packages: packages, mails: mails,
		buyers: buyers,
		now:    now, log: log, turn: make(chan struct{}, 1),
	}
}

func source(reference string) string { return "purchase:" + reference }

func mailKey(reference string) string { return "credentials:" + reference }

// Deliver gives what a purchase bought, once: called again, after a failure, after a crash or at
// the same time, it does what is left to do and no more. For a developer plan that is the customer,
// the package, a token and the mail with the credentials; for a web pack it is the package, and
// that the user counts as having bought.
//
// It returns [ErrRefused] for what cannot be delivered, and [ErrBusy] while another process is at
// it; after any other error too it may be called again.
func (d *Deliverer) Deliver(ctx context.Context, p Purchase) (Delivery, error) {
	p.Name, p.Slug, p.Email = clean(p.Name), clean(p.Slug), strings.TrimSpace(p.Email)
	plan, err := d.check(p)
	if err != nil {
		return Delivery{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, deliverTime)
	defer cancel()
	select {
	case d.turn <- struct{}{}:
		defer func() { <-d.turn }()
	case <-ctx.Done():
		return Delivery{}, ctx.Err()
	}
	now := d.now()
	r, err := d.store.Begin(ctx, p, now, now.Add(lease))
	switch {
	case err != nil:
		return Delivery{}, err
	case r.Plan != p.Plan || r.UserID != p.UserID || r.Email != p.Email:
		d.abandon(ctx, r)
		return Delivery{}, fmt.Errorf("%w: the reference %s is another purchase's", ErrRefused,
			p.Reference)
	case r.Revoked:
		return Delivery{Revoked: true}, nil
	case r.Delivered:
		return Delivery{Again: true}, nil
	case r.Attempt == 0:
		return Delivery{}, ErrBusy
	}
	delivery, err := d.give(ctx, plan, r)
	if err == nil {
		err = d.store.Finish(ctx, r.Reference, r.Attempt, d.now())
	}
	if err != nil {
		d.abandon(ctx, r)
		return Delivery{}, fmt.Errorf("billing: purchase %s: %w", r.Reference, err)
	}
	d.log.Info("purchase delivered", "reference", r.Reference, "plan", r.Plan, "revoked",
		delivery.Revoked)
	return delivery, nil
}

func (d *Deliverer) check(p Purchase) (Plan, error) {
	plan, known := d.plans.Plan(p.Plan)
	switch {
	case p.Reference == "" || len(p.Reference) > maxReference || !plain(p.Reference):
		return plan, fmt.Errorf("%w: the reference must be 1 to %d printable bytes", ErrRefused,
			maxReference)
	case !plain(p.Email + p.UserID):
		return plan, fmt.Errorf("%w: purchase %s: the e-mail address or the user is unprintable",
			ErrRefused, p.Reference)
	case !known:
		return plan, fmt.Errorf("%w: purchase %s: the catalogue has no plan %q", ErrRefused,
			p.Reference, p.Plan)
	case plan.Developer && p.Email == "":
		return plan, fmt.Errorf("%w: purchase %s: plan %s needs an e-mail address for the credentials",
			ErrRefused, p.Reference, p.Plan)
	case !plan.Developer && p.UserID == "":
		return plan, fmt.Errorf("%w: purchase %s: plan %s needs a user", ErrRefused, p.Reference, p.Plan)
	}
	return plan, nil
}

func plain(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsPrint(r)
	})
}

// clean makes what a buyer wrote fit, rather than fail after the payment.
func clean(text string) string {
	letters := []rune(strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, " "),
		func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " "))
	return string(letters[:min(len(letters), maxName)])
}

func (d *Deliverer) abandon(ctx context.Context, r Record) {
	if r.Attempt == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonTime)
	defer cancel()
	if err := d.store.Abandon(ctx, r.Reference, r.Attempt); err != nil {
		d.log.Warn("a delivery can go on only when its lease ends", "reference", r.Reference,
			"error", err)
	}
}

func (d *Deliverer) give(ctx context.Context, plan Plan, r Record) (Delivery, error) {
	if !plan.Developer {
		if err := d.buyers.Bought(ctx, r.UserID); err != nil {
			return Delivery{}, err
		}
		pack, err := d.packages.Grant(ctx, "user:"+r.UserID, plan.ID, source(r.Reference))
		return Delivery{Package: pack, Revoked: pack.Revoked}, err
	}
	customer, err := d.customer(ctx, r.Purchase)
	if err != nil {
		return Delivery{}, err
	}
	pack, err := d.packages.Grant(ctx, "customer:"+customer.ID, plan.ID, source(r.Reference))
	if err != nil || pack.Revoked {
		return Delivery{Customer: customer, Package: pack, Revoked: pack.Revoked}, err
	}
	token, revoked, err := d.introduce(ctx, r,
		Credentials{Customer: customer, Plan: plan, Package: pack})
	return Delivery{Customer: customer, Package: pack, Revoked: revoked, Token: token}, err
}

func (d *Deliverer) customer(ctx context.Context, p Purchase) (Customer, error) {
	c, err := d.customers.Customer(ctx, p)
	if errors.Is(err, ErrSlug) { // it is paid for: rather another domain than none
		p.Slug = ""
		return d.customers.Customer(ctx, p)
	}
	return c, err
}

// introduce sends a customer its credentials with a fresh token, once, such that of the tokens made
// for the purchase only the one in the mail, which it returns, is good. What is noted before each
// step tells the next attempt, should this one be cut off, which token to end.
func (d *Deliverer) introduce(ctx context.Context, r Record,
	c Credentials) (sent string, revoked bool, err error) {
	key := mailKey(r.Reference)
	if queued, err := d.mails.Queued(ctx, key); queued || err != nil {
		return "", false, err
	}
	var only bool
	switch r.Token {
	case "":
	case tokenUnsure:
		// Nobody has seen that token. It is ended with all others, if there can be no others.
		only, err = d.store.Sole(ctx, r.Reference, c.Customer.ID)
	default:
		err = d.customers.RevokeToken(ctx, r.Token)
	}
	if err != nil {
		return "", false, err
	}
	if gone, err := d.note(ctx, r, c.Customer.ID, tokenUnsure); gone || err != nil {
		return "", gone, err
	}
	id, token, err := d.customers.NewToken(ctx, c.Customer.ID, only)
	if err != nil {
		return "", false, err
	}
	if gone, err := d.note(ctx, r, c.Customer.ID, id); gone || err != nil {
		return "", gone, errors.Join(err, d.customers.RevokeToken(ctx, id))
	}
	c.Token = token
	queued, err := d.mails.Credentials(ctx, key, r.Email, c)
	if err == nil && !queued { // another attempt was quicker after all, and its token is in the mail
		return "", false, d.customers.RevokeToken(ctx, id)
	}
	return token, false, err
}

// note notes a token. It reports true when the purchase was revoked meanwhile.
func (d *Deliverer) note(ctx context.Context, r Record, customerID,
	token string) (revoked bool, err error) {
	noted, err := d.store.Note(ctx, r.Reference, r.Attempt, customerID, token)
	if noted || err != nil {
		return false, err
	}
	r, err = d.store.Find(ctx, r.Reference)
	if err == nil && !r.Revoked {
		err = ErrBusy
	}
	return r.Revoked, err
}

// park keeps a payment that cannot be delivered for an operator, who is told once.
func (d *Deliverer) park(ctx context.Context, p Purchase, why error) error {
	fresh, err := d.store.Park(ctx, Parked{
		Reference: clean(p.Reference), Plan: clean(p.Plan), Email: clean(p.Email),
		UserID: clean(p.UserID),
		Cents:  p.Cents, Currency: clean(p.Currency), Why: clean(why.Error()), Since: d.now(),
	})
	if fresh {
		d.log.Error("alarm: a payment is parked; refund it, or grant what it is worth (unink admin "+
			"parked lists them)",
			"reference", clean(p.Reference), "plan", clean(p.Plan), "error", why)
	}
	return err
}

// Revoke takes back what is left of a purchase that was refunded or is disputed. When the purchase
// is not known yet, it will give nothing.
func (d *Deliverer) Revoke(ctx context.Context, reference, why string) error {
	if err := d.store.Revoke(ctx, reference, why, d.now()); err != nil {
		return err
	}
	if err := d.packages.Revoke(ctx, source(reference), why); err != nil {
		return err
	}
	d.log.Warn("purchase revoked", "reference", reference, "why", why)
	return nil
}

// Resume delivers the purchases of the last three days whose delivery failed or was cut off, so
// that buyers need not wait for Stripe to tell of them again. It is to be called every minute.
func (d *Deliverer) Resume(ctx context.Context) error {
	now := d.now()
	purchases, err := d.store.Unfinished(ctx, now, now.Add(-resumeFor), resumeAtOnce)
	if err != nil {
		return err
	}
	for _, p := range purchases {
		_, err := d.Deliver(ctx, p)
		if errors.Is(err, ErrRefused) {
			err = d.park(ctx, p, err)
		}
		if err != nil && !errors.Is(err, ErrBusy) {
			d.log.Error("alarm: a purchase is not delivered", "reference", p.Reference, "plan", p.Plan,
				"error", err)
		}
	}
	return ctx.Err()
}
