package credit_test

import (
	"testing"

	"unink/internal/credit"
)

// FuzzCatalogue reads an operator's file: what is accepted can be sold.
func FuzzCatalogue(f *testing.F) {
	f.Add(
		[]byte(
			`{"plans":[{"id":"starter","name":"Starter","entry":"developer","credits":500,"months":12,"cents":1900,"currency":"eur"}]}`,
		),
	)
	f.Add([]byte(`{"plans":[]}{}`))
	f.Add([]byte(`{"plans":[{"id":"a"},{"id":"a"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := credit.LoadCatalogue(text)
		if err != nil {
			return
		}
		for _, p := range c.Plans {
			found, there := c.Plan(p.ID)
			if !there || found.Credits < 1 || found.ID == "" {
				t.Errorf("plan %+v is accepted", p)
			}
		}
	})
}
