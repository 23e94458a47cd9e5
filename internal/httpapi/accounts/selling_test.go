package accounts

import "testing"

func TestMoney(t *testing.T) {
	for want, got := range map[string]string{
		"$4.90": money("usd", 4.9, 2), "$49": money("usd", 49, 2), "$1,999": money("usd", 1999, 2),
		"€1,234,567.89": money("eur", 1234567.89, 2),
		"$0.098":        money("usd", 0.098, 3), "$0.05": money("usd", 0.05, 3),
		"4.50 CHF": money("chf", 4.5, 2), "$100": money("usd", 100, 3), "$999": money("usd", 999, 2),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
