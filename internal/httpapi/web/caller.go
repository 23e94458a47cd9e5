package web

import (
	"errors"
	"net/http"
	"time"

	"unink/internal/account"
	"unink/internal/credit"
	"unink/internal/httpapi/address"
	"unink/internal/httpapi/call"
	"unink/internal/httpapi/failure"
)

// The kinds of callers, as the statistics have them.
const (
	callerUser      = "user"
	callerAnonymous = "anonymous"
	callerGuest     = "guest"
	callerPDFGuest  = "pdf-guest"
)

// caller tells who sent a form: an app's anonymous account, a session, or a guest within its
// allowance, in this order.
func (e *Web) caller(r *http.Request, form *upload) (*call.Caller, error) {
	if e.Services == nil {
		return openCaller(r, form)
	}
	userType := r.Header.Get("X-User-Type")
	switch userType {
	case "", userRegistered, userGuest:
	case userAnonymous:
		return e.anonymous(r, form)
	default:
		return nil, unknownUserType(userType)
	}
	user, err := e.sessions.Of(r)
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
	return e.guest(r, form)
}

func (e *Web) anonymous(r *http.Request, form *upload) (*call.Caller, error) {
	device := r.Header.Get("X-Device-Id")
	if device == "" || form.userID == "" {
		return nil, failure.New(failure.Unverified,
			"an anonymous account is identified by the header X-Device-Id and "+
				"the field userId; one is missing")
	}
	user, err := e.Services.Accounts.AnonymousOn(r.Context(), device, form.userID)
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

func userCaller(u account.User) *call.Caller {
	owner := call.UserOwner(u.ID)
	kind := callerUser
	if u.Kind == account.Anonymous {
		kind = callerAnonymous
	}
	return &call.Caller{Kind: kind, Owner: owner, Payers: []string{owner}, Limited: []string{owner},
		Trial: !u.Bought}
}

// guest checks somebody without an account: by the bot check, or, for a page of a PDF, by a
// smaller allowance.
func (e *Web) guest(r *http.Request, form *upload) (*call.Caller, error) {
	at := address.Client(r, e.Config.TrustedProxies)
	kind := callerGuest
	if form.pdf {
		kind = callerPDFGuest
		if form.deviceID == "" {
			return nil, failure.New(failure.Unverified,
				"pages of a PDF from a guest need the field deviceId")
		}
	} else if err := e.sessions.CheckHuman(r, form.botToken); err != nil {
		return nil, err
	}
	// A guest without a device id is told from others by its address alone.
	device := e.Services.Accounts.HashAddress(at)
	if form.deviceID != "" {
		hash, err := e.Services.Accounts.HashDevice(form.deviceID)
		if err != nil {
			return nil, failure.With(err, failure.BadParameter,
				"deviceId must be 8 to 200 printable ASCII characters")
		}
		device = hash
	}
	from := e.Services.Accounts.HashAddress(at)
	allowances := e.allowances(device, from, form.pdf)
	return &call.Caller{
		Kind: kind, Payers: []string{allowances[0].Owner, allowances[1].Owner}, Trial: true,
		Allowances: allowances, Limited: []string{"device:" + device, "address:" + from},
	}, nil
}

// allowances are a guest's of today: by device and by address, of which each page needs both.
func (e *Web) allowances(device, address string, pdf bool) []credit.Grant {
	prefix, perDevice, perAddress := "", e.Config.GuestDaily, e.Config.GuestAddressDaily
	if pdf {
		prefix, perDevice, perAddress = "pdf-", e.Config.PDFGuestDaily, e.Config.PDFGuestAddressDaily
	}
	return []credit.Grant{e.today(prefix+"device:"+device, perDevice),
		e.today(prefix+"address:"+address, perAddress)}
}

// today is a guest's allowance until midnight, UTC.
func (e *Web) today(owner string, credits int) credit.Grant {
	now := e.Now().UTC()
	midnight := time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, time.UTC)
	return credit.Grant{Owner: owner, Plan: "guest", Credits: credits, Expires: midnight,
		Source: credit.AllowancePrefix + now.Format(time.DateOnly) + ":" + owner}
}

// openCaller is everybody who reaches the address of an open service.
func openCaller(r *http.Request, form *upload) (*call.Caller, error) {
	switch t := r.Header.Get("X-User-Type"); t {
	case "", userRegistered, userGuest:
	case userAnonymous:
		if r.Header.Get("X-Device-Id") == "" || form.userID == "" {
			return nil, failure.New(failure.Unverified,
				"an anonymous account is identified by the header X-Device-Id "+
					"and the field userId; one is missing")
		}
	default:
		return nil, unknownUserType(t)
	}
	// whoever asks an open service has bought nothing
	return &call.Caller{Kind: call.Open, Trial: true}, nil
}

// The values of X-User-Type.
const (
	userAnonymous  = "anonymous"
	userRegistered = "registered"
	userGuest      = "guest"
)

func unknownUserType(t string) error {
	return failure.New(failure.BadParameter,
		"X-User-Type must be anonymous, registered or guest, not %.64q", t)
}
