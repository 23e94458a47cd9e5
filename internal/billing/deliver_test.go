package billing_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"unink/internal/account"
	"unink/internal/billing"
)

func popular(n int) billing.Purchase {
	return billing.Purchase{Reference: fmt.Sprintf("pi_%d", n), Plan: "popular",
		Email: fmt.Sprintf("dev%d@example.com", n), Name: "Dev Ltd"}
}

func TestDeliverDeveloperPlan(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		d, p := w.deliverer(), popular(1)
		p.Slug = "dev-ltd"
		first := w.deliver(d, p)
		if first.Again || first.Revoked || first.Customer.Slug != "dev-ltd" ||
			first.Package.Credits != 5000 {
			t.Errorf("delivery is %+v", first)
		}
		w.advance(time.Minute)
		if again := w.deliver(d, p); again != (billing.Delivery{Again: true}) {
			t.Errorf("delivered again as %+v", again)
		}
		w.wantOne(p.Email, 5000)
		if strings.Contains(w.logged.String(), "unk_") || strings.Contains(w.logged.String(), "@") {
			t.Errorf("the log tells too much: %s", w.logged)
		}
	})
}

// A second purchase of a customer's is a second package and a second token; the first stays good.
func TestDeliverSecondPurchase(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		d, p := w.deliverer(), popular(1)
		first := w.deliver(d, p)
		p.Reference, p.Plan = "pi_second", "starter"
		second := w.deliver(d, p)
		if first.Customer != second.Customer || second.Package.Credits != 500 {
			t.Errorf("deliveries are %+v and %+v", first, second)
		}
		tokens := w.mailed(p.Email)
		if len(tokens) != 2 || tokens[0] == tokens[1] || w.liveTokens(p.Email) != 2 {
			t.Fatalf("%d mails, %d live tokens", len(tokens), w.liveTokens(p.Email))
		}
		for _, token := range tokens {
			if _, err := w.accounts.Authenticate(t.Context(), token); err != nil {
				t.Error(err)
			}
		}
		if balance, err := w.credits.Balance(t.Context(),
			"customer:"+first.Customer.ID); balance != 5500 || err != nil {
			t.Errorf("balance is %d, %v", balance, err)
		}
	})
}

// Who has paid gets a domain, if not the one wished for.
func TestDeliverWithoutTheSlugWishedFor(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		d := w.deliverer()
		for n, slug := range []string{"taken", "taken", "admin", "-?-", "a\nb"} {
			p := popular(n)
			p.Slug, p.Name = slug, "Straße\x00\r\nBcc: "+strings.Repeat("x", 300)
			delivery := w.deliver(d, p)
			if got := delivery.Customer.Slug; (got == slug) != (n == 0) || got == "" {
				t.Errorf("slug %q became %q", slug, got)
			}
			w.wantOne(p.Email, 5000)
		}
	})
}

func TestDeliverWebPack(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		d, p := w.deliverer(), w.webPack()
		for range 2 {
			w.deliver(d, p)
		}
		w.wantPackage("user:"+p.UserID, 50)
		if u, err := w.accounts.FindUser(t.Context(), p.UserID); err != nil || !u.Bought {
			t.Errorf("user is %+v, %v", u, err)
		}
		if tokens := w.mailed("user@example.com"); len(tokens) != 0 {
			t.Error("credentials were sent")
		}
		w.revoke(d, p.Reference)
		w.wantPackage("user:"+p.UserID, 0)
	})
}

func (w *world) webPack() billing.Purchase {
	w.t.Helper()
	u, err := w.accounts.CreateUser(w.t.Context(), "user@example.com", "a l0ng passphrase", "")
	if err != nil && !errors.Is(err, account.ErrExists) {
		w.t.Fatal(err)
	}
	return billing.Purchase{Reference: "pi_web", Plan: "web-50", UserID: u.ID}
}

func TestDeliverAtTheSameTime(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		one, other := w.deliverer(), w.deliverer() // two processes
		var wait sync.WaitGroup
		for i := range 10 {
			wait.Go(func() {
				d := one
				if i%2 == 1 {
					d = other
				}
				if _, err := d.Deliver(t.Context(), popular(1)); err != nil &&
					!errors.Is(err, billing.ErrBusy) {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		w.wantOne("dev1@example.com", 5000)
		if n := w.count(`SELECT COUNT(*) FROM customer_tokens`); n != 1 {
			t.Errorf("%d tokens were made", n)
		}
	})
}

// Whatever step fails, before or after it took effect, and whether the process lives on or not: the
// next delivery completes what is left, and there is one of each.
func TestDeliverAfterFaults(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for _, times := range []int{1, 2} {
			for _, crash := range []bool{false, true} {
				points := 0
				for faulty := true; faulty; points++ {
					p := popular(1000*times + points)
					p.Reference += fmt.Sprint("-", crash)
					p.Email = fmt.Sprint(crash, "-", p.Email)
					faulty = w.fail(p, points, crash, times)
					w.deliver(w.deliverer(), p)
					w.wantOne(p.Email, 5000)
					if t.Failed() {
						t.Fatalf("after %d faults at point %d, crash %v", times, points, crash)
					}
				}
				if points < 14 {
					t.Errorf("only %d points for faults", points)
				}
			}
		}
	})
}

// fail delivers with a fault at a point, some times; it reports whether the point was reached.
func (w *world) fail(p billing.Purchase, point int, crash bool, times int) (reached bool) {
	w.t.Helper()
	for range times {
		w.faults.arm(point, crash)
		_, err := w.deliverer().Deliver(w.t.Context(), p)
		hit := w.faults.disarm()
		if hit != errors.Is(err, errFault) && !errors.Is(err, billing.ErrBusy) && err != nil {
			w.t.Fatal(hit, err)
		}
		reached = reached || hit
		w.advance(3 * time.Minute)
	}
	return reached
}

func TestDeliverWebPackAfterFaults(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p := w.webPack()
		for point, faulty := 0, true; faulty; point++ {
			p.Reference = fmt.Sprint("pi_web_", point)
			faulty = w.fail(p, point, true, 1)
			w.deliver(w.deliverer(), p)
			if n := w.count(`SELECT COUNT(*) FROM packages WHERE source = $1 AND remaining = 50`,
				"purchase:"+p.Reference); n != 1 {
				t.Fatalf("%d packages after a fault at point %d", n, point)
			}
		}
	})
}

// What was cut off is completed without anybody telling of the purchase again.
func TestResume(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for n, point := range []int{1, 3, 7, 9} {
			w.faults.arm(point, true)
			if _, err := w.deliverer().Deliver(t.Context(), popular(n)); !errors.Is(err, errFault) {
				t.Fatal(err)
			}
			w.faults.disarm()
		}
		d := w.deliverer()
		resume := func() {
			t.Helper()
			if err := d.Resume(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		resume() // the leases of the dead process hold
		if n := w.count(`SELECT COUNT(*) FROM mails`); n != 0 {
			t.Fatalf("%d mails before the leases ended", n)
		}
		w.revoke(d, "pi_3")
		w.advance(2 * time.Minute)
		resume()
		resume()
		for n := range 3 {
			w.wantOne(popular(n).Email, 5000)
		}
		if tokens := w.mailed("dev3@example.com"); len(tokens) != 0 {
			t.Error("a revoked purchase was delivered")
		}
	})
}

func TestRevoke(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		d := w.deliverer()
		after := w.deliver(d, popular(1))
		w.revoke(d, "pi_1")
		w.revoke(d, "pi_1")
		w.wantPackage("customer:"+after.Customer.ID, 0)
		if again := w.deliver(d, popular(1)); !again.Revoked {
			t.Errorf("delivered again as %+v", again)
		}
		w.wantPackage("customer:"+after.Customer.ID, 0)

		w.revoke(d, "pi_2") // before its purchase
		if delivery := w.deliver(d, popular(2)); delivery != (billing.Delivery{Revoked: true}) {
			t.Errorf("delivered as %+v", delivery)
		}
		w.wantNothing("dev2@example.com")
		if err := d.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.wantNothing("dev2@example.com")
	})
}

// A refund that is cut off is completed by the next word of it.
func TestRevokeAfterFaults(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for point := range 4 {
			p := popular(point)
			delivery := w.deliver(w.deliverer(), p)
			w.faults.arm(point, true)
			if err := w.deliverer().Revoke(t.Context(), p.Reference, "refunded"); !errors.Is(err, errFault) {
				t.Fatal(err)
			}
			w.faults.disarm()
			w.revoke(w.deliverer(), p.Reference)
			w.wantPackage("customer:"+delivery.Customer.ID, 0)
		}
	})
}

// A refund in the middle of a delivery leaves no credits, whichever is quicker.
func TestRevokeWhileDelivering(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		one, other := w.deliverer(), w.deliverer()
		for n := range 8 {
			var wait sync.WaitGroup
			wait.Go(func() {
				if _, err := one.Deliver(t.Context(), popular(n)); err != nil {
					t.Error(err)
				}
			})
			wait.Go(func() {
				if err := other.Revoke(t.Context(), popular(n).Reference, "refunded"); err != nil {
					t.Error(err)
				}
			})
			wait.Wait()
		}
		if n := w.count(`SELECT COALESCE(SUM(remaining), 0) FROM packages`); n != 0 {
			t.Errorf("%d credits are left", n)
		}
	})
}

// A refund between the beginning of a delivery and its mail: no mail.
func TestRevokeBeforeMail(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for point := 2; ; point++ { // after the attempt began
			p := popular(point)
			w.faults.arm(point, true)
			_, err := w.deliverer().Deliver(t.Context(), p)
			w.faults.disarm()
			queued, e := w.outbox.Queued(t.Context(), "credentials:"+p.Reference)
			if e != nil {
				t.Fatal(e)
			}
			if err == nil || queued {
				if point < 10 {
					t.Errorf("only %d points before the mail", point)
				}
				return
			}
			w.revoke(w.deliverer(), p.Reference)
			w.advance(3 * time.Minute)
			if delivery := w.deliver(w.deliverer(), p); !delivery.Revoked {
				t.Errorf("delivered as %+v", delivery)
			}
			if tokens := w.mailed(p.Email); len(tokens) != 0 {
				t.Errorf("%d mails after a refund at point %d", len(tokens), point)
			}
		}
	})
}

func TestRefusedPurchases(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		d := w.deliverer()
		w.deliver(d, popular(1))
		for name, change := range map[string]func(*billing.Purchase){
			"no reference": func(p *billing.Purchase) { p.Reference = "" },
			"endless reference": func(p *billing.Purchase) {
				p.Reference = strings.Repeat("x", 151)
			},
			"control character":       func(p *billing.Purchase) { p.Reference = "pi\n2" },
			"unknown plan":            func(p *billing.Purchase) { p.Plan = "free" },
			"no address":              func(p *billing.Purchase) { p.Email = " " },
			"NUL in the address":      func(p *billing.Purchase) { p.Email = "a\x00@example.com" },
			"web pack without a user": func(p *billing.Purchase) { p.Plan = "web-50" },
			"another plan, same reference": func(p *billing.Purchase) {
				p.Reference, p.Plan = "pi_1", "enterprise"
			},
			"another buyer, same reference": func(p *billing.Purchase) { p.Reference = "pi_1" },
		} {
			p := popular(2)
			change(&p)
			if delivery, err := d.Deliver(t.Context(), p); !errors.Is(err, billing.ErrRefused) {
				t.Errorf("%s: delivered as %+v, %v", name, delivery, err)
			}
		}
		w.wantNothing("dev2@example.com")
		w.wantOne("dev1@example.com", 5000)
	})
}
