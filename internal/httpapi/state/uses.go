package state

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"unink/internal/httpapi/failure"
	"unink/internal/httpapi/input"
	"unink/internal/usage"
)

// UseList is a part of the uses of somebody, the newest first.
type UseList struct {
	Uses  []use  `json:"uses"`
	Older string `json:"older,omitempty"` // what after takes to go on; empty at the end
}

type use struct {
	At      time.Time `json:"at"`
	Outcome string    `json:"outcome"`
	Charged int       `json:"charged"`
}

// Refusal counts the requests of a minute that were refused alike.
type Refusal struct {
	Minute   time.Time `json:"minute"` // when it began
	Outcome  string    `json:"outcome"`
	Requests int       `json:"requests"`
}

// Shown is how many uses are shown at once, and sums of refusals.
const Shown = 100

// Refusals reads the last refusals of an owner.
func (s Reader) Refusals(ctx context.Context, owner string, limit int) ([]Refusal, error) {
	known, err := s.Services.History.Refusals(ctx, owner, limit)
	if err != nil {
		return nil, err
	}
	list := make([]Refusal, len(known))
	for i, r := range known {
		list[i] = Refusal{r.Minute, r.Outcome, r.Requests}
	}
	return list, nil
}

// Uses reads the uses of an owner from a place on.
func (s Reader) Uses(ctx context.Context, owner string, from usage.Place,
	limit int) (UseList, error) {
	history, next, err := s.Services.History.History(ctx, owner, from, limit)
	if err != nil {
		return UseList{}, err
	}
	list := UseList{Uses: make([]use, len(history))}
	for i, u := range history {
		list.Uses[i] = use{u.At, u.Outcome, u.Charged}
	}
	if next != (usage.Place{}) {
		list.Older = strconv.FormatInt(next.At.UnixMicro(), 10) + "." + next.ID
	}
	return list, nil
}

// PlaceAsked reads where a list of uses is to go on.
func PlaceAsked(r *http.Request) (usage.Place, error) {
	text, _, err := input.QueryText(r, "after")
	if err != nil {
		return usage.Place{}, err
	}
	at, id, ok := strings.Cut(text, ".")
	micros, err := strconv.ParseInt(at, 10, 64)
	if !ok || err != nil || id == "" {
		return usage.Place{}, failure.New(failure.BadParameter,
			"after must be what an earlier answer calls older, not %.40q", text)
	}
	return usage.Place{At: time.UnixMicro(micros), ID: id}, nil
}
