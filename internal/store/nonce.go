package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// Nonces remembers what may be used only once, until it expires by itself. It implements
// botcheck.Replay. Of the keys it keeps only hashes.
type Nonces struct{ db *DB }

// NewNonces returns the Nonces of a database.
func NewNonces(db *DB) Nonces { return Nonces{db} }

// Use uses a key, and reports whether that was the first time. Of several at once, by any number of
// processes, one is the first.
func (n Nonces) Use(ctx context.Context, key string, expires time.Time) (fresh bool, err error) {
	hash := sha256.Sum256([]byte(key))
	return affected(n.db.write.ExecContext(ctx,
		`INSERT INTO nonces (hash, expires_at) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING`,
		hex.EncodeToString(hash[:]), micros(expires)))
}

// Prune forgets the keys that have expired.
func (n Nonces) Prune(ctx context.Context, now time.Time) error {
	ctx, cancel := atLength(ctx)
	defer cancel()
	_, err := n.db.write.ExecContext(ctx, `DELETE FROM nonces WHERE expires_at <= $1`, micros(now))
	return err
}
