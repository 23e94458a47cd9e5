package ink

import (
	"testing"
)

func TestInkOf(t *testing.T) {
	for want, shares := range map[Set][][3]float64{
		Black:  {{0.1, 0.1, 0.12}, {0.3, 0.28, 0.3}},
		Pencil: {{0.6, 0.6, 0.62}, {0.75, 0.75, 0.75}},
		Blue:   {{0.2, 0.3, 0.8}, {0.1, 0.1, 0.4}, {0.4, 0.7, 0.95}},
		Red:    {{0.8, 0.2, 0.2}, {0.9, 0.5, 0.6}},
		Green:  {{0.2, 0.6, 0.3}, {0.3, 0.7, 0.4}},
	} {
		for _, s := range shares {
			if got := Of(s); got != want {
				t.Errorf("%v is ink %b, want %b", s, got, want)
			}
		}
	}
}
