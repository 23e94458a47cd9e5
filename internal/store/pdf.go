package store

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"unink/internal/pdf"
	"unink/internal/pdfjob"
)

// PDFs keeps jobs on PDFs. It implements [pdfjob.Store]. Documents, pictures, files and the secrets
// of hooks are sealed with AES-256-GCM, bound to their places.
type PDFs struct {
	db   *DB
	aead cipher.AEAD
}

var _ pdfjob.Store = PDFs{}

// NewPDFs makes the store of jobs on PDFs in a database. The key has 32 bytes, the same for all
// services on it.
func NewPDFs(db *DB, key []byte) (PDFs, error) {
	if len(key) != 32 {
		return PDFs{}, fmt.Errorf("the key of PDFs must have 32 bytes, not %d", len(key))
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return PDFs{}, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return PDFs{db, aead}, err
}

const secretPart = -2 // what a hook's secret is bound to

func (s PDFs) seal(id string, part, piece int, data []byte) []byte {
	return s.aead.Seal(nil, nil, data, fmt.Appendf(nil, "%s/%d/%d", id, part, piece))
}

func (s PDFs) open(id string, part, piece int, sealed []byte) ([]byte, error) {
	data, err := s.aead.Open(nil, nil, sealed, fmt.Appendf(nil, "%s/%d/%d", id, part, piece))
	if err != nil {
		return nil, fmt.Errorf("what is kept of %s was sealed with another secret: %w", id, err)
	}
	return data, nil
}

// Add implements [pdfjob.Store]. Requests that come in the same moment may together exceed the
// bounds.
func (s PDFs) Add(ctx context.Context, j pdfjob.Job, document []byte, b pdfjob.Bounds) error {
	options, err := json.Marshal(j.Options)
	if err != nil {
		return err
	}
	ctx, cancel := atLength(ctx)
	defer cancel()
	now := micros(j.Created)
	err = s.db.tx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `
			DELETE FROM pdf_jobs WHERE owner = $1 AND expires <= $2`, j.Owner, now); err != nil {
			return err
		}
		if err := s.refuse(ctx, tx, j.Owner, len(document), b); err != nil {
			return err
		}
		key := sql.NullString{String: j.Key, Valid: j.Key != ""}
		if _, err := tx.ExecContext(ctx, `
			INSERT INTO pdf_jobs (id, owner, job_key, body, options, state, code, message, bytes, created, finished,
				expires, served, holder, lease, hook, secret, hook_due, hook_tries)
			VALUES ($1, $2, $3, $4, $5, $6, 0, '', 0, $7, 0, $8, 0, '', 0, $9, $10, 0, 0)`,
			j.ID, j.Owner, key, j.Body, string(options), string(j.State), now, micros(j.Expires), j.Hook.URL,
			s.seal(j.ID, secretPart, 0, []byte(j.Hook.Secret))); err != nil {
			return err
		}
		return s.addPart(ctx, tx, j.ID, pdfjob.Document, document)
	})
	if isDuplicate(err) {
		return pdfjob.ErrKeyTaken
	}
	return err
}

// refuse returns why an owner's document of a size is not taken, or nil. An owner holds no more
// than is still free, so that many who take all they may leave room for others (dynamic thresholds,
// Choudhury and Hahne, 1998).
func (s PDFs) refuse(ctx context.Context, tx *sql.Tx, owner string, size int,
	b pdfjob.Bounds) error {
	var jobs int
	var own, all int64
	if err := tx.QueryRowContext(ctx, `
		SELECT (SELECT COUNT(*) FROM pdf_jobs WHERE owner = $1),
			CAST(COALESCE(SUM(CASE WHEN j.owner = $1 THEN LENGTH(p.data) END), 0) AS BIGINT),
			CAST(COALESCE(SUM(LENGTH(p.data)), 0) AS BIGINT)
		FROM pdf_pieces p JOIN pdf_jobs j ON j.id = p.job`,
		owner).Scan(&jobs, &own, &all); err != nil {
		return err
	}
	switch free := b.Bytes - all; {
	case jobs >= b.Jobs:
		return pdfjob.ErrTooMany
	case own+int64(size) > free:
		return pdfjob.ErrFull
	}
	return nil
}

func (s PDFs) addPart(ctx context.Context, tx *sql.Tx, id string, part int, data []byte) error {
	for n, piece := range pdfjob.Pieces(data) {
		if _, err := tx.ExecContext(ctx, insertPiece, id, part, n,
			s.seal(id, part, n, piece)); err != nil {
			return err
		}
	}
	return nil
}

const insertPiece = `INSERT INTO pdf_pieces (job, part, piece, data) VALUES ($1, $2, $3, $4)`

const jobColumns = `id, owner, COALESCE(job_key, ''), body, options, state, code, message, bytes, created,
	finished, expires, hook, secret, hook_tries`

func (s PDFs) scanJob(r row) (j pdfjob.Job, err error) {
	var options string
	var secret []byte
	var created, finished, expires int64
	err = r.Scan(&j.ID, &j.Owner, &j.Key, &j.Body, &options, &j.State, &j.Problem.Code,
		&j.Problem.Message, &j.Bytes, &created, &finished, &expires, &j.Hook.URL, &secret, &j.HookTries)
	if errors.Is(err, sql.ErrNoRows) {
		return j, pdfjob.ErrNotFound
	}
	if err != nil {
		return j, err
	}
	j.Created, j.Finished, j.Expires = instant(created), instant(finished), instant(expires)
	opened, err := s.open(j.ID, secretPart, 0, secret)
	if err != nil {
		return j, err
	}
	j.Hook.Secret = string(opened)
	return j, json.Unmarshal([]byte(options), &j.Options)
}

// asker asks within a transaction, or without one.
type asker struct {
	row  func(ctx context.Context, query string, args ...any) row
	rows func(ctx context.Context, query string, args ...any) (rows, error)
}

func asking(p pool) asker {
	return asker{
		func(ctx context.Context, query string, args ...any) row {
			return p.QueryRowContext(ctx, query, args...)
		},
		p.QueryContext,
	}
}

func askingIn(tx *sql.Tx) asker {
	return asker{
		func(ctx context.Context, query string, args ...any) row {
			return tx.QueryRowContext(ctx, query, args...)
		},
		func(ctx context.Context, query string, args ...any) (rows, error) {
			return tx.QueryContext(ctx, query, args...)
		},
	}
}

// job is the one for which where is true, with its pages.
func (s PDFs) job(ctx context.Context, from asker, where string, args ...any) (pdfjob.Job, error) {
	j, err := s.scanJob(from.row(ctx, "SELECT "+jobColumns+" FROM pdf_jobs WHERE "+where,
		args...))
	if err != nil {
		return pdfjob.Job{}, err
	}
	rows, err := from.rows(ctx, `
		SELECT number, state, charged, marks, code, message, place FROM pdf_pages WHERE job = $1 ORDER BY number`,
		j.ID)
	j.Pages, err = collect(rows, err, func(p *pdfjob.Page) error {
		var place string
		if err := rows.Scan(&p.Number, &p.State, &p.Charged, &p.Marks, &p.Problem.Code,
			&p.Problem.Message, &place); err != nil {
			return err
		}
		return json.Unmarshal([]byte(place), &p.Place)
	})
	return j, err
}

// Job implements [pdfjob.Store].
func (s PDFs) Job(ctx context.Context, owner, id string, now time.Time) (pdfjob.Job, error) {
	return s.job(ctx, asking(s.db.read), "id = $1 AND owner = $2 AND expires > $3", id, owner,
		micros(now))
}

// Keyed implements [pdfjob.Store].
func (s PDFs) Keyed(ctx context.Context, owner, key string, now time.Time) (pdfjob.Job, error) {
	return s.job(ctx, asking(s.db.read), "job_key = $1 AND owner = $2 AND expires > $3", key, owner,
		micros(now))
}

// Delete implements [pdfjob.Store].
func (s PDFs) Delete(ctx context.Context, owner, id string, now time.Time) error {
	ctx, cancel := atLength(ctx)
	defer cancel()
	return orElse(pdfjob.ErrNotFound)(s.db.write.ExecContext(ctx, `
		DELETE FROM pdf_jobs WHERE id = $1 AND owner = $2 AND expires > $3`, id, owner, micros(now)))
}

// orElse is an error, otherwise, unless a statement changed a row.
func orElse(otherwise error) func(sql.Result, error) error {
	return func(res sql.Result, err error) error {
		changed, err := affected(res, err)
		if err == nil && !changed {
			return otherwise
		}
		return err
	}
}

// Prune implements [pdfjob.Store].
func (s PDFs) Prune(ctx context.Context, now time.Time) error {
	ctx, cancel := atLength(ctx)
	defer cancel()
	_, err := s.db.write.ExecContext(ctx, "DELETE FROM pdf_jobs WHERE expires <= $1", micros(now))
	return err
}

// Claim implements [pdfjob.Store]. The outer conditions are what makes it safe: of two processes
// that chose the same job, the later one finds its lease taken.
func (s PDFs) Claim(ctx context.Context, holder string,
	now, lease time.Time) (pdfjob.Job, bool, error) {
	return s.claim(ctx, `
		UPDATE pdf_jobs SET holder = $1, served = $2, lease = $3, state = 'working'
		WHERE state IN ('waiting', 'working') AND lease <= $2 AND id = (
			SELECT id FROM pdf_jobs AS next WHERE state IN ('waiting', 'working') AND lease <= $2
			ORDER BY (SELECT MAX(served) FROM pdf_jobs AS others WHERE others.owner = next.owner), served, created, id
			LIMIT 1)
		RETURNING id`, holder, micros(now), micros(lease))
}

// claim runs an update that takes one job at most, and reads the job that it took.
func (s PDFs) claim(ctx context.Context, update string,
	args ...any) (j pdfjob.Job, claimed bool, err error) {
	err = s.db.tx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var id string
		err := tx.QueryRowContext(ctx, update, args...).Scan(&id)
		claimed = err == nil
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		} else if err != nil {
			return err
		}
		j, err = s.job(ctx, askingIn(tx), "id = $1", id)
		return err
	})
	return j, claimed && err == nil, err
}

// Extend implements [pdfjob.Store].
func (s PDFs) Extend(ctx context.Context, id, holder string, lease time.Time) error {
	return orElse(pdfjob.ErrLost)(s.db.write.ExecContext(ctx, `
		UPDATE pdf_jobs SET lease = $3 WHERE id = $1 AND holder = $2`, id, holder, micros(lease)))
}

// Leave implements [pdfjob.Store].
func (s PDFs) Leave(ctx context.Context, id, holder string) error {
	_, err := s.db.write.ExecContext(ctx, `
		UPDATE pdf_jobs SET lease = 0, holder = '' WHERE id = $1 AND holder = $2`, id, holder)
	return err
}

// Free implements [pdfjob.Store].
func (s PDFs) Free(ctx context.Context) error {
	_, err := s.db.write.ExecContext(ctx, "UPDATE pdf_jobs SET lease = 0, holder = ''")
	return err
}

// Plan implements [pdfjob.Store].
func (s PDFs) Plan(ctx context.Context, id string, numbers []int) error {
	place, err := json.Marshal(pdf.Page{})
	if err != nil {
		return err
	}
	return s.db.tx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, n := range numbers {
			if _, err := tx.ExecContext(ctx, `
				INSERT INTO pdf_pages (job, number, state, tries, hold, charged, marks, code, message, place)
				VALUES ($1, $2, 'waiting', 0, '', 0, 0, 0, '', $3) ON CONFLICT (job, number) DO NOTHING`, id, n, string(place)); err != nil {
				return lost(err)
			}
		}
		return nil
	})
}

// Begin implements [pdfjob.Store].
func (s PDFs) Begin(ctx context.Context, id string, number int,
	hold func(ctx context.Context, held string) (string, error)) (tries int, err error) {
	err = s.db.tx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var held string
		err := tx.QueryRowContext(ctx, `
			UPDATE pdf_pages SET tries = tries + 1 WHERE job = $1 AND number = $2 AND state = 'waiting'
			RETURNING tries, hold`, id, number).Scan(&tries, &held)
		if errors.Is(err, sql.ErrNoRows) {
			return pdfjob.ErrLost
		} else if err != nil {
			return err
		}
		if held, err = hold(s.db.within(ctx, tx), held); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `
			UPDATE pdf_pages SET hold = $3 WHERE job = $1 AND number = $2`, id, number, held)
		return err
	})
	return tries, err
}

// Retract implements [pdfjob.Store].
func (s PDFs) Retract(ctx context.Context, id string, number int) error {
	_, err := s.db.write.ExecContext(ctx, `
		UPDATE pdf_pages SET tries = tries - 1 WHERE job = $1 AND number = $2 AND tries > 0`, id, number)
	return err
}

// Conclude implements [pdfjob.Store].
func (s PDFs) Conclude(ctx context.Context, id, held string, p pdfjob.Page, picture []byte,
	pay func(context.Context) error) error {
	place, err := json.Marshal(p.Place)
	if err != nil {
		return err
	}
	ctx, cancel := atLength(ctx)
	defer cancel()
	return s.db.tx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := orElse(pdfjob.ErrLost)(tx.ExecContext(ctx, `
			UPDATE pdf_pages SET state = $4, hold = '', charged = $5, marks = $6, code = $7, message = $8, place = $9
			WHERE job = $1 AND number = $2 AND state = 'waiting' AND (hold = $3 OR $3 = '')`,
			id, p.Number, held, string(p.State), p.Charged, p.Marks, p.Problem.Code, p.Problem.Message,
			string(place))); err != nil {
			return err
		}
		if picture != nil {
			if err := s.addPart(ctx, tx, id, p.Number, picture); err != nil {
				return err
			}
		}
		return pay(s.db.within(ctx, tx))
	})
}

// Fail implements [pdfjob.Store].
func (s PDFs) Fail(ctx context.Context, id string, p pdfjob.Problem) error {
	_, err := s.db.write.ExecContext(ctx, `
		UPDATE pdf_pages SET state = 'failed', code = $2, message = $3 WHERE job = $1 AND state = 'waiting'`,
		id, p.Code, p.Message)
	return err
}

// Size implements [pdfjob.Store].
func (s PDFs) Size(ctx context.Context, id string) (n int64, err error) {
	err = s.db.read.QueryRowContext(ctx, `
		SELECT CAST(COALESCE(SUM(LENGTH(data)), 0) AS BIGINT) FROM pdf_pieces WHERE job = $1 AND part > 0`,
		id).Scan(&n)
	return n, err
}

// Piece implements [pdfjob.Store].
func (s PDFs) Piece(ctx context.Context, id string, part, piece int) ([]byte, error) {
	var sealed []byte
	err := s.db.read.QueryRowContext(ctx, `
		SELECT data FROM pdf_pieces WHERE job = $1 AND part = $2 AND piece = $3`, id, part,
		piece).Scan(&sealed)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, pdfjob.ErrLost
	} else if err != nil {
		return nil, err
	}
	return s.open(id, part, piece, sealed)
}

// AddPiece implements [pdfjob.Store].
func (s PDFs) AddPiece(ctx context.Context, id string, part, piece int, data []byte) error {
	_, err := s.db.write.ExecContext(ctx, insertPiece, id, part, piece, s.seal(id, part, piece, data))
	return lost(err)
}

// lost is [pdfjob.ErrLost] where what is added to is gone.
func lost(err error) error {
	if isOrphan(err) {
		return pdfjob.ErrLost
	}
	return err
}

// Drop implements [pdfjob.Store].
func (s PDFs) Drop(ctx context.Context, id string, part int) error {
	ctx, cancel := atLength(ctx)
	defer cancel()
	_, err := s.db.write.ExecContext(ctx, "DELETE FROM pdf_pieces WHERE job = $1 AND part = $2", id,
		part)
	return err
}

// End implements [pdfjob.Store].
func (s PDFs) End(ctx context.Context, j pdfjob.Job, holder string) error {
	var due time.Time
	if j.Hook.URL != "" {
		due = j.Finished
	}
	ctx, cancel := atLength(ctx)
	defer cancel()
	return s.db.tx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := orElse(pdfjob.ErrLost)(tx.ExecContext(ctx, `
			UPDATE pdf_jobs SET state = $3, code = $4, message = $5, bytes = $6, finished = $7, expires = $8,
				hook_due = $9
			WHERE id = $1 AND holder = $2`, j.ID, holder, string(j.State), j.Problem.Code, j.Problem.Message,
			j.Bytes, micros(j.Finished), micros(j.Expires), micros(due))); err != nil {
			return err
		}
		if j.State == pdfjob.Failed { // what its pages cost was given back
			if _, err := tx.ExecContext(ctx, "UPDATE pdf_pages SET charged = 0 WHERE job = $1",
				j.ID); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, "DELETE FROM pdf_pieces WHERE job = $1 AND part <> $2", j.ID,
			pdfjob.File)
		return err
	})
}

// ClaimHook implements [pdfjob.Store].
func (s PDFs) ClaimHook(ctx context.Context, now, lease time.Time) (pdfjob.Job, bool, error) {
	return s.claim(ctx, `
		UPDATE pdf_jobs SET hook_due = $2, hook_tries = hook_tries + 1
		WHERE hook_due > 0 AND hook_due <= $1 AND id = (
			SELECT id FROM pdf_jobs WHERE hook_due > 0 AND hook_due <= $1 AND expires > $1
			ORDER BY hook_due, id LIMIT 1)
		RETURNING id`, micros(now), micros(lease))
}

// HookDue implements [pdfjob.Store].
func (s PDFs) HookDue(ctx context.Context, id string, tries int, due time.Time) error {
	_, err := s.db.write.ExecContext(ctx, `
		UPDATE pdf_jobs SET hook_due = $3 WHERE id = $1 AND hook_tries = $2`, id, tries, micros(due))
	return err
}

// NextHook implements [pdfjob.Store].
func (s PDFs) NextHook(ctx context.Context) (time.Time, error) {
	var due int64
	err := s.db.read.QueryRowContext(ctx, `
		SELECT COALESCE(MIN(hook_due), 0) FROM pdf_jobs WHERE hook_due > 0`).Scan(&due)
	return instant(due), err
}
