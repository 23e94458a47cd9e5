package account_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"unink/internal/account"
)

const aDay = 24 * time.Hour

var keep = account.Keep{Unconfirmed: 30 * aDay, Anonymous: 400 * aDay}

// left are the addresses and kinds of the users that are there.
func (w *world) left() (who []string) {
	w.t.Helper()
	users, err := w.Users(w.ctx, 1000, "")
	w.must(err)
	for _, u := range users {
		if u.Email == "" {
			who = append(who, string(u.Kind))
		} else {
			who = append(who, u.Email)
		}
	}
	slices.Sort(who)
	return who
}

// prunes prunes, and wants these to be left.
func (w *world) prunes(want ...string) {
	w.t.Helper()
	w.must(w.Prune(w.ctx, keep))
	if got := w.left(); !slices.Equal(got, want) {
		w.t.Errorf("left are %v, want %v", got, want)
	}
}

func TestPruneOfTheUnconfirmed(t *testing.T) {
	eachWithIDP(t, func(w *world, p *idp) {
		for _, who := range []string{"again", "forgot", "never", "paid", "verified", "made"} {
			w.must(w.SignUp(w.ctx, who+"@example.com", password, address))
			if who == "verified" {
				_, err := w.Verify(w.ctx, w.mail(account.NoticeVerify).Token)
				w.must(err)
			}
		}
		paid, err := w.FindUser(w.ctx, "paid@example.com")
		w.must(err)
		w.must(w.SetBought(w.ctx, paid.ID))
		_, err = w.CreateUser(w.ctx, "made@example.com", password, "")
		w.must(err)
		_, _, err = w.signIn(p, claims{"sub": "1"}) // without an address, and so without a confirmed one
		w.must(err)
		w.pass(30*aDay - 30*time.Minute)
		w.must(w.SignUp(w.ctx, "again@example.com", password, address))
		link := w.mail(account.NoticeVerify).Token
		w.must(w.RequestReset(w.ctx, "forgot@example.com", address))
		reset := w.mail(account.NoticeReset).Token
		w.pass(30*time.Minute - time.Microsecond)
		w.prunes("again@example.com", "forgot@example.com", "made@example.com", "never@example.com",
			"paid@example.com", "registered", "verified@example.com")
		w.pass(time.Microsecond)
		w.prunes("again@example.com", "forgot@example.com", "made@example.com", "paid@example.com",
			"registered", "verified@example.com")
		_, err = w.Verify(w.ctx, link)
		w.must(err)
		w.must(w.reset(reset, other))
		w.pass(100 * aDay)
		w.prunes("again@example.com", "forgot@example.com", "made@example.com", "paid@example.com",
			"registered", "verified@example.com")

		w.must(w.SignUp(w.ctx, "never@example.com", password, address)) // as if for the first time
		w.mail(account.NoticeVerify)
	})
}

// However short accounts are kept, a link that was sent stays good for its time.
func TestPruneLeavesLinksGood(t *testing.T) {
	each(t, func(w *world) {
		w.must(w.SignUp(w.ctx, email, password, address))
		w.pass(aDay - time.Microsecond)
		w.must(w.Prune(w.ctx, account.Keep{Anonymous: aDay}))
		_, err := w.Verify(w.ctx, w.mail(account.NoticeVerify).Token)
		w.must(err)
	})
}

func TestPruneOfTheAnonymous(t *testing.T) {
	each(t, func(w *world) {
		make := func(device string) account.User {
			t.Helper()
			u, _, err := w.Anonymous(w.ctx, device, address, 100)
			w.must(err)
			return u
		}
		idle, opened, used, paid := make("device-idle"), make("device-opened"), make("device-used"),
			make("device-paid")
		w.must(w.SetBought(w.ctx, paid.ID))
		w.pass(399 * aDay)
		make("device-opened")
		_, err := w.AnonymousOn(w.ctx, "device-used", used.ID)
		w.must(err)
		_, err = w.AnonymousOn(w.ctx, "device-idle", used.ID) // another's
		w.refused(err, account.ErrNotEstablished)
		w.pass(aDay)
		w.prunes("anonymous", "anonymous", "anonymous")
		_, err = w.AnonymousOn(w.ctx, "device-idle", idle.ID)
		w.refused(err, account.ErrNotEstablished)
		for device, u := range map[string]account.User{
			"device-opened": opened, "device-used": used, "device-paid": paid,
		} {
			if got, err := w.AnonymousOn(w.ctx, device, u.ID); err != nil || got.ID != u.ID {
				t.Errorf("on %s is %+v, %v", device, got, err)
			}
		}
		if anew := make("device-idle"); anew.ID == idle.ID {
			t.Error("a deleted account came back")
		}
		w.pass(1000 * aDay)
		w.prunes("anonymous") // who paid
	})
}

// Of pruning and what keeps an account, at the same time, one wins wholly.
func TestPruneAtOnce(t *testing.T) {
	each(t, func(w *world) {
		const n = 12
		type one struct{ id, link string }
		var all []one
		for i := range n {
			u, _, err := w.Anonymous(w.ctx, fmt.Sprint("device-", i), address, 100)
			w.must(err)
			w.must(w.SignUp(w.ctx, fmt.Sprint(i, "@example.com"), password, address))
			all = append(all, one{u.ID, w.mail(account.NoticeVerify).Token})
		}
		w.pass(aDay - time.Microsecond)
		short := account.Keep{} // the anonymous are idle, and the links at their end
		kept := make([][2]bool, n)
		w.atOnce(2*n+4, nil, func(i int) error {
			switch {
			case i >= 2*n:
				if i == 2*n {
					w.pass(time.Microsecond)
				}
				return w.Prune(w.ctx, short)
			case i < n:
				_, err := w.Verify(w.ctx, all[i].link)
				kept[i][0] = err == nil
			default:
				kept[i-n][1] = w.SetBought(w.ctx, all[i-n].id) == nil
			}
			return nil
		})
		w.must(w.Prune(w.ctx, short))
		for i, a := range all {
			_, err := w.FindUser(w.ctx, fmt.Sprint(i, "@example.com"))
			if (err == nil) != kept[i][0] {
				t.Errorf("user %d: confirmed %v, and found with %v", i, kept[i][0], err)
			}
			_, err = w.FindUser(w.ctx, a.id)
			if (err == nil) != kept[i][1] {
				t.Errorf("anonymous user %d: bought %v, and found with %v", i, kept[i][1], err)
			}
		}
	})
}

func TestPruneOfTokens(t *testing.T) {
	each(t, func(w *world) {
		c, _, err := w.CreateCustomer(w.ctx, email, "Ann", "ann-shop", "")
		w.must(err)
		first, _, err := w.NewToken(w.ctx, c.ID, 0)
		w.must(err)
		second, _, err := w.NewToken(w.ctx, c.ID, aDay)
		w.must(err)
		third, _, err := w.NewToken(w.ctx, c.ID, aDay) // ends the second in a day
		w.must(err)
		prune := func() { t.Helper(); w.must(w.Prune(w.ctx, keep)) }
		// there tells whether a token is known, by going back to when it was good.
		there := func(token string) bool {
			t.Helper()
			now := w.now()
			w.pass(began.Sub(now))
			defer w.pass(now.Sub(began))
			_, err := w.Authenticate(w.ctx, token)
			return err == nil
		}
		w.pass(366*aDay - time.Microsecond)
		prune()
		if !there(first) || !there(second) || !there(third) {
			t.Error("a token went too early")
		}
		w.pass(time.Microsecond)
		prune()
		if there(first) || there(second) {
			t.Error("an ended token is still there")
		}
		w.pass(3650 * aDay)
		prune()
		if _, err := w.Authenticate(w.ctx, third); err != nil {
			t.Errorf("the last token is refused: %v", err)
		}
	})
}
