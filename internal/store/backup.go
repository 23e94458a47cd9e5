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
	source, err := sql.Open("sqlite",
		(&url.URL{Scheme: "file", Opaque: (&url.URL{Path: from}).EscapedPath()}).String()+"?mode=ro")
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	var verdict string
	if err := source.QueryRowContext(ctx, "PRAGMA integrity_check").Scan(&verdict); err != nil ||
		verdict != "ok" {
		return fmt.Errorf("%s is not a sound copy of the database: %w", from,
			errors.Join(err, errors.New(verdict)))
	}
	return vacuumInto(ctx, source, to)
}

func vacuumInto(ctx context.Context, db *sql.DB, to string) error {
	// A copy has what only the database's owner may read; an empty file is what SQLite takes for none.
	file, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, private)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s is there already", to)
	}
	if err != nil {
		return err
	}
	_ = file.Close() // nothing was written
	if _, err = db.ExecContext(ctx, "VACUUM INTO $1", to); err != nil {
		return errors.Join(err, os.Remove(to))
	}
	return nil
}
