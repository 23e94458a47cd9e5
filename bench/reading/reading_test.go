package reading

import "testing"

func TestError(t *testing.T) {
	for _, c := range []struct {
		text, want string
		is         float64
	}{
		{"sitting", "kitten", 0.5}, {"", "abcd", 1}, {"gâteau", "gâteau", 0}, {"gateau", "gâteau", 1.0 / 6},
	} {
		if got := Error(c.text, c.want); got != c.is {
			t.Errorf("Error(%q, %q) = %g, want %g", c.text, c.want, got, c.is)
		}
	}
}
