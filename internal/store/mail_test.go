package store_test

import (
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"unink/internal/mail"
	"unink/internal/store"
	"unink/internal/store/storetest"
)

var _ mail.Store = store.Mails{}

func TestMails(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx, mails := t.Context(), store.NewMails(db)
		at := func(seconds int) time.Time { return time.Unix(1_800_000_000+int64(seconds), 0).UTC() }
		add := func(n int) mail.Mail {
			t.Helper()
			m := mail.Mail{
				Message: mail.Message{Key: fmt.Sprint("key", n), Kind: "kind", To: "to", Subject: "subject",
					Text: "text", HTML: "html"},
				ID: fmt.Sprint("mail_", n), State: mail.Waiting, Created: at(n), Due: at(n),
				Deadline: at(7200 + n),
			}
			if added, err := mails.Add(ctx, m); !added || err != nil {
				t.Fatal(added, err)
			}
			return m
		}
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		claim := func(now, lease int) mail.Mail {
			t.Helper()
			m, ok, err := mails.Claim(ctx, at(now), at(lease))
			if err != nil || ok != (m.ID != "") {
				t.Fatal(m, ok, err)
			}
			return m
		}
		count := func(waiting, dead int, oldest time.Time) {
			t.Helper()
			w, d, o, err := mails.Count(ctx)
			if err != nil || w != waiting || d != dead || !o.Equal(oldest) {
				t.Fatalf("counted %d waiting, %d dead, oldest %v, %v", w, d, o, err)
			}
		}
		next := func(want time.Time) {
			t.Helper()
			if due, err := mails.NextDue(ctx); err != nil || !due.Equal(want) {
				t.Fatalf("next due is %v, %v, want %v", due, err, want)
			}
		}

		count(0, 0, time.Time{})
		next(time.Time{})
		first, second := add(1), add(2)
		copied := first
		copied.ID = "mail_other"
		if added, err := mails.Add(ctx, copied); added || err != nil {
			t.Fatal("a key was added twice", err)
		}
		for key, want := range map[string]bool{"key1": true, "key3": false} {
			if has, err := mails.Has(ctx, key); has != want || err != nil {
				t.Fatal(key, has, err)
			}
		}
		count(2, 0, at(1))
		next(at(1))

		// Claims come in the order of their falling due, and hold until the lease ends.
		if m := claim(0, 100); m.ID != "" {
			t.Fatalf("%s was claimed before it was due", m.ID)
		}
		first.Attempts, first.Due = 1, at(100)
		if m := claim(2, 100); !reflect.DeepEqual(m, first) {
			t.Fatalf("claimed %+v, want %+v", m, first)
		}
		if m := claim(2, 101); m.ID != second.ID {
			t.Fatalf("claimed %+v", m)
		}
		if m := claim(99, 200); m.ID != "" {
			t.Fatalf("%s was claimed twice", m.ID)
		}
		next(at(100))
		if m := claim(100, 200); m.ID != first.ID || m.Attempts != 2 {
			t.Fatalf("claimed %+v", m)
		}

		// An attempt that another one has replaced changes nothing.
		must(mails.Later(ctx, first.ID, 1, at(3), "stale"))
		must(mails.Bury(ctx, first.ID, 1, at(3), "stale"))
		count(2, 0, at(1))
		next(at(101))
		must(mails.Later(ctx, first.ID, 2, at(150), "later"))
		must(mails.Bury(ctx, second.ID, 1, at(120), "never"))
		count(1, 1, at(1))
		next(at(150))

		list := func(state mail.State, want ...mail.Mail) {
			t.Helper()
			for i := range want {
				want[i].Subject, want[i].Text, want[i].HTML = "", "", ""
			}
			got, err := mails.List(ctx, state, 10)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("listed %+v, %v, want %+v", got, err, want)
			}
		}
		first.Attempts, first.Due, first.Error = 2, at(150), "later"
		second.Attempts, second.Due, second.Error, second.State, second.Finished = 1, at(101), "never",
			mail.Dead, at(120)
		list("", second, first)
		list(mail.Dead, second)
		list(mail.Sent)
		if got, err := mails.List(ctx, "", 1); err != nil || len(got) != 1 {
			t.Fatal(got, err)
		}

		// Only the dead are revived or discarded, and with all they said.
		for id, want := range map[string]bool{first.ID: false, second.ID: true, "mail_unknown": false} {
			if revived, err := mails.Revive(ctx, id, at(130), at(9000)); revived != want || err != nil {
				t.Fatal(id, revived, err)
			}
		}
		if m := claim(130, 300); m.ID != second.ID || m.Text != "text" || !m.Deadline.Equal(at(9000)) ||
			m.Attempts != 2 {
			t.Fatalf("claimed %+v", m)
		}
		if removed, err := mails.Discard(ctx, second.ID); removed || err != nil {
			t.Fatal("a waiting mail was discarded", err)
		}
		must(mails.Bury(ctx, second.ID, 2, at(140), "never"))
		must(mails.Sent(ctx, first.ID, at(160)))
		must(mails.Sent(ctx, first.ID, at(170))) // the first time counts
		if removed, err := mails.Discard(ctx, first.ID); removed || err != nil {
			t.Fatal("a sent mail was discarded", err)
		}
		first.State, first.Finished, first.Error = mail.Sent, at(160), ""
		list(mail.Sent, first)
		for _, step := range []struct {
			before int
			want   int64
		}{{160, 0}, {161, 1}} {
			if n, err := mails.Prune(ctx, mail.Sent, at(step.before)); n != step.want || err != nil {
				t.Fatal(n, err)
			}
		}
		count(0, 1, time.Time{})
		add(3) // waits: only what has ended is pruned
		for _, state := range []mail.State{mail.Waiting, mail.Dead} {
			if n, err := mails.Prune(ctx, state, at(140)); n != 0 || err != nil {
				t.Fatal(state, n, err)
			}
		}
		must(mails.Sent(ctx, "mail_3", at(150)))
		if n, err := mails.Prune(ctx, mail.Sent, at(151)); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		for _, want := range []bool{true, false} {
			if removed, err := mails.Discard(ctx, second.ID); removed != want || err != nil {
				t.Fatal(removed, err)
			}
		}
		count(0, 0, time.Time{})
	})
}

// Of many that claim at the same time, each mail goes to one.
func TestMailsAreClaimedOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		mails, now := store.NewMails(db), time.Now()
		const n = 20
		for i := range n {
			m := mail.Mail{Message: mail.Message{Key: fmt.Sprint(i)}, ID: fmt.Sprint(i), State: mail.Waiting,
				Created: now, Due: now, Deadline: now}
			if _, err := mails.Add(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
		claimed := make(chan string, 10*n)
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() {
				for {
					m, ok, err := mails.Claim(t.Context(), now, now.Add(time.Hour))
					if err != nil {
						t.Error(err)
						return
					}
					if due, err := mails.NextDue(t.Context()); !ok && (err != nil || due.After(now)) {
						return
					}
					if ok {
						claimed <- m.ID
					}
				}
			})
		}
		wait.Wait()
		close(claimed)
		times := map[string]int{}
		for id := range claimed {
			times[id]++
		}
		if len(times) != n {
			t.Errorf("%d of %d were claimed", len(times), n)
		}
		for id, k := range times {
			if k != 1 {
				t.Errorf("%s was claimed %d times", id, k)
			}
		}
	})
}
