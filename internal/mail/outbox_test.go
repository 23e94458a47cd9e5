package mail_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	netmail "net/mail"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"unink/internal/mail"
	"unink/internal/mail/mailtest"
	"unink/internal/store"
	"unink/internal/store/storetest"
)

func message(n int) mail.Message {
	return mail.Message{
		Key: fmt.Sprint("test:", n), Kind: "test", To: fmt.Sprintf("user%d@example.com", n),
		Subject: "A subject with an é", Text: "The token is s3cret-text.\n.\nEnd\n",
		HTML: "<p>s3cret-html</p>",
	}
}

func enqueue(t *testing.T, o *mail.Outbox, m mail.Message) {
	t.Helper()
	if queued, err := o.Enqueue(t.Context(), m); !queued || err != nil {
		t.Fatalf("queued is %v, error %v", queued, err)
	}
}

func sendDue(t *testing.T, o *mail.Outbox) time.Time {
	t.Helper()
	next, err := o.SendDue(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func wantStatus(t *testing.T, o *mail.Outbox, want mail.Status) {
	t.Helper()
	if got, err := o.Status(t.Context()); err != nil || got != want {
		t.Fatalf("status is %+v, %v, want %+v", got, err, want)
	}
}

func only(t *testing.T, o *mail.Outbox) mail.Mail {
	t.Helper()
	mails, err := o.List(t.Context(), "", 10)
	if err != nil || len(mails) != 1 {
		t.Fatalf("mails are %+v, %v, want one", mails, err)
	}
	return mails[0]
}

func TestDelivery(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		smtpd, now := mailtest.Serve(t), newClock()
		outbox := mail.New(store.NewMails(db), sender(t, smtpd.Address, nil), now.now, quiet())
		enqueue(t, outbox, message(1))
		if queued, err := outbox.Enqueue(t.Context(), message(1)); queued || err != nil {
			t.Fatalf("the same key again: queued is %v, error %v", queued, err)
		}
		now.advance(time.Minute)
		wantStatus(t, outbox, mail.Status{Waiting: 1, OldestUnsent: time.Minute})
		if next := sendDue(t, outbox); !next.IsZero() {
			t.Errorf("something is due at %v", next)
		}
		if queued, err := outbox.Enqueue(t.Context(), message(1)); queued || err != nil {
			t.Fatalf("the same key after delivery: queued is %v, error %v", queued, err)
		}

		mails, _ := smtpd.Taken()
		if len(mails) != 1 {
			t.Fatalf("%d mails arrived", len(mails))
		}
		text, html := parts(t, mails[0])
		if strings.TrimSpace(text) != strings.TrimSpace(message(1).Text) ||
			strings.TrimSpace(html) != message(1).HTML {
			t.Errorf("text is %q, HTML %q", text, html)
		}
		row := only(t, outbox)
		for name, want := range map[string]string{
			"From": `"unink" <no-reply@example.com>`, "To": "<user1@example.com>",
			"Message-Id": "<" + row.ID + "@example.com>", "Auto-Submitted": "auto-generated",
		} {
			if got := mails[0].Header.Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		if row.State != mail.Sent || !row.Finished.Equal(now.now()) {
			t.Errorf("mail is %+v", row)
		}
		wantStatus(t, outbox, mail.Status{})
	})
}

// What a mail said is nowhere in the database once it is delivered.
func TestBodyIsBlankedAfterDelivery(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, address string) {
		outbox := mail.New(store.NewMails(storetest.Open(t, address)),
			sender(t, mailtest.Serve(t).Address, nil),
			newClock().now, quiet())
		enqueue(t, outbox, message(1))
		if row := dump(t, address); !strings.Contains(row, "s3cret-text") ||
			!strings.Contains(row, "s3cret-html") {
			t.Fatalf("before the delivery there is %s", row)
		}
		sendDue(t, outbox)
		if row := dump(t, address); strings.Contains(row, "s3cret") || strings.Contains(row, "subject") {
			t.Errorf("after the delivery there is still %s", row)
		}
	})
}

// dump returns the only mail of a database, all columns of it.
func dump(t *testing.T, address string) string {
	t.Helper()
	driver, source := "pgx", address
	if path, lite := strings.CutPrefix(address, "sqlite:"); lite {
		driver, source = "sqlite", path
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var row string
	if err := db.QueryRow(`SELECT id || mail_key || kind || recipient || subject || body_text || body_html || state || error
		FROM mails`).Scan(&row); err != nil {
		t.Fatal(err)
	}
	return row
}

func TestServerDownThenBack(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		smtpd, now := mailtest.Serve(t), newClock()
		outbox := mail.New(store.NewMails(db), sender(t, smtpd.Address, nil), now.now, quiet())
		smtpd.Stop()
		const n = 5
		for i := range n {
			enqueue(t, outbox, message(i))
		}
		for _, pause := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute,
			4 * time.Minute,
			8 * time.Minute, 15 * time.Minute, 15 * time.Minute} {
			next := sendDue(t, outbox)
			if wait := next.Sub(now.now()); wait > pause || wait < pause*8/10 {
				t.Fatalf("the next attempt is in %v, want %v or a little less", wait, pause)
			}
			if sendDue(t, outbox).Before(next) {
				t.Fatal("an attempt was made before it was due")
			}
			now.advance(pause)
		}
		smtpd.Start(false)
		sendDue(t, outbox)
		sendDue(t, outbox)
		got := smtpd.Recipients()
		for i := range n {
			if got[fmt.Sprintf("<user%d@example.com>", i)] != 1 {
				t.Errorf("arrived: %v", got)
			}
		}
		wantStatus(t, outbox, mail.Status{})
	})
}

func TestTwoOutboxesSendEachMailOnce(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, address string) {
		smtpd, now := mailtest.Serve(t), newClock()
		var boxes []*mail.Outbox
		for range 2 { // as two processes: each has its own connections
			boxes = append(boxes, mail.New(store.NewMails(storetest.Open(t, address)),
				sender(t, smtpd.Address, nil),
				now.now, quiet()))
		}
		const n = 50
		for i := range n {
			enqueue(t, boxes[i%2], message(i))
		}
		var wait sync.WaitGroup
		for i := range 4 {
			wait.Go(func() {
				if _, err := boxes[i%2].SendDue(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		got := smtpd.Recipients()
		for to, times := range got {
			if times != 1 {
				t.Errorf("%s got %d mails", to, times)
			}
		}
		if len(got) != n {
			t.Errorf("%d of %d mails arrived", len(got), n)
		}
	})
}

func TestConcurrentEnqueueOfOneKey(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		outbox := mail.New(store.NewMails(db), nil, newClock().now, quiet())
		var wait sync.WaitGroup
		results := make(chan bool, 20)
		for range cap(results) {
			wait.Go(func() {
				queued, err := outbox.Enqueue(t.Context(), message(1))
				if err != nil {
					t.Error(err)
				}
				results <- queued
			})
		}
		wait.Wait()
		close(results)
		var times int
		for queued := range results {
			if queued {
				times++
			}
		}
		if times != 1 {
			t.Errorf("queued %d times", times)
		}
	})
}

func TestCrashBetweenClaimAndSend(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		smtpd, now, mails := mailtest.Serve(t), newClock(), store.NewMails(db)
		outbox := mail.New(mails, sender(t, smtpd.Address, nil), now.now, quiet())
		enqueue(t, outbox, message(1))
		crashed, ok, err := mails.Claim(t.Context(), now.now(), now.now().Add(5*time.Minute))
		if !ok || err != nil {
			t.Fatal(ok, err)
		}
		next := sendDue(t, outbox)
		if arrived, _ := smtpd.Taken(); len(arrived) != 0 {
			t.Fatal("a claimed mail was sent by another")
		}
		if !next.Equal(crashed.Due) {
			t.Fatalf("next is %v, want the end of the lease %v", next, crashed.Due)
		}
		now.advance(5 * time.Minute)
		sendDue(t, outbox)
		if got := smtpd.Recipients(); got["<user1@example.com>"] != 1 {
			t.Fatalf("arrived: %v", got)
		}
		// Who comes back from the dead changes nothing any more.
		if err := mails.Later(t.Context(), crashed.ID, crashed.Attempts, now.now(), "late"); err != nil {
			t.Fatal(err)
		}
		if err := mails.Bury(t.Context(), crashed.ID, crashed.Attempts, now.now(), "late"); err != nil {
			t.Fatal(err)
		}
		if row := only(t, outbox); row.State != mail.Sent || row.Error != "" {
			t.Errorf("mail is %+v", row)
		}
	})
}

func TestRefusedRecipientIsDeadAtOnceAndCanBeRetried(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		smtpd, now := mailtest.Serve(t), newClock()
		smtpd.Reject = func(string) error {
			return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1},
				Message: "no such user"}
		}
		var logged bytes.Buffer
		outbox := mail.New(store.NewMails(db), sender(t, smtpd.Address, nil), now.now,
			slog.New(slog.NewTextHandler(&logged, nil)))
		enqueue(t, outbox, message(1))
		sendDue(t, outbox)
		wantStatus(t, outbox, mail.Status{Dead: 1})
		row := only(t, outbox)
		if row.State != mail.Dead || !strings.Contains(row.Error, "no such user") {
			t.Errorf("mail is %+v", row)
		}
		for _, secret := range []string{"s3cret", "user1@example.com"} {
			if strings.Contains(logged.String(), secret) {
				t.Errorf("the log has %q: %s", secret, &logged)
			}
		}

		smtpd.Reject = func(string) error { return nil }
		if err := outbox.Retry(t.Context(), "mail_unknown"); !errors.Is(err, mail.ErrNotDead) {
			t.Errorf("retry of an unknown mail: %v", err)
		}
		if err := outbox.Retry(t.Context(), row.ID); err != nil {
			t.Fatal(err)
		}
		sendDue(t, outbox)
		mails, _ := smtpd.Taken()
		if len(mails) != 1 {
			t.Fatalf("%d mails arrived", len(mails))
		}
		if text, _ := parts(t, mails[0]); !strings.Contains(text, "s3cret-text") {
			t.Errorf("text is %q", text)
		}
		if err := outbox.Retry(t.Context(), row.ID); !errors.Is(err, mail.ErrNotDead) {
			t.Errorf("retry of a sent mail: %v", err)
		}
	})
}

// A server that is busy, or that refuses us rather than the recipient, is tried again.
func TestPassingRefusalsAreRetried(t *testing.T) {
	for _, code := range []int{450, 451} {
		smtpd := mailtest.Serve(t)
		smtpd.Reject = func(string) error { return &smtp.SMTPError{Code: code, Message: "later"} }
		outbox := mail.New(store.NewMails(storetest.Open(t, storetest.SQLite(t))),
			sender(t, smtpd.Address, nil),
			newClock().now, quiet())
		enqueue(t, outbox, message(1))
		sendDue(t, outbox)
		wantStatus(t, outbox, mail.Status{Waiting: 1})
	}
	smtpd := mailtest.Serve(t)
	// MAIL FROM is refused with a code of the five hundreds
	smtpd.Login = [2]string{"somebody", "else"}
	outbox := mail.New(store.NewMails(storetest.Open(t, storetest.SQLite(t))),
		sender(t, smtpd.Address, nil),
		newClock().now, quiet())
	enqueue(t, outbox, message(1))
	sendDue(t, outbox)
	wantStatus(t, outbox, mail.Status{Waiting: 1})
}

func TestDeadAfterTwoHours(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		now := newClock()
		var tries int
		failing := senderFunc(func(context.Context, mail.Message, string) error {
			tries++
			return errors.New("connection refused")
		})
		outbox := mail.New(store.NewMails(db), failing, now.now, quiet())
		start := now.now()
		enqueue(t, outbox, message(1))
		for {
			next := sendDue(t, outbox)
			if next.IsZero() {
				break
			}
			now.advance(next.Sub(now.now()))
		}
		if age := now.now().Sub(start); age != 2*time.Hour {
			t.Errorf("given up after %v", age)
		}
		if tries < 12 || tries > 16 {
			t.Errorf("%d attempts", tries)
		}
		wantStatus(t, outbox, mail.Status{Dead: 1})
		row := only(t, outbox)
		if err := outbox.Retry(t.Context(), row.ID); err != nil {
			t.Fatal(err)
		}
		if next := sendDue(t, outbox); next.IsZero() {
			t.Error("after a retry the mail has no two hours again")
		}
		now.advance(2 * time.Hour)
		sendDue(t, outbox)
		if err := outbox.Discard(t.Context(), row.ID); err != nil {
			t.Fatal(err)
		}
		if err := outbox.Discard(t.Context(), row.ID); !errors.Is(err, mail.ErrNotDead) {
			t.Errorf("discarded twice: %v", err)
		}
		wantStatus(t, outbox, mail.Status{})
	})
}

func TestBadMessagesAreRefused(t *testing.T) {
	outbox := mail.New(store.NewMails(storetest.Open(t, storetest.SQLite(t))), nil,
		newClock().now, quiet())
	for name, change := range map[string]func(*mail.Message){
		"line break in the subject": func(m *mail.Message) {
			m.Subject = "x\r\nBcc: victim@example.com"
		},
		"bare LF in the subject": func(m *mail.Message) { m.Subject = "x\nBcc: victim@example.com" },
		"line break in the address": func(m *mail.Message) {
			m.To = "a@example.com\r\nBcc: victim@example.com"
		},
		"folded line in the address": func(m *mail.Message) {
			m.To = "a@example.com\r\n <b@example.com>"
		},
		"SMTP command in address": func(m *mail.Message) {
			m.To = "a@example.com>\r\nRCPT TO:<b@example.com"
		},
		"two addresses":     func(m *mail.Message) { m.To = "a@example.com, b@example.com" },
		"name and address":  func(m *mail.Message) { m.To = "A <a@example.com>" },
		"quoted local part": func(m *mail.Message) { m.To = `"a b"@example.com` },
		"no address":        func(m *mail.Message) { m.To = "" },
		"no domain":         func(m *mail.Message) { m.To = "root" },
		"long address": func(m *mail.Message) {
			m.To = strings.Repeat("a", 250) + "@example.com"
		},
		"no key":       func(m *mail.Message) { m.Key = "" },
		"no subject":   func(m *mail.Message) { m.Subject = "" },
		"no text":      func(m *mail.Message) { m.Text = "" },
		"endless text": func(m *mail.Message) { m.HTML = strings.Repeat("x", 256<<10) },
		"NUL":          func(m *mail.Message) { m.Text = "a\x00b" },
		"not UTF-8":    func(m *mail.Message) { m.Text = "a\xffb" },
	} {
		m := message(1)
		change(&m)
		if queued, err := outbox.Enqueue(t.Context(), m); queued || !errors.Is(err, mail.ErrMessage) {
			t.Errorf("%s: queued is %v, error %v", name, queued, err)
		}
	}
	wantStatus(t, outbox, mail.Status{})
}

// The loop is woken by Enqueue, also while it sleeps, and ends with its context.
func TestRun(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		arrived := make(chan string)
		outbox := mail.New(store.NewMails(db),
			senderFunc(func(_ context.Context, m mail.Message, _ string) error {
				arrived <- m.To
				return nil
			}), time.Now, quiet())
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); outbox.Run(ctx) }()
		for i := range 3 {
			enqueue(t, outbox, message(i))
			if to := <-arrived; to != message(i).To {
				t.Errorf("%s arrived", to)
			}
		}
		cancel()
		<-ended
	})
}

// A mail that is being sent when the program stops is sent to its end, and marked.
func TestStopWhileSending(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx, cancel := context.WithCancel(t.Context())
		outbox := mail.New(store.NewMails(db),
			senderFunc(func(sending context.Context, _ mail.Message, _ string) error {
				cancel()
				return sending.Err()
			}), time.Now, quiet())
		enqueue(t, outbox, message(1))
		outbox.Run(ctx)
		if row := only(t, outbox); row.State != mail.Sent {
			t.Errorf("mail is %+v", row)
		}
	})
}

func TestPrune(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		now := newClock()
		outbox := mail.New(store.NewMails(db),
			sender(t, mailtest.Serve(t).Address, nil), now.now, quiet())
		enqueue(t, outbox, message(1))
		sendDue(t, outbox)
		for _, step := range []struct {
			after time.Duration
			want  int64
		}{{30 * 24 * time.Hour, 0}, {time.Second, 1}} {
			now.advance(step.after)
			if n, err := outbox.Prune(t.Context(), time.Hour); n != step.want || err != nil {
				t.Errorf("pruned %d, %v, want %d", n, err, step.want)
			}
		}
	})
}

// A mail that was given up, and the token in it, is not kept for ever.
func TestPruneOfTheDead(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, address string) {
		smtpd, now := mailtest.Serve(t), newClock()
		smtpd.Reject = func(string) error { return &smtp.SMTPError{Code: 550, Message: "no such user"} }
		var logged bytes.Buffer
		outbox := mail.New(store.NewMails(storetest.Open(t, address)),
			sender(t, smtpd.Address, nil), now.now,
			slog.New(slog.NewTextHandler(&logged, nil)))
		enqueue(t, outbox, message(1))
		sendDue(t, outbox)
		now.advance(time.Hour)
		enqueue(t, outbox, message(2)) // waits, and is of no concern
		for _, step := range []struct {
			after time.Duration
			want  int64
		}{{23 * time.Hour, 0}, {time.Second, 1}, {0, 0}} {
			now.advance(step.after)
			if n, err := outbox.Prune(t.Context(), 24*time.Hour); n != step.want || err != nil {
				t.Errorf("pruned %d, %v, want %d", n, err, step.want)
			}
		}
		wantStatus(t, outbox, mail.Status{Waiting: 1, OldestUnsent: 23*time.Hour + time.Second})
		if row := dump(t, address); !strings.Contains(row, message(2).Key) {
			t.Errorf("the mail that is left is %s", row)
		}
		if !strings.Contains(logged.String(), "never sent") {
			t.Errorf("the log does not say so: %s", &logged)
		}
	})
}

func TestFolder(t *testing.T) {
	var logged bytes.Buffer
	dir := filepath.Join(t.TempDir(), "mails")
	folder, err := mail.NewFolder(dir, "unink <no-reply@example.com>",
		slog.New(slog.NewTextHandler(&logged, nil)))
	if err != nil {
		t.Fatal(err)
	}
	outbox := mail.New(store.NewMails(storetest.Open(t, storetest.SQLite(t))), folder,
		newClock().now, quiet())
	secret := message(1)
	token := strings.Repeat("unk_0123456789=", 10)
	secret.Text += "\n感谢 " + token + "\n"
	enqueue(t, outbox, secret)
	sendDue(t, outbox)

	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		t.Fatalf("files are %v, %v", files, err)
	}
	name := filepath.Join(dir, files[0].Name())
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm() != 0o600 || filepath.Ext(name) != ".eml" {
		t.Errorf("file is %s, %v, %v", name, info.Mode(), err)
	}
	file, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(file, []byte("感谢 "+token)) {
		t.Errorf("a token cannot be copied from the file:\n%s", file)
	}
	m, err := netmail.ReadMessage(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	text, html := parts(t, m)
	if !strings.Contains(text, "s3cret-text") || !strings.Contains(html, "s3cret-html") {
		t.Errorf("text is %q, HTML %q", text, html)
	}
	if !strings.Contains(logged.String(), name) || strings.Contains(logged.String(), "s3cret") ||
		strings.Contains(logged.String(), "user1@") {
		t.Errorf("logged: %s", &logged)
	}
	// The id comes from the database, but no name leads out of the folder.
	if err := folder.Send(t.Context(), message(2), "../../out"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "out.eml")); err != nil {
		t.Error(err)
	}
}
