package httpapi

import (
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"unink/internal/account"
	"unink/internal/botcheck"
	"unink/internal/credit"
	"unink/internal/httpapi/failure"
)

// accountDoor lets in whom the accounts know, and guests within their allowance.
type accountDoor struct {
	cfg      Config
	services *Services
	now      func() time.Time
}

// web tells who sent a form: an app's anonymous account, a session, or a guest, in this order.
func (d *accountDoor) web(r *http.Request, form *uploadForm) (*caller, error) {
	userType := r.Header.Get("X-User-Type")
	switch userType {
	case "", userRegistered, userGuest:
	case userAnonymous:
		return d.anonymous(r, form)
	default:
		return nil, unknownUserType(userType)
	}
	user, err := d.session(r)
	switch {
	case err == nil && form.userID != "" && form.userID != user.ID:
		return nil, failure.New(failure.Unverified, "userId is not the account that is logged in")
	case err == nil:
		return userCaller(user), nil
	case !errors.Is(err, account.ErrNoSession):
		return nil, err
	case form.userID != "" || userType == userRegistered:
		return nil, failure.New(failure.Unverified,
			"there is no log-in session for this account; log in, or send no "+
				"userId to try the service as a guest")
	}
	return d.guest(r, form)
}

func (d *accountDoor) anonymous(r *http.Request, form *uploadForm) (*caller, error) {
	device := r.Header.Get("X-Device-Id")
	if device == "" || form.userID == "" {
		return nil, failure.New(failure.Unverified,
			"an anonymous account is identified by the header X-Device-Id and "+
				"the field userId; one is missing")
	}
	user, err := d.services.Accounts.AnonymousOn(r.Context(), device, form.userID)
	if errors.Is(err, account.ErrNotEstablished) {
		return nil, failure.With(err, failure.Unverified,
			"userId is not the anonymous account of this device; "+
				"establish one with POST /api/anonymous-accounts")
	}
	if err != nil {
		return nil, err
	}
	return userCaller(user), nil
}

func userCaller(u account.User) *caller {
	owner := userOwner(u.ID)
	kind := callerUser
	if u.Kind == account.Anonymous {
		kind = callerAnonymous
	}
	return &caller{kind: kind, owner: owner, payers: []string{owner}, limited: []string{owner},
		trial: !u.Bought}
}

func userOwner(id string) string { return account.OwnerPrefix + id }

func customerOwner(id string) string { return account.CustomerPrefix + id }

// session is the user whose cookie or bearer token a request carries.
func (d *accountDoor) session(r *http.Request) (account.User, error) {
	return callOf(r).user.get(func() (account.User, error) {
		token := sessionToken(r, d.cfg)
		if token == "" {
			return account.User{}, account.ErrNoSession
		}
		return d.services.Accounts.Session(r.Context(), token)
	})
}

func (d *accountDoor) userOf(r *http.Request) string {
	user, err := d.session(r)
	if err != nil {
		return ""
	}
	return userOwner(user.ID)
}

// customer is whose token a request carries.
func (d *accountDoor) customer(r *http.Request) (account.Customer, error) {
	return callOf(r).customer.get(func() (account.Customer, error) {
		token, err := bearer(r)
		if err != nil {
			return account.Customer{}, err
		}
		return d.services.Accounts.Authenticate(r.Context(), token)
	})
}

func (d *accountDoor) customerOf(r *http.Request) string {
	customer, err := d.customer(r)
	if err != nil {
		return ""
	}
	return customerOwner(customer.ID)
}

// guest checks somebody without an account: by the bot check, or, for a page of a PDF, by a
// smaller allowance.
func (d *accountDoor) guest(r *http.Request, form *uploadForm) (*caller, error) {
	address := clientAddress(r, d.cfg.TrustedProxies)
	kind := callerGuest
	if form.pdf {
		kind = callerPDFGuest
		if form.deviceID == "" {
			return nil, failure.New(failure.Unverified,
				"pages of a PDF from a guest need the field deviceId")
		}
	} else if err := d.human(r, form.botToken, address); err != nil {
		return nil, err
	}
	// A guest without a device id is told from others by its address alone.
	device := d.services.Accounts.HashAddress(address)
	if form.deviceID != "" {
		hash, err := d.services.Accounts.HashDevice(form.deviceID)
		if err != nil {
			return nil, failure.With(err, failure.BadParameter,
				"deviceId must be 8 to 200 printable ASCII characters")
		}
		device = hash
	}
	from := d.services.Accounts.HashAddress(address)
	allowances := d.allowances(device, from, form.pdf)
	return &caller{
		kind: kind, payers: []string{allowances[0].Owner, allowances[1].Owner}, trial: true,
		allowances: allowances, limited: []string{"device:" + device, "address:" + from},
	}, nil
}

// allowances are a guest's of today: by device and by address, of which each page needs both.
func (d *accountDoor) allowances(device, address string, pdf bool) []credit.Grant {
	prefix, perDevice, perAddress := "", d.cfg.GuestDaily, d.cfg.GuestAddressDaily
	if pdf {
		prefix, perDevice, perAddress = "pdf-", d.cfg.PDFGuestDaily, d.cfg.PDFGuestAddressDaily
	}
	return []credit.Grant{d.today(prefix+"device:"+device, perDevice),
		d.today(prefix+"address:"+address, perAddress)}
}

// today is a guest's allowance until midnight, UTC.
func (d *accountDoor) today(owner string, credits int) credit.Grant {
	now := d.now().UTC()
	midnight := time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, time.UTC)
	return credit.Grant{Owner: owner, Plan: "guest", Credits: credits, Expires: midnight,
		Source: credit.AllowancePrefix + now.Format(time.DateOnly) + ":" + owner}
}

// human checks a bot-check token.
func (d *accountDoor) human(r *http.Request, token string, address netip.Addr) error {
	if token == "" {
		return failure.New(failure.Unverified, "guests need a bot-check token in cfTurnstileToken; GET "+
			"/api/bot-challenge says how to get one, or log in")
	}
	switch err := d.services.Bots.Check(r.Context(), token, address.String()); {
	case errors.Is(err, botcheck.ErrInvalid):
		return failure.With(err, failure.Unverified,
			"the bot-check token is wrong, too old or used already; get a new one")
	case errors.Is(err, botcheck.ErrUnavailable):
		return failure.Busy(err, "the bot check cannot be done now; try again, or log in")
	default:
		return err
	}
}

// developer tells which customer a request comes from: by its domain, then by its token.
func (d *accountDoor) developer(r *http.Request) (*caller, error) {
	slug, under := strings.CutSuffix(hostOnly(r.Host), "."+d.cfg.Domain)
	here := reached(d.cfg.PublicURL, r.Host)
	at := func(slug string) string { return APIURL(here, d.cfg.Domain, slug) }
	elsewhere := !under || strings.Contains(slug, ".")
	customer, err := d.customer(r)
	switch {
	case err != nil && elsewhere:
		return nil, failure.New(failure.Unauthorized, "use the API domain that came with the token: %s",
			at("{your domain}"))
	case errors.Is(err, account.ErrSignature):
		return nil, failure.With(err, failure.BadToken,
			"the token's signature is wrong; send it exactly as it was given")
	case errors.Is(err, account.ErrToken):
		return nil, failure.With(err, failure.Unauthorized,
			"the token is not known, or was revoked or replaced")
	case err != nil:
		return nil, err
	case elsewhere || customer.Slug != slug:
		f := failure.New(failure.Unauthorized, "the token belongs to another API domain: %s",
			at(customer.Slug))
		f.Location = at(customer.Slug) + r.URL.Path
		return nil, f
	}
	owner := customerOwner(customer.ID)
	who := &caller{kind: callerCustomer, owner: owner, payers: []string{owner}, slot: owner,
		appCode: customer.AppCode}
	who.remaining, err = d.services.Credits.Balance(r.Context(), owner)
	return who, err
}
