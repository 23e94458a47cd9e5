package contract

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"testing"
)

// TestPromptClient asks again as soon as an answer is there: nothing of the last request is in the
// way.
func TestPromptClient(t *testing.T) {
	each(t, nil, func(t *testing.T, s *service) {
		for _, keepAlive := range []bool{false, true} {
			t.Run(fmt.Sprintf("keep-alive %v", keepAlive), func(t *testing.T) {
				s.client = &http.Client{Transport: &http.Transport{DisableKeepAlives: !keepAlive},
					Timeout: patience}
				defer s.client.CloseIdleConnections()
				s.promptRefusals(t, s.customerWith(t, 1))
				s.promptPages(t, s.customerWith(t, 100))
			})
		}
		s.audit(t)
	})
}

// promptRefusals has one credit, which no blank page uses up.
func (s *service) promptRefusals(t *testing.T, c customer) {
	for range 40 {
		a := s.must(t, c.cleanup(media(blankPage)))
		a.code(t, 422, 2003)
		a.cost(t, 0, 1)
		var state struct{ Data struct{ Credits int } }
		account := s.must(t, request{method: http.MethodGet, path: "/account", host: c.host,
			header: map[string]string{"Authorization": "Bearer " + c.token}})
		if err := json.Unmarshal(account.body, &state); err != nil || state.Data.Credits != 1 {
			t.Fatalf("the account after a refusal: %s, %v", account.body, err)
		}
	}
}

// promptPages has four threads, as many as may ask at once, each awaiting its answers; it sends
// each page twice.
func (s *service) promptPages(t *testing.T, c customer) {
	var threads sync.WaitGroup
	for thread := range 4 {
		threads.Go(func() {
			for i := range 3 {
				r := c.cleanup(media(smallPage)).with("Idempotency-Key", fmt.Sprintf("%d.%d", thread, i))
				for _, charged := range []int{1, 0} {
					a, err := s.try(r)
					if err != nil || a.status != http.StatusOK ||
						a.header.Get("X-Credits-Charged") != strconv.Itoa(charged) {
						t.Errorf("%d, charged %q, want %d: %.200s %v", a.status, a.header.Get("X-Credits-Charged"),
							charged, a.body, err)
					}
				}
			}
		})
	}
	threads.Wait()
}

// must returns an answer at once, whatever the service still has to write down.
func (s *service) must(t *testing.T, r request) answer {
	t.Helper()
	a, err := s.try(r)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
