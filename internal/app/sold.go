package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"time"

	"unink/internal/account"
	"unink/internal/billing"
	"unink/internal/credit"
	"unink/internal/httpapi/address"
	"unink/internal/ident"
	"unink/internal/mail"
	"unink/internal/operator"
)

// What selling needs of the other parts of the backend.

type plans struct{ catalogue credit.Catalogue }

func (p plans) Plan(id string) (billing.Plan, bool) {
	plan, known := p.catalogue.Plan(id)
	return billing.Plan{
		ID: plan.ID, Name: plan.Name, Developer: plan.Entry == credit.Developer, Cents: int64(plan.Cents),
		Currency: plan.Currency,
	}, known
}

type customers struct{ accounts *account.Service }

func (c customers) Customer(ctx context.Context, p billing.Purchase) (billing.Customer, error) {
	found, _, err := c.accounts.CreateCustomer(ctx, p.Email, p.Name, p.Slug, p.Reference)
	var input *account.InputError
	if errors.Is(err, account.ErrExists) || errors.As(err, &input) && input.Field == "slug" {
		return billing.Customer{}, billing.ErrSlug
	}
	return billing.Customer{ID: found.ID, Slug: found.Slug, AppCode: found.AppCode}, err
}

func (c customers) NewToken(ctx context.Context, customerID string,
	only bool) (id, token string, err error) {
	grace := 100 * 365 * 24 * time.Hour // the others stay as they are
	if only {
		grace = 0
	}
	token, id, err = c.accounts.NewToken(ctx, customerID, grace)
	return id, token, err
}

func (c customers) RevokeToken(ctx context.Context, id string) error {
	return c.accounts.RevokeToken(ctx, id)
}

type packages struct{ *Backend }

func (p packages) Grant(ctx context.Context, owner, planID,
	source string) (billing.Package, error) {
	plan, known := p.Catalogue.Plan(planID)
	if !known {
		return billing.Package{}, fmt.Errorf("the catalogue has no plan %q", planID)
	}
	got, _, err := p.Credits.Grant(ctx, credit.Grant{
		Owner: owner, Plan: plan.ID, Credits: plan.Credits, Expires: plan.Expires(time.Now()),
		Source: source,
	})
	return billing.Package{Credits: int64(got.Credits), Expires: got.Expires,
		Revoked: !got.Revoked.IsZero()}, err
}

func (p packages) Revoke(ctx context.Context, source, why string) error {
	_, err := p.Credits.Revoke(ctx, source, why)
	return err
}

type credentialsMail struct{ *Backend }

func (m credentialsMail) Queued(ctx context.Context, key string) (bool, error) {
	return m.Outbox.Queued(ctx, key)
}

func (m credentialsMail) Credentials(ctx context.Context, key, to string,
	c billing.Credentials) (bool, error) {
	message, err := mail.Render(mail.KindCredentials, to, mail.CredentialsData{
		URL: placeholder(c.Customer.Slug), AppCode: c.Customer.AppCode, Token: c.Token,
		Plan: c.Plan.Name, Credits: c.Package.Credits, Expires: c.Package.Expires,
	})
	if err != nil {
		return false, err
	}
	message.Key = key
	return m.Outbox.Enqueue(ctx, message)
}

// placeholder stands for a customer's address in a mail until it is sent: operators' commands,
// which queue mails, do not know under which address the service runs.
func placeholder(slug string) string { return "https://" + slug + ".api.invalid" }

var placeholders = regexp.MustCompile(`https://([a-z0-9-]+)\.api\.invalid`)

// addressed is a sender of the service, which writes its own address into mails.
type addressed struct {
	mail.Sender
	apiURL func(slug string) string
}

func (a addressed) Send(ctx context.Context, m mail.Message, id string) error {
	for _, text := range []*string{&m.Text, &m.HTML} {
		*text = placeholders.ReplaceAllStringFunc(*text, func(found string) string {
			return a.apiURL(placeholders.FindStringSubmatch(found)[1])
		})
	}
	return a.Sender.Send(ctx, m, id)
}

const (
	mostTestCredits = 1000
	testMonths      = 1 // what ends first is used first: before the packages that are sold
)

// welcome gives a new customer what it may try the service with.
func (b *Backend) welcome(ctx context.Context, c account.Customer) error {
	if b.config.TestCredits == 0 {
		return nil
	}
	plan := credit.Plan{ID: "test", Credits: b.config.TestCredits, Months: testMonths}
	_, _, err := b.Credits.Grant(ctx, credit.Grant{
		Owner: account.CustomerPrefix + c.ID, Plan: plan.ID, Credits: plan.Credits,
		Expires: plan.Expires(c.Created), Source: account.TestPrefix + c.ID, Note: "test credits",
	})
	return err
}

// AddCustomer makes the customer that a sale without payment is to, unless it is there, and writes
// the sale of the credits down before it is delivered. It refuses a slug that cannot be had; a sale
// that is paid for gets another slug instead.
func (b *Backend) AddCustomer(ctx context.Context, o operator.Order, p billing.Purchase,
	credits int) error {
	add := func(ctx context.Context, e *operator.Entry) error {
		c, _, err := b.Accounts.CreateCustomer(ctx, p.Email, p.Name, p.Slug, p.Reference)
		e.Target, e.Object, e.Credits = account.CustomerPrefix+c.ID, p.Plan, credits
		switch {
		case errors.Is(err, account.ErrExists):
			return fmt.Errorf("the slug %q is taken; choose another, "+
				"or leave --slug out to have one made of the name", p.Slug)
		case err == nil && p.Slug != "" && c.Slug != p.Slug:
			return fmt.Errorf("%s is a customer already, with the API domain %s; "+
				"leave --slug out to give it another package", c.Email, b.APIDomain(c.Slug))
		}
		return err
	}
	return b.Operator.Do(ctx, o, operator.CustomerAdded, add)
}

type buyers struct{ accounts *account.Service }

func (b buyers) Bought(ctx context.Context, userID string) error {
	err := b.accounts.SetBought(ctx, userID)
	if errors.Is(err, account.ErrNotFound) {
		return fmt.Errorf("%w: there is no user %q", billing.ErrRefused, userID)
	}
	return err
}

// APIDomain is a customer's own domain.
func (b *Backend) APIDomain(slug string) string { return slug + "." + b.config.Domain }

// apiURL is where a customer calls the developer entry point.
func (b *Backend) apiURL(slug string) string {
	return address.API(b.config.PublicURL, b.config.Domain, slug)
}

// notices turn what the accounts have to tell into mails.
type notices struct {
	outbox    *mail.Outbox
	publicURL string
}

func (n notices) Send(ctx context.Context, notice account.Notice) error {
	var m mail.Message
	var err error
	switch notice.Kind {
	case account.NoticeVerify:
		m, err = mail.Render(mail.KindVerify, notice.To,
			mail.VerifyData{Link: n.publicURL + "/verify?token=" + notice.Token})
	case account.NoticeReset:
		m, err = mail.Render(mail.KindReset, notice.To,
			mail.ResetData{Link: n.publicURL + "/reset?token=" + notice.Token})
	case account.NoticeAlreadyRegistered:
		m, err = mail.Render(mail.KindAlreadyRegistered, notice.To,
			mail.AlreadyRegisteredData{Link: n.publicURL + "/log-in"})
	default:
		err = fmt.Errorf("no mail for the notice %q", notice.Kind)
	}
	if err != nil {
		return err
	}
	m.Key = noticeKey(notice)
	_, err = n.outbox.Enqueue(ctx, m)
	return err
}

// noticeKey tells notices apart; each is sent once.
func noticeKey(n account.Notice) string {
	if n.Token == "" {
		return n.Kind + ":" + ident.Secret()
	}
	sum := sha256.Sum256([]byte(n.Token))
	return n.Kind + ":" + hex.EncodeToString(sum[:])
}
