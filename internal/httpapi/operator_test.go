package httpapi

import (
	"context"
	"net/http"
	"reflect"
	"testing"
	"time"

	"unink/internal/account"
	"unink/internal/billing"
	"unink/internal/mail"
	"unink/internal/usage"
)

// used writes uses down, as the recorder does.
func (s *accountServer) used(uses ...usage.Use) {
	s.t.Helper()
	for _, u := range uses {
		s.Services.Uses.Record(u)
	}
	ended, end := context.WithCancel(s.t.Context())
	end()
	s.Services.Uses.Run(ended)
}

func TestStatisticsAreForOperators(t *testing.T) {
	s := withAccounts(t)
	s.is(http.StatusUnauthorized, "GET", "/api/operator/statistics", "", nil)
	s.is(http.StatusNotFound, "GET", "/api/operator/statistics", s.member("ann@example.com", ""), nil)
	session := s.member("op@example.com", account.Operator)
	s.is(http.StatusOK, "GET", "/api/operator/statistics", session, nil)
	for _, days := range []string{"0", "367", "x", "-1"} {
		s.is(http.StatusBadRequest, "GET", "/api/operator/statistics?days="+days, session, nil)
	}
}

func TestStatistics(t *testing.T) {
	s := withAccounts(t)
	session := s.member("op@example.com", account.Operator)
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	s.Now = func() time.Time { return now }
	s.Services.Mail = func(context.Context) (mail.Status, error) {
		return mail.Status{Waiting: 2, Dead: 1, OldestUnsent: 90 * time.Second}, nil
	}
	paid := []billing.Revenue{{Day: "2026-11-20", Currency: "usd", Purchases: 1, Cents: 490}}
	s.Services.Revenue = func(_ context.Context, from, to time.Time) ([]billing.Revenue, error) {
		if !from.Equal(time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)) ||
			!to.Equal(time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)) {
			t.Errorf("revenue from %v to %v", from, to)
		}
		return paid, nil
	}
	web := func(at time.Time, owner, outcome string, millis int64) usage.Use {
		charged := 0
		if outcome == usage.OK {
			charged = 1
		}
		return usage.Use{At: at, Entry: "web", Caller: "user", Owner: owner, Outcome: outcome,
			Millis: millis, Charged: charged}
	}
	s.used(
		web(now.AddDate(0, 0, -2), "user:1", "ok", 1), // before the two days
		web(now.AddDate(0, 0, -1), "user:1", "ok", 1234),
		web(now, "user:1", "ok", 4321),
		web(now, "user:2", "INVALID_IMAGE", 5),
		usage.Use{At: now, Entry: "web", Caller: "guest", Outcome: "ok", Charged: 1, Millis: 2000},
		usage.Use{At: now, Entry: "developer", Caller: "customer", Owner: "customer:1", Outcome: "ok",
			Charged: 1, Millis: 999},
	)
	var got statistics
	s.read(s.is(http.StatusOK, "GET", "/api/operator/statistics?days=2", session, nil), &got)
	want := statistics{
		From: "2026-11-20", To: "2026-11-21",
		Uses: []outcomes{
			{"2026-11-20", "web", "ok", 1, 1},
			{"2026-11-21", "developer", "ok", 1, 1},
			{"2026-11-21", "web", "INVALID_IMAGE", 1, 0},
			{"2026-11-21", "web", "ok", 2, 2},
		},
		Callers: []usage.Active{{Caller: "customer", Uses: 1, Owners: 1}, {Caller: "guest", Uses: 1},
			{Caller: "user", Uses: 3, Owners: 2}},
		Latency: []usage.Latency{{Entry: "developer", Pages: 1, P50: 990, P90: 990, P99: 990},
			{Entry: "web", Pages: 3, P50: 2000, P90: 4320, P99: 4320}},
		Revenue: paid,
		Mail:    mailState{2, 1, 90},
		Queue: queueState{Workers: s.Config.Gate.Workers,
			Places: s.Config.Gate.Workers * int(s.Config.Gate.Queue)},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
