package contract

import (
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"unink/internal/store/storetest"
)

// TestTestCredits has a new customer's first page paid with the credits it began with.
func TestTestCredits(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, address string) {
		t.Parallel()
		s := prepare(t, address)
		s.extra = []string{"UNINK_TEST_CREDITS=3"}
		s.start(t)
		c := s.newCustomer(t)
		a := s.send(t, c.cleanup(media(page)))
		developerCleaned(t, a)
		a.cost(t, 1, 502)
		packages := s.ledger(t, c.id).Packages
		if len(packages) != 2 || packages[0].Plan != "test" || packages[0].Remaining != 2 ||
			packages[0].Source != "test:"+c.id || packages[1].Remaining != 500 {
			t.Errorf("packages are %+v", packages)
		}
		s.audit(t)
		s.stop(t)
	})
}

// TestPackages has packages that end at different times, and one that has ended.
func TestPackages(t *testing.T) {
	each(t, nil, func(t *testing.T, s *service) {
		c := s.customerWith(t, 0)
		s.admin(t, nil, "grant", c.id, "--credits", "5", "--months", "0") // ends as it begins
		a := s.send(t, c.cleanup(media(page)))
		a.code(t, 402, 1008)
		a.cost(t, 0, 0)
		a = s.send(t, request{method: http.MethodGet, path: "/account", host: c.host,
			header: c.cleanup("").header})
		a.cost(t, 0, 0)
		var account struct {
			Data struct {
				Credits  int
				Packages []struct {
					Plan      string
					Remaining int
					Expired   bool
				}
			}
		}
		if err := json.Unmarshal(a.body, &account); err != nil {
			t.Fatal(err)
		}
		ended := 0
		for _, p := range account.Data.Packages {
			if p.Plan == "grant" && p.Remaining == 5 && p.Expired {
				ended++
			}
		}
		if account.Data.Credits != 0 || ended != 1 {
			t.Errorf("GET /account: %s", a.body)
		}

		s.admin(t, nil, "grant", c.id, "--credits", "11", "--months", "9")
		s.admin(t, nil, "grant", c.id, "--credits", "1", "--months", "3")
		s.admin(t, nil, "grant", c.id, "--credits", "12", "--months", "12")
		left := func() string { // of what can be used
			var text []string
			for _, p := range s.ledger(t, c.id).Packages {
				if p.Plan == "grant" && p.Credits != 5 {
					text = append(text, fmt.Sprint(p.Remaining))
				}
			}
			return strings.Join(text, " ")
		}
		s.send(t, c.cleanup(media(page))).cost(t, 1, 23)
		if got := left(); got != "0 11 12" {
			t.Errorf("after one page, %s are left", got)
		}
		s.send(t, c.cleanup(media(page))).cost(t, 1, 22)
		if got := left(); got != "0 10 12" {
			t.Errorf("after two pages, %s are left", got)
		}
		s.audit(t)
	})
}

// TestCreditsBeforeQueue has a worker that is busy: who has no credits hears that, and who has some
// hears that there is no place.
func TestCreditsBeforeQueue(t *testing.T) {
	each(t, []string{"--workers", "1", "--queue", "0"}, func(t *testing.T, s *service) {
		poor, rich := s.customerWith(t, 0), s.newCustomer(t)
		large := rich.cleanup(media(string(encoded(drawn(3000, 3000, true)))))
		done := make(chan answer, 1)
		go func() {
			a, err := s.try(large)
			if err != nil {
				t.Error(err)
			}
			done <- a
		}()
		s.working(t)
		refused := s.send(t, poor.cleanup(media(page)))
		full := s.send(t, rich.cleanup(media(page)))
		full.code(t, 503, 4000) // so the worker was busy before, too
		refused.code(t, 402, 1008)
		refused.cost(t, 0, 0)
		if a := <-done; a.status != http.StatusOK {
			t.Errorf("the first page: %d %.200s", a.status, a.body)
		}
	})
}

// working returns when a page is being worked on, as the metrics tell.
func (s *service) working(t *testing.T) {
	t.Helper()
	address, _ := s.log.wait(t, "serving", func(l line) bool {
		return l["msg"] == "serving"
	})["metrics"].(string)
	for late := time.Now().Add(patience); time.Now().Before(late); {
		if strings.Contains(s.scrape(t, address), "\nunink_pages_running 1\n") {
			return
		}
	}
	t.Fatal("no page is worked on")
}

func (s *service) scrape(t *testing.T, address string) string {
	t.Helper()
	elsewhere := *s
	elsewhere.url = "http://" + address
	a, err := elsewhere.try(request{method: http.MethodGet, path: "/metrics"})
	if err != nil {
		t.Fatal(err)
	}
	return string(a.body)
}

// TestBuying hears of payments as Stripe tells them.
func TestBuying(t *testing.T) {
	flags := append([]string{"--per-minute", "100"}, sellingFlags...)
	each(t, flags, func(t *testing.T, s *service) {
		u := s.newUser(t, 1)
		s.upload(t, request{header: u.bearer()}, "image", page).cleaned(t, true)
		paid := paidEvent(t, "evt_1", u, "web-50", 490)
		s.tell(t, paid, "whsec_of_somebody_else").is(t, 400, "VERIFICATION_FAILED")
		if got := s.credits(t, u); got != 0 {
			t.Errorf("%d credits for a payment that Stripe does not know", got)
		}
		for i := range 10 { // the same event, then others of the same payment
			event := paid
			if i >= 5 {
				event = []byte(strings.Replace(string(paid), "evt_1", fmt.Sprint("evt_", i), 1))
			}
			if a := s.tell(t, event, webhookSecret); a.status/100 != 2 {
				t.Fatalf("told %d times: %d %s", i+1, a.status, a.body)
			}
		}
		if got := s.credits(t, u); got != 50 {
			t.Errorf("%d credits for a pack of 50, told ten times", got)
		}
		s.upload(t, request{header: u.bearer()}, "image", page).cleaned(t, false)
		for _, x := range attacks {
			s.post(t, "/api/checkout", map[string]string{"plan": x}).is(t, 400, "INVALID_PARAMETER")
		}
		s.audit(t)
	})
}

// TestContentless sends pictures with nothing on them, on both entry points. None is charged.
func TestContentless(t *testing.T) {
	each(t, nil, func(t *testing.T, s *service) {
		c, u := s.newCustomer(t), s.newUser(t, 1)
		rng := rand.New(rand.NewPCG(1, 2))
		for name, at := range map[string]func(x, y int) color.RGBA{
			"black": func(int, int) color.RGBA { return color.RGBA{} },
			"navy":  func(int, int) color.RGBA { return color.RGBA{B: 128} },
			"red":   func(int, int) color.RGBA { return color.RGBA{R: 255} },
			"near-black noise": func(int, int) color.RGBA {
				return color.RGBA{R: uint8(rng.IntN(9)), G: uint8(rng.IntN(9)), B: uint8(rng.IntN(9))}
			},
			"random noise": func(int, int) color.RGBA {
				return color.RGBA{R: uint8(rng.Uint32()), G: uint8(rng.Uint32()), B: uint8(rng.Uint32())}
			},
			"a gradient": func(x, y int) color.RGBA {
				return color.RGBA{R: uint8(x), G: uint8(x), B: uint8(y)}
			},
		} {
			m := image.NewRGBA(image.Rect(0, 0, 256, 192))
			for y := range m.Rect.Dy() {
				for x := range m.Rect.Dx() {
					pixel := at(x, y)
					pixel.A = 255
					m.SetRGBA(x, y, pixel)
				}
			}
			t.Log(name)
			a := s.send(t, c.cleanup(media(string(encoded(m)))))
			a.code(t, 422, 2003)
			a.cost(t, 0, 500)
		}
		s.upload(t, request{header: u.bearer()}, "image",
			string(encoded(image.NewGray(image.Rect(0, 0, 64, 64))))).is(t, 400, "INVALID_IMAGE")
		if got := s.credits(t, u); got != 1 {
			t.Errorf("%d credits left of 1", got)
		}
	})
}
