package store_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"unink/internal/store"
	"unink/internal/store/storetest"
)

func TestNonces(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := context.Background()
		nonces := store.NewNonces(db)
		now := time.Unix(1_800_000_000, 0)
		use := func(key string, expires time.Time, want bool) {
			t.Helper()
			if fresh, err := nonces.Use(ctx, key, expires); err != nil || fresh != want {
				t.Errorf("%s is fresh: %v, %v, want %v", key, fresh, err, want)
			}
		}
		use("a", now.Add(time.Minute), true)
		use("b", now.Add(time.Hour), true)
		use("a", now.Add(time.Hour), false)
		if err := nonces.Prune(ctx, now.Add(time.Minute-1000)); err != nil {
			t.Fatal(err)
		}
		use("a", now.Add(time.Minute), false)
		if err := nonces.Prune(ctx, now.Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		use("b", now.Add(time.Minute), false)
		use("a", now.Add(time.Minute), true)
	})
}

func TestNonceOnceAmongMany(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		nonces := store.NewNonces(db)
		var won atomic.Int64
		var group sync.WaitGroup
		for range 50 {
			group.Go(func() {
				fresh, err := nonces.Use(context.Background(), "one", time.Unix(1_800_000_000, 0))
				if err != nil {
					t.Error(err)
				}
				if fresh {
					won.Add(1)
				}
			})
		}
		group.Wait()
		if n := won.Load(); n != 1 {
			t.Errorf("%d were the first", n)
		}
	})
}
