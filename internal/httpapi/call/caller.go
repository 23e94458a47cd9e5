package call

import (
	"unink/internal/account"
	"unink/internal/credit"
)

// Caller is who asks for a page, and on what terms.
type Caller struct {
	Kind       string         // as the statistics have it
	Owner      string         // whose list of uses this one is on; a guest has none
	Payers     []string       // owners of credits, each of whom gives one; none in open mode
	Allowances []credit.Grant // what the payers get before, once
	Limited    []string       // keys of the rolling windows
	Slot       string         // key of the requests at once
	Trial      bool
	AppCode    string // of a customer
	Remaining  int    // credits left, once known
}

// Open is the kind of all callers in open mode, as the statistics have it.
const Open = "open"

// UserOwner names the owner of a user's credits.
func UserOwner(id string) string { return account.OwnerPrefix + id }

// CustomerOwner names the owner of a customer's.
func CustomerOwner(id string) string { return account.CustomerPrefix + id }
