// Package storetest runs tests against every database that the program supports.
package storetest

import (
	"context"
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // driver pgx

	"unink/internal/ident"
	"unink/internal/store"
)

// Each runs a test on an empty SQLite database and on an empty PostgreSQL one. Both must be there:
// make services starts PostgreSQL.
func Each(t *testing.T, test func(t *testing.T, db *store.DB)) {
	t.Helper()
	EachURL(t, func(t *testing.T, address string) { test(t, Open(t, address)) })
}

// EachURL is Each for tests that open the database themselves, from its URL.
func EachURL(t *testing.T, test func(t *testing.T, address string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, SQLite(t)) })
	t.Run("postgres", func(t *testing.T) { test(t, Postgres(t)) })
}

// Open opens a database until the test ends.
func Open(t testing.TB, address string) *store.DB {
	t.Helper()
	db, err := store.Open(context.Background(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// SQLite returns the URL of a database in a new file.
func SQLite(t testing.TB) string {
	return "sqlite:" + filepath.Join(t.TempDir(), "unink.db")
}

// Postgres returns the URL of an empty schema, which goes when the test ends.
func Postgres(t testing.TB) string {
	t.Helper()
	server := os.Getenv("UNINK_TEST_POSTGRES")
	if server == "" {
		server = "postgres://unink@127.0.0.1:55432/postgres?sslmode=disable"
	}
	admin, err := sql.Open("pgx", server)
	if err != nil {
		t.Fatal(err)
	}
	schema := strings.ToLower(ident.New("test"))
	if _, err := admin.Exec("CREATE SCHEMA " + schema); err != nil {
		t.Fatalf("PostgreSQL is needed: run make services: %v", err)
	}
	t.Cleanup(func() {
		if _, err := admin.Exec("DROP SCHEMA " + schema + " CASCADE"); err != nil {
			t.Error(err)
		}
		_ = admin.Close()
	})
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	query.Set("search_path", schema)
	u.RawQuery = query.Encode()
	return u.String()
}
