package store_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"unink/internal/store"
	"unink/internal/store/storetest"
)

// Services that start together find one that makes the tables. On SQLite there is one service.
func TestOpenTogether(t *testing.T) {
	address := storetest.Postgres(t)
	var opening sync.WaitGroup
	for range 4 {
		opening.Go(func() {
			db, err := store.Open(t.Context(), address)
			if err != nil {
				t.Error(err)
				return
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	opening.Wait()
}

func TestOpenTwice(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, address string) {
		for range 2 { // the second time there is nothing to migrate
			if err := storetest.Open(t, address).Ping(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	for address, want := range map[string]string{
		"mysql://root@localhost/x": "begin with sqlite:",
		"sqlite:":                  "path of the file is missing",
		"postgres://u:secret@127.0.0.1:1/x?connect_timeout=2": "connect",
		"postgres://u:secret@127.0.0.1:1/x?sslmode=strange":   "sslmode",
		"sqlite:/proc/version/unink.db":                       "not a directory",
	} {
		_, err := store.Open(context.Background(), address)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: error is %v, want one with %q and without the password", address, err, want)
		}
	}
}
