package store_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddyserver/certmagic"

	"unink/internal/store"
	"unink/internal/store/storetest"
)

var _ interface {
	certmagic.Storage
	certmagic.TryLocker
} = (*store.Certificates)(nil)

func newCertificates(t *testing.T, db *store.DB, key byte,
	lease time.Duration) *store.Certificates {
	t.Helper()
	c, err := store.NewCertificates(db, bytes.Repeat([]byte{key}, 32), lease)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// What certmagic's documentation of Storage says of values and folders.
func TestCertificatesAreAStorage(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := context.Background()
		c := newCertificates(t, db, 'k', time.Minute)
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		list := func(folder string, recursive bool, want ...string) {
			t.Helper()
			if got, err := c.List(ctx, folder, recursive); err != nil || !slices.Equal(got, want) {
				t.Errorf("List(%q, %v) is %q, %v, want %q", folder, recursive, got, err, want)
			}
		}
		before := time.Now().Add(-time.Second)
		for _, name := range []string{"a/b/x.crt", "a/b/x.key", "a/c.json", "ab/d", "e"} {
			must(c.Store(ctx, name, []byte("first")))
			must(c.Store(ctx, name, []byte("value of "+name)))
		}
		if value, err := c.Load(ctx, "a/b/x.key"); err != nil || string(value) != "value of a/b/x.key" {
			t.Errorf("Load: %q, %v", value, err)
		}
		list("a", false, "a/b", "a/c.json")
		list("a", true, "a/b", "a/b/x.crt", "a/b/x.key", "a/c.json")
		list("", false, "a", "ab", "e")
		file, err := c.Stat(ctx, "a/c.json")
		if err != nil || file.Key != "a/c.json" || !file.IsTerminal ||
			file.Size != int64(len("value of a/c.json")) || file.Modified.Before(before) {
			t.Errorf("Stat of a value: %+v, %v", file, err)
		}
		if folder, err := c.Stat(ctx, "a/b"); err != nil || folder.Key != "a/b" || folder.IsTerminal {
			t.Errorf("Stat of a folder: %+v, %v", folder, err)
		}
		for _, name := range []string{"a", "a/b", "e"} {
			if !c.Exists(ctx, name) {
				t.Errorf("%s does not exist", name)
			}
		}
		must(c.Delete(ctx, "a/b"))
		must(c.Delete(ctx, "a/b")) // what is not there is no error
		list("a", true, "a/c.json")
		must(c.Delete(ctx, "a/c.json"))
		list("", true, "ab", "ab/d", "e")
		for _, absent := range []string{"a", "a/b/x.key", "nothing", "e/f"} {
			_, load := c.Load(ctx, absent)
			_, stat := c.Stat(ctx, absent)
			_, listed := c.List(ctx, absent, true)
			if c.Exists(ctx, absent) || !errors.Is(load, fs.ErrNotExist) ||
				!errors.Is(stat, fs.ErrNotExist) || !errors.Is(listed, fs.ErrNotExist) {
				t.Errorf("%s: %v, %v, %v", absent, load, stat, listed)
			}
		}
		gone, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := c.Load(gone, "e"); !errors.Is(err, context.Canceled) {
			t.Errorf("Load after its context: %v", err)
		}
	})
}

// Who reads the database without the secret reads no key, and what is moved to another name is not
// taken for it.
func TestCertificatesAreSealed(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, address string) {
		ctx := context.Background()
		db := storetest.Open(t, address)
		c := newCertificates(t, db, 'k', time.Minute)
		const secret = "-----BEGIN EC PRIVATE KEY-----"
		if err := c.Store(ctx, "host.key", []byte(secret)); err != nil {
			t.Fatal(err)
		}
		driver, source := "pgx", address
		if file, lite := strings.CutPrefix(address, "sqlite:"); lite {
			driver, source = "sqlite", file
		}
		raw, err := sql.Open(driver, source)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = raw.Close() }()
		var value []byte
		if err := raw.QueryRow("SELECT value FROM certificates").Scan(&value); err != nil ||
			bytes.Contains(value, []byte("PRIVATE")) {
			t.Errorf("the database holds %q, %v", value, err)
		}
		if _, err := newCertificates(t, db, 'x', time.Minute).Load(ctx, "host.key"); !errors.Is(
			err, fs.ErrNotExist,
		) {
			t.Errorf("with another secret: %v", err)
		}
		if _, err := raw.Exec("UPDATE certificates SET name = 'other.key'"); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Load(ctx, "other.key"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("under another name: %v", err)
		}
		if _, err := store.NewCertificates(db, []byte("short"), time.Minute); err == nil {
			t.Error("a short key is taken")
		}
	})
}

// A lock is one process's at a time, waits for the other, and heeds its context.
func TestCertificateLocks(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		services := []*store.Certificates{newCertificates(t, db, 'k', time.Minute),
			newCertificates(t, db, 'k', time.Minute)}
		var inside, most atomic.Int64
		var group sync.WaitGroup
		for n := range 6 {
			group.Go(func() {
				c := services[n%2]
				if err := c.Lock(ctx, "order"); err != nil {
					t.Error(err)
					return
				}
				most.Store(max(most.Load(), inside.Add(1)))
				if _, err := c.Load(ctx, "nothing"); !errors.Is(err, fs.ErrNotExist) {
					t.Error(err)
				}
				inside.Add(-1)
				if err := c.Unlock(ctx, "order"); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if most.Load() != 1 {
			t.Errorf("%d had the lock at once", most.Load())
		}
		if err := services[0].Lock(ctx, "order"); err != nil {
			t.Fatal(err)
		}
		if got, err := services[1].TryLock(ctx, "order"); got || err != nil {
			t.Errorf("the lock of another service: %v, %v", got, err)
		}
		if got, err := services[1].TryLock(ctx, "another"); !got || err != nil {
			t.Errorf("another lock: %v, %v", got, err)
		}
		ended, end := context.WithCancel(ctx)
		end()
		if err := services[1].Lock(ended, "order"); !errors.Is(err, context.Canceled) {
			t.Errorf("after its context: %v", err)
		}
		if err := services[1].Unlock(ctx, "order"); err == nil {
			t.Error("a lock was given back by who does not have it")
		}
		for name, c := range map[string]*store.Certificates{
			"order": services[0], "another": services[1],
		} {
			if err := c.Unlock(ctx, name); err != nil {
				t.Error(err)
			}
		}
	})
}

// The lock of a process that lives outlasts its lease; that of one that died ends with it.
func TestCertificateLockOutlivesItsHolderByTheLease(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, address string) {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		const lease = time.Second
		db, err := store.Open(ctx, address)
		if err != nil {
			t.Fatal(err)
		}
		holder := newCertificates(t, db, 'k', lease)
		if err := holder.Lock(ctx, "order"); err != nil {
			t.Fatal(err)
		}
		other := newCertificates(t, storetest.Open(t, address), 'k', lease)
		waiting, done := context.WithTimeout(ctx, 2*lease)
		defer done()
		if err := other.Lock(waiting, "order"); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("while its holder lived: %v", err)
		}
		if err := db.Close(); err != nil { // as good as dead
			t.Fatal(err)
		}
		if err := other.Lock(ctx, "order"); err != nil {
			t.Fatal(err)
		}
		if err := other.Unlock(ctx, "order"); err != nil {
			t.Error(err)
		}
		_ = holder.Unlock(ctx, "order") // ends what keeps it
	})
}
