package credit_test

import (
	"strings"
	"testing"
	"time"

	"unink/internal/credit"
)

func TestDefaultCatalogue(t *testing.T) {
	c := credit.DefaultCatalogue()
	want := []credit.Plan{
		{ID: "starter", Name: "Starter", Cents: 99_00, Credits: 500, Months: 3},
		{ID: "popular", Name: "Popular", Cents: 349_00, Credits: 5_000, Months: 6},
		{ID: "business", Name: "Business", Cents: 749_00, Credits: 15_000, Months: 12},
		{ID: "enterprise", Name: "Enterprise", Cents: 1999_00, Credits: 50_000, Months: 12},
	}
	got := c.For(credit.Developer)
	if len(got) != len(want) {
		t.Fatalf("developers have %d plans, want %d", len(got), len(want))
	}
	for i, w := range want {
		w.Entry, w.Currency = credit.Developer, "usd"
		if got[i] != w {
			t.Errorf("plan is %+v, want %+v", got[i], w)
		}
		if p, ok := c.Plan(w.ID); !ok || p != w {
			t.Errorf("plan %s is %+v, %v", w.ID, p, ok)
		}
	}
	if len(c.For(credit.Web)) == 0 {
		t.Error("there is no pack for the web")
	}
	if _, ok := c.Plan("none"); ok {
		t.Error("a plan that is not there was found")
	}
}

func TestLoadCatalogueNamesWhatIsWrong(t *testing.T) {
	const good = `{"id":"a","name":"A","entry":"web","cents":1,"currency":"usd","credits":1,"months":1}`
	if _, err := credit.LoadCatalogue([]byte(`{"plans":[` + good + `]}`)); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]string{
		`{"plans":[]}`:                 {"at least one"},
		`{"plans":[` + good + `]} {}`:  {"closing brace"},
		`{"plans":[` + good + `]} x`:   {"closing brace"},
		`{"plans":[],"colour":"blue"}`: {"colour"},
		`{"plans":[` + good + `,` + good + `]}`: {
			"plan 2", `"a"`, "twice",
		},
		`{"plans":[` + strings.Replace(good, `"a"`, `"A b"`, 1) +
			`]}`: {"plan 1", `"A b"`, "id must"},
		`{"plans":[` + strings.Replace(good, `"name":"A",`, ``, 1) + `]}`:        {"plan 1", "name"},
		`{"plans":[` + strings.Replace(good, `"web"`, `"shop"`, 1) + `]}`:        {"entry", "shop"},
		`{"plans":[` + strings.Replace(good, `"cents":1`, `"cents":0`, 1) + `]}`: {"cents"},
		`{"plans":[` + strings.Replace(good, `"usd"`, `"USD"`, 1) +
			`]}`: {"currency", "USD"},
		`{"plans":[` + strings.Replace(good, `"credits":1`, `"credits":-1`, 1) + `]}`: {"credits", "-1"},
		`{"plans":[` + strings.Replace(good, `"months":1`, `"months":121`, 1) + `]}`:  {"months", "121"},
		`{"plans":[` + strings.Replace(good, `"months":1`, `"months":"1"`, 1) + `]}`:  {"months"},
	} {
		_, err := credit.LoadCatalogue([]byte(text))
		for _, w := range want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%s: error is %v, want one with %q", text, err, w)
			}
		}
	}
}

func TestPlanExpires(t *testing.T) {
	for _, c := range []struct {
		from   string
		months int
		want   string
	}{
		{"2026-11-21T10:20:30Z", 3, "2027-02-21T10:20:30Z"},
		{"2026-11-30T23:59:59Z", 3, "2027-02-28T23:59:59Z"},
		{"2027-11-30T00:00:00Z", 3, "2028-02-29T00:00:00Z"},
		{"2026-08-31T00:00:00Z", 6, "2027-02-28T00:00:00Z"},
		{"2028-02-29T12:00:00Z", 12, "2029-02-28T12:00:00Z"},
		{"2026-01-31T12:00:00Z", 1, "2026-02-28T12:00:00Z"},
		{"2026-12-31T12:00:00Z", 12, "2027-12-31T12:00:00Z"},
		{"2026-03-01T01:00:00+02:00", 12, "2027-02-28T23:00:00Z"}, // the day counts in UTC
	} {
		from, err := time.Parse(time.RFC3339, c.from)
		if err != nil {
			t.Fatal(err)
		}
		if got := (credit.Plan{Months: c.months}).Expires(from).Format(time.RFC3339); got != c.want {
			t.Errorf("%d months from %s end %s, want %s", c.months, c.from, got, c.want)
		}
	}
}
