package contract

import (
	"encoding/json"
	"net/http"
	"testing"
)

// Refused requests are counted in sums by minute: however many a caller sends, its uses stay in its
// export.
func TestRefusalsAreSums(t *testing.T) {
	each(t, []string{"--per-minute", "1000", "--per-hour", "1000"}, func(t *testing.T, s *service) {
		u := s.newUser(t, 1)
		s.upload(t, request{header: u.bearer()}, "image", page).cleaned(t, true)
		const refused = 300
		for range refused {
			s.upload(t, request{header: u.bearer()}, "image", "no picture").is(t, 400, "INVALID_FILE_TYPE")
		}
		s.used(t, u, refused+1)
		var export struct {
			Uses     []struct{ Outcome string }
			Refusals []struct {
				Outcome  string
				Requests int
			}
		}
		a := s.send(t, request{method: http.MethodGet, path: "/api/me/export", header: u.bearer()})
		if err := json.Unmarshal(a.body, &export); err != nil {
			t.Fatalf("%v: %.300s", err, a.body)
		}
		sum := 0
		for _, r := range export.Refusals {
			sum += r.Requests
		}
		if len(export.Uses) != 1 || export.Uses[0].Outcome != "ok" {
			t.Errorf("%d uses are exported, want the page", len(export.Uses))
		}
		if sum != refused || len(export.Refusals) > refused/20 {
			t.Errorf("%d refusals in %d rows, want %d in one for each minute", sum, len(export.Refusals),
				refused)
		}
	})
}
