package cleaning

import (
	"cmp"
	"context"
	"errors"
	"time"

	"unink/internal/credit"
	"unink/internal/gate"
	"unink/internal/httpapi/call"
	"unink/internal/httpapi/failure"
	"unink/internal/httpapi/setup"
)

// admit holds the caller to its windows and its slots, and holds its credits. The call's FreeSlot
// and Conclude give back what it holds.
func (e *Engine) admit(ctx context.Context, c *call.Call, turn gate.Turn) error {
	who := c.Caller
	if full := e.Gate.Refusal(turn); full != nil { // then it counts nowhere
		return cmp.Or(e.checkCredits(ctx, c), full)
	}
	if err := e.withinWindows(ctx, who); err != nil {
		return err
	}
	if who.Slot != "" {
		free, ok := e.Services.Slots.Acquire(who.Slot)
		if !ok {
			return &failure.Failure{Kind: failure.TooManyOpen,
				Message:    "too many requests at once for this account; wait for one to end",
				RetryAfter: time.Second}
		}
		c.FreeSlot = free
	}
	return e.reserve(ctx, c)
}

func (e *Engine) withinWindows(ctx context.Context, who *call.Caller) error {
	if len(who.Limited) == 0 {
		return nil
	}
	verdict, err := e.Services.Limits.Allow(ctx, who.Limited, e.Config.Windows)
	if err != nil || verdict.OK {
		return err
	}
	e.metrics.limited.WithLabelValues(verdict.Window).Inc()
	return &failure.Failure{Kind: failure.RateLimited, Message: "too many requests",
		RetryAfter: verdict.RetryAfter,
		Window:     verdict.Window}
}

// lease is how long a credit is held at most: until a page that comes back as late as possible is
// settled. Twice the upload's time is room for work that notices its deadline late.
func lease(c setup.Config) time.Duration { return c.Deadline + c.AnswerTime() + concludeTime }

// price is what a request's page costs.
func (e *Engine) price(c *call.Call) credit.Reservation {
	return credit.Reservation{
		Owners: c.Caller.Payers, Allowances: c.Caller.Allowances,
		Lease: lease(e.Config), Idempotency: c.Key,
	}
}

// checkCredits fails where the caller could not pay, and holds nothing.
func (e *Engine) checkCredits(ctx context.Context, c *call.Call) error {
	if len(c.Caller.Payers) == 0 {
		return nil
	}
	return CreditFailure(e.Services.Credits.Check(ctx, e.price(c)))
}

func (e *Engine) reserve(ctx context.Context, c *call.Call) error {
	if len(c.Caller.Payers) == 0 {
		return nil
	}
	hold, err := e.Services.Credits.Reserve(ctx, e.price(c))
	if err != nil {
		return CreditFailure(err)
	}
	c.Caller.Remaining = hold.Remaining
	if hold.ID != "" {
		c.Charged = true
		c.Conclude = func(cleaned bool) { e.conclude(ctx, c, hold.ID, cleaned) }
	}
	return nil
}

// CreditFailure is what an error of credits means for the caller.
func CreditFailure(err error) error {
	var insufficient *credit.InsufficientError
	switch {
	case errors.As(err, &insufficient):
		return failure.With(err, failure.NoCredits, "there are no credits left, or they have expired")
	case errors.Is(err, credit.ErrKeyReused):
		return failure.With(err, failure.BadParameter,
			"this Idempotency-Key was used with another body; use a new key for each page")
	case errors.Is(err, credit.ErrKeyBusy):
		return &failure.Failure{Kind: failure.Overloaded,
			Message: "a request with this Idempotency-Key is being worked on", RetryAfter: time.Second,
			Cause: err}
	}
	return err
}

// concludeTime bounds what is written down after a request.
const concludeTime = 5 * time.Second

// conclude settles a hold when its page came back, and releases it otherwise. A process that is
// killed before has charged nothing, and the hold is found by the sweeper.
func (e *Engine) conclude(ctx context.Context, c *call.Call, hold string, cleaned bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), concludeTime)
	defer cancel()
	end, outcome := e.Services.Credits.Release, "released"
	if cleaned {
		end, outcome = e.Services.Credits.Settle, "settled"
	}
	err := end(ctx, hold)
	c.Charged = cleaned && err == nil
	switch {
	case err != nil:
		e.Log.Error("a hold was not "+outcome, "request_id", c.ID, "hold", hold, "cause", err)
		outcome = "failed"
	case !cleaned:
		c.Caller.Remaining++
	}
	e.metrics.holds.WithLabelValues(outcome).Inc()
}
