package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
)

// Backup copies the embedded database, as it is at one moment, to a new file, while it is in use.
func (db *DB) Backup(ctx context.Context, to string) error {
	if !db.lite {
		return errors.New("only the embedded database is copied like this; use pg_dump for PostgreSQL")
	}
	return vacuumInto(ctx, db.write.DB, to) // those that only read may not even write elsewhere
}

// Copy checks a database file and copies it to a new one.
func Copy(ctx context.Context, from, to string) error {
	source, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: from}).EscapedPath()}).String()+"?mode=ro")
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	var verdict string
	if err := source.QueryRowContext(ctx, "PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		return fmt.Errorf("%s is not a sound copy of the database: %w", from, errors.Join(err, errors.New(verdict)))
	}
	return vacuumInto(ctx, source, to)
}

func vacuumInto(ctx context.Context, db *sql.DB, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("%s is there already", to)
	}
	_, err := db.ExecContext(ctx, "VACUUM INTO $1", to)
	return err
}
