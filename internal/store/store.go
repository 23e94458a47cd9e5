// Package store keeps the service's data in SQL: SQLite in a file of the data folder, or PostgreSQL
// by URL, from one text of SQL that both understand. For each domain package it has a type that
// implements that package's Store.
//
// Conventions of the SQL: parameters are $1, $2, …; times are BIGINT microseconds since 1970 in
// UTC (see [micros] and [instant]); flags are INTEGER 0 or 1; identifiers are TEXT.
package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"unink/internal/pause"
)

//go:embed migrations/*.sql
var migrations embed.FS

// DB is an open database. It is safe for concurrent use.
type DB struct {
	write pool
	read  pool // the same as write on PostgreSQL
	lite  bool
}

// Open opens the database that a URL names, and brings its tables up to date:
//
//	sqlite:PATH          a file, made when it is not there
//	postgres://USER@HOST:PORT/NAME?…   as libpq has it; postgresql:// too
func Open(ctx context.Context, address string) (*DB, error) {
	scheme, rest, _ := strings.Cut(address, ":")
	var db *DB
	var err error
	dialect := goose.DialectSQLite3
	switch scheme {
	case "sqlite":
		db, err = openSQLite(rest)
	case "postgres", "postgresql":
		dialect = goose.DialectPostgres
		db, err = openPostgres(address)
	default:
		return nil, fmt.Errorf("database %q: begin with sqlite: and a path, or postgres://",
			redact(address))
	}
	if err != nil {
		return nil, fmt.Errorf("database %q: %w", redact(address), err)
	}
	if err := db.migrate(ctx, dialect); err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("database %q: %w", redact(address), err)
	}
	return db, nil
}

// redact leaves the password out of a database's URL.
func redact(address string) string {
	if u, err := url.Parse(address); err == nil {
		return u.Redacted()
	}
	return "(unreadable URL)"
}

// private are the permissions of files with data: their owner's alone.
const private = 0o600

// SQLite lets one connection write at a time; more would only wait for it in a less orderly way.
func openSQLite(path string) (*DB, error) {
	if path == "" {
		return nil, errors.New("the path of the file is missing")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if err := makePrivate(path); err != nil {
		return nil, err
	}
	options := "_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)" +
		"&_pragma=synchronous(NORMAL)&_pragma=foreign_keys(1)&_pragma=secure_delete(1)"
	file := (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath()}).String()
	write, err := sql.Open("sqlite", file+"?"+options+"&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	write.SetMaxOpenConns(1)
	read, err := sql.Open("sqlite", file+"?"+options+"&_pragma=query_only(1)")
	if err != nil {
		return nil, errors.Join(err, write.Close())
	}
	read.SetMaxOpenConns(4)
	return &DB{write: pool{write}, read: pool{read}, lite: true}, nil
}

// makePrivate makes the file of a database, or takes from others what they may do with one that is
// there. What SQLite puts beside it has the same permissions.
func makePrivate(path string) error {
	made, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, private)
	if err := errors.Join(err, made.Close()); err != nil {
		return err
	}
	for _, file := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Stat(file)
		if err == nil && info.Mode().Perm()&^private != 0 {
			err = os.Chmod(file, private)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the data is its owner's alone: %w", err)
		}
	}
	return nil
}

func openPostgres(address string) (*DB, error) {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, err
	}
	// database/sql also connects for nobody in particular, whose patience has no end.
	if u, err := url.Parse(address); err == nil && !u.Query().Has("connect_timeout") {
		config.ConnectTimeout = patience
	}
	db := stdlib.OpenDB(*config)
	db.SetMaxOpenConns(16)
	db.SetMaxIdleConns(8)
	db.SetConnMaxIdleTime(5 * time.Minute)
	return &DB{write: pool{db}, read: pool{db}}, nil
}

func (db *DB) migrate(ctx context.Context, dialect goose.Dialect) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	var options []goose.ProviderOption
	if !db.lite {
		turns, err := db.turns(ctx)
		if err != nil {
			return err
		}
		options = append(options, goose.WithSessionLocker(turns))
	}
	provider, err := goose.NewProvider(dialect, db.write.DB, files, options...)
	if err != nil {
		return err
	}
	_, err = provider.Up(ctx)
	return err
}

// turns are those of services that start together on one PostgreSQL: of one schema, others are no
// concern.
func (db *DB) turns(ctx context.Context) (lock.SessionLocker, error) {
	var schema int64
	if err := db.read.QueryRowContext(
		ctx, "SELECT hashtext(current_schema())",
	).Scan(&schema); err != nil {
		return nil, err
	}
	const every, times = 1, 60 // seconds, attempts
	return lock.NewPostgresSessionLocker(lock.WithLockID(lock.DefaultLockID+schema),
		lock.WithLockTimeout(every, times))
}

// Ping asks whether the database answers.
func (db *DB) Ping(ctx context.Context) error {
	var one int
	return db.read.QueryRowContext(ctx, "SELECT 1").Scan(&one)
}

// Close closes the database.
func (db *DB) Close() error {
	if db.lite {
		return errors.Join(db.read.Close(), db.write.Close())
	}
	return db.write.Close()
}

// attempts is how often a transaction is tried that others got in the way of.
const attempts = 8

// inside is where a context has the transaction of a database that it is within.
type inside struct{ db *DB }

// within makes a context whose transactions are parts of one that is under way.
func (db *DB) within(ctx context.Context, tx *sql.Tx) context.Context {
	return context.WithValue(ctx, inside{db}, tx)
}

// tx runs do in a transaction, again when the database found that another one got in its way; or as
// a part of the transaction that the context is within.
// do must have no effect but through its transaction, and gets the context that ends with it.
func (db *DB) tx(ctx context.Context, do func(context.Context, *sql.Tx) error) error {
	if whole, ok := ctx.Value(inside{db}).(*sql.Tx); ok {
		return part(ctx, whole, do)
	}
	ctx, finish := bounded(ctx)
	return finish(db.insist(ctx, do))
}

func (db *DB) insist(ctx context.Context, do func(context.Context, *sql.Tx) error) error {
	for n := 1; ; n++ {
		err := db.once(ctx, do)
		if n == attempts || !again(err) {
			return err
		}
		wait := time.Duration(rand.Int64N(int64(5*time.Millisecond) << n))
		if err := pause.For(ctx, wait); err != nil {
			return err
		}
	}
}

// part runs do in a transaction, of which it leaves nothing on an error.
func part(ctx context.Context, tx *sql.Tx, do func(context.Context, *sql.Tx) error) error {
	if _, err := tx.ExecContext(ctx, "SAVEPOINT part"); err != nil {
		return err
	}
	err := do(ctx, tx)
	if err != nil {
		_, undone := tx.ExecContext(ctx, "ROLLBACK TO SAVEPOINT part")
		return errors.Join(err, undone)
	}
	_, err = tx.ExecContext(ctx, "RELEASE SAVEPOINT part")
	return err
}

func (db *DB) once(ctx context.Context, do func(context.Context, *sql.Tx) error) error {
	tx, err := db.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(ctx, tx); err != nil {
		_ = tx.Rollback()
		return err
	}
	return tx.Commit()
}

// again reports whether a transaction failed only because another one ran.
func again(err error) bool {
	var pg *pgconn.PgError
	var lite *sqlite.Error
	switch {
	case errors.As(err, &pg):
		return pg.Code == "40001" || pg.Code == "40P01" // serialization failure, deadlock
	case errors.As(err, &lite):
		return lite.Code()&0xff == sqlite3.SQLITE_BUSY
	}
	return false
}

// isDuplicate reports whether a statement failed because what it adds is there already.
func isDuplicate(err error) bool {
	var pg *pgconn.PgError
	var lite *sqlite.Error
	switch {
	case errors.As(err, &pg):
		return pg.Code == "23505"
	case errors.As(err, &lite):
		return lite.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE ||
			lite.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY
	}
	return false
}

// isOrphan reports whether a statement failed because what it belongs to is not there.
func isOrphan(err error) bool {
	var pg *pgconn.PgError
	var lite *sqlite.Error
	switch {
	case errors.As(err, &pg):
		return pg.Code == "23503"
	case errors.As(err, &lite):
		return lite.Code() == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY
	}
	return false
}

// micros is how a time is stored; the zero time is 0.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// instant is the time that was stored as micros.
func instant(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}

// affected reports whether a statement changed a row.
func affected(res sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n > 0, err
}
