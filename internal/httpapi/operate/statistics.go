package operate

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"unink/internal/billing"
	"unink/internal/httpapi/failure"
	"unink/internal/httpapi/input"
	"unink/internal/httpapi/state"
	"unink/internal/usage"
)

const (
	statisticsDays    = 30  // unless asked otherwise
	maxStatisticsDays = 366 // at once
	statisticsTime    = 10 * time.Second
)

// statistics are what an operator sees of the last days, in UTC, today included.
type statistics struct {
	From        string            `json:"from"` // the first day
	To          string            `json:"to"`   // today
	Uses        []outcomes        `json:"uses"`
	Callers     []usage.Active    `json:"callers"`
	Latency     []usage.Latency   `json:"latency"`
	Revenue     []billing.Revenue `json:"revenue"`
	Mail        mailState         `json:"mail"`
	Queue       queueState        `json:"queue"`
	Credits     creditState       `json:"credits"`
	UsesDropped uint64            `json:"usesDropped"` // missing above, since this process started
}

// outcomes counts the uses of a day that came in and ended alike.
type outcomes struct {
	Day     string `json:"day"`
	Entry   string `json:"entry"`
	Outcome string `json:"outcome"`
	Uses    int    `json:"uses"`
	Charged int    `json:"charged"`
}

type mailState struct {
	Waiting       int   `json:"waiting"`
	Dead          int   `json:"dead"`
	OldestSeconds int64 `json:"oldestSeconds"` // how long the oldest unsent mail has waited
}

// queueState is of the process that answers.
type queueState struct {
	Running int `json:"running"`
	Waiting int `json:"waiting"`
	Workers int `json:"workers"`
	Places  int `json:"places"` // for pages that wait
}

type creditState struct {
	Held     int `json:"held"`
	Packages int `json:"packages"` // with credits that can be used
}

// statistics sums up the last days for an operator.
func (a *Pages) statistics(_ http.ResponseWriter, r *http.Request) (any, error) {
	if _, err := a.mustOperate(r); err != nil {
		return nil, err
	}
	days, err := daysAsked(r)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), statisticsTime)
	defer cancel()
	from, to := state.LastDays(a.Now(), days)
	sum := statistics{
		From: from.Format(time.DateOnly), To: to.AddDate(0, 0, -1).Format(time.DateOnly),
		Queue:       queueState{a.gate.Running(), a.gate.Waiting(), a.gate.Workers(), a.gate.Places()},
		UsesDropped: a.Services.Uses.Dropped(),
	}
	if err := a.sumUses(ctx, &sum, from, to); err != nil {
		return nil, err
	}
	revenue, err := a.Services.Revenue(ctx, from, to)
	if err != nil {
		return nil, err
	}
	sum.Revenue = append([]billing.Revenue{}, revenue...)
	mails, err := a.Services.Mail(ctx)
	if err != nil {
		return nil, err
	}
	sum.Mail = mailState{mails.Waiting, mails.Dead, int64(mails.OldestUnsent / time.Second)}
	open, err := a.Services.Credits.Outstanding(ctx)
	sum.Credits = creditState{open.Held, open.Packages}
	return sum, err
}

func (a *Pages) sumUses(ctx context.Context, sum *statistics, from, to time.Time) error {
	rows, err := a.Services.History.Stats(ctx, from, to, []string{"day", "entry", "outcome"})
	if err != nil {
		return err
	}
	sum.Uses = make([]outcomes, len(rows))
	for i, row := range rows {
		sum.Uses[i] = outcomes{row.Values[0], row.Values[1], row.Values[2], row.Uses, row.Charged}
	}
	active, err := a.Services.History.Active(ctx, from, to)
	if err != nil {
		return err
	}
	sum.Callers = append([]usage.Active{}, active...)
	sum.Latency, err = a.Services.History.Latencies(ctx, from, to)
	return err
}

// daysAsked reads the query's days.
func daysAsked(r *http.Request) (int, error) {
	text, _, err := input.QueryText(r, "days")
	if err != nil || text == "" {
		return statisticsDays, err
	}
	days, err := strconv.Atoi(text)
	if err != nil || days < 1 || days > maxStatisticsDays {
		return 0, failure.New(failure.BadParameter, "days must be from 1 to %d, not %.20q",
			maxStatisticsDays, text)
	}
	return days, nil
}
