package httpapi

import (
	"time"

	"unink/internal/billing"
	"unink/internal/httpapi/state"
	"unink/internal/operator"
	"unink/internal/usage"
)

// contentType is that of the developer entry point's answers.
const contentType = "application/json; charset=UTF-8"

// Bounds that callers are told.
const (
	maxKeyBytes    = 255
	maxGrant       = 1_000_000
	maxGrantMonths = 120
	maxGraceHours  = 168
	actsShown      = 50
	signInsAtOnce  = 8
)

// What follows is what the tests read of answers, as callers read it.

type allowance struct{ Daily, Left int }

type guestAnswer struct {
	Pictures, PDFPages allowance
	Renewed            time.Time
	Account            int
}

type customerSummary struct {
	Slug, URL string
	Credits   int
}

type customerDetails struct {
	Packages []state.Package
	Tokens   []state.Token
	Days     []usage.Day
	state.UseList
	Refusals []state.Refusal
}

type foundCustomer struct {
	ID      string
	Revoked time.Time
	Credits int
	Tokens  []struct{ ID string }
}

type foundAnswer struct {
	Users     []any
	Customers []foundCustomer
	More      bool
}

type given struct {
	To      string
	Credits int
}

type actList struct {
	Acts  []operator.Entry
	Older string
}

type outcomes struct {
	Day, Entry, Outcome string
	Uses, Charged       int
}

type mailState struct{ Waiting, Dead, OldestSeconds int }

type queueState struct{ Running, Waiting, Workers, Places int }

type creditState struct{ Held, Packages int }

type statistics struct {
	From, To    string
	Uses        []outcomes
	Callers     []usage.Active
	Latency     []usage.Latency
	Revenue     []billing.Revenue
	Mail        mailState
	Queue       queueState
	Credits     creditState
	UsesDropped uint64
}

// reasoned is the body of an operator's act.
type reasoned struct {
	Reason string `json:"reason"`
}
