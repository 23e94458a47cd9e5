package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"unink/internal/credit"
	"unink/internal/store"
	"unink/internal/store/storetest"
)

func TestBackup(t *testing.T) {
	ctx := t.Context()
	db := storetest.Open(t, storetest.SQLite(t))
	grant := func(db *store.DB, source string) {
		t.Helper()
		_, _, err := store.NewCredits(db).Grant(
			ctx, credit.Grant{Owner: "user:a", Plan: "x", Credits: 7, Expires: credit.Never, Source: source},
			time.Now(),
		)
		if err != nil {
			t.Fatal(err)
		}
	}
	grant(db, "one")
	folder := t.TempDir()
	first, second := filepath.Join(folder, "first.db"), filepath.Join(folder, "second.db")
	if err := db.Backup(ctx, first); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(first); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read the copy: %v %v", info.Mode(), err)
	}
	grant(db, "two") // after the copy
	if err := db.Backup(ctx, first); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("a second copy to the same file: %v", err)
	}
	if err := store.Copy(ctx, first, second); err != nil {
		t.Fatal(err)
	}
	copied := storetest.Open(t, "sqlite:"+second)
	if n, err := store.NewCredits(copied).Balance(ctx, "user:a", time.Now()); err != nil || n != 7 {
		t.Errorf("the copy has %d credits (%v), want 7", n, err)
	}
	if err := store.Copy(ctx, filepath.Join("testdata", "..", "backup_test.go"),
		filepath.Join(folder, "third.db")); err == nil {
		t.Error("a text was taken for a database")
	}
	if err := storetest.Open(t, storetest.Postgres(t)).Backup(ctx, second); err == nil ||
		!strings.Contains(err.Error(), "pg_dump") {
		t.Errorf("PostgreSQL: %v", err)
	}
}

// A database that others could read is its owner's alone once it was opened.
func TestReadableFilesBecomePrivate(t *testing.T) {
	address := storetest.SQLite(t)
	file := strings.TrimPrefix(address, "sqlite:")
	if err := storetest.Open(t, address).Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	storetest.Open(t, address)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// The database, what SQLite keeps beside it, and copies of it are their owner's alone, whatever the
// umask.
func TestFilesArePrivate(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	address := storetest.SQLite(t)
	file := strings.TrimPrefix(address, "sqlite:")
	db := storetest.Open(t, address)
	first, second := file+".first", file+".second"
	if err := db.Backup(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	if err := store.Copy(t.Context(), first, second); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, file + "-wal", file + "-shm", first, second} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", filepath.Base(path), info.Mode(), err)
		}
	}
}
