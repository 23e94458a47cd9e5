package credit

import (
	"bytes"
	_ "embed" // the catalogue
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"time"
)

//go:embed catalogue.json
var embedded []byte

// The entry points that a [Plan] is sold for.
const (
	Web       = "web"
	Developer = "developer"
)

// Plan is what somebody can buy.
type Plan struct {
	ID       string `json:"id"`       // at most 64 of a-z 0-9 -
	Name     string `json:"name"`     // as shown to people
	Entry    string `json:"entry"`    // Web or Developer
	Cents    int    `json:"cents"`    // the price in hundredths of the currency
	Currency string `json:"currency"` // ISO 4217, in small letters
	Credits  int    `json:"credits"`
	Months   int    `json:"months"` // the validity, in calendar months
}

// Expires is when a package of the plan that is bought at from can no longer be used: the same day
// and time (UTC), the plan's months later, or that month's last day where it has no such day.
func (p Plan) Expires(from time.Time) time.Time {
	from = from.UTC()
	year, month, day := from.Date()
	last := time.Date(year, month+time.Month(p.Months)+1, 0, 0, 0, 0, 0, time.UTC).Day()
	return from.AddDate(0, p.Months, min(day, last)-day)
}

// Catalogue is every plan on sale, in the order in which they are shown.
type Catalogue struct {
	Plans []Plan `json:"plans"`
}

// Plan finds a plan by its id.
func (c Catalogue) Plan(id string) (Plan, bool) {
	i := slices.IndexFunc(c.Plans, func(p Plan) bool { return p.ID == id })
	if i < 0 {
		return Plan{}, false
	}
	return c.Plans[i], true
}

// For returns the plans of one entry point.
func (c Catalogue) For(entry string) []Plan {
	var plans []Plan
	for _, p := range c.Plans {
		if p.Entry == entry {
			plans = append(plans, p)
		}
	}
	return plans
}

// DefaultCatalogue is the catalogue that the program carries.
func DefaultCatalogue() Catalogue {
	c, err := LoadCatalogue(embedded)
	if err != nil {
		panic(err) // a test loads it
	}
	return c
}

// LoadCatalogue reads a catalogue from JSON. Its errors name the plan and the field that are wrong.
func LoadCatalogue(text []byte) (Catalogue, error) {
	var c Catalogue
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return Catalogue{}, fmt.Errorf("catalogue: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Catalogue{}, errors.New("catalogue: something follows the closing brace")
	}
	if len(c.Plans) == 0 {
		return Catalogue{}, errors.New("catalogue: plans must name at least one plan")
	}
	seen := map[string]bool{}
	for i, p := range c.Plans {
		if err := p.validate(); err != nil {
			return Catalogue{}, fmt.Errorf("catalogue: plan %d (id %q): %w", i+1, p.ID, err)
		}
		if seen[p.ID] {
			return Catalogue{}, fmt.Errorf("catalogue: plan %d (id %q): id is used twice", i+1, p.ID)
		}
		seen[p.ID] = true
	}
	return c, nil
}

var (
	planID   = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)
	currency = regexp.MustCompile(`^[a-z]{3}$`)
)

func (p Plan) validate() error {
	switch {
	case !planID.MatchString(p.ID):
		return errors.New("id must be 1 to 64 of a-z 0-9 -")
	case p.Name == "":
		return errors.New("name is missing")
	case p.Entry != Web && p.Entry != Developer:
		return fmt.Errorf("entry must be %q or %q, not %q", Web, Developer, p.Entry)
	case p.Cents < 1:
		return fmt.Errorf("cents must be at least 1, not %d", p.Cents)
	case !currency.MatchString(p.Currency):
		return fmt.Errorf("currency must be three small letters such as usd, not %q", p.Currency)
	case p.Credits < 1:
		return fmt.Errorf("credits must be at least 1, not %d", p.Credits)
	case p.Months < 1 || p.Months > 120:
		return fmt.Errorf("months must be from 1 to 120, not %d", p.Months)
	}
	return nil
}
