package store

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/certmagic"

	"unink/internal/ident"
	"unink/internal/pause"
)

// Certificates keeps what certmagic needs to remember (accounts, keys, certificates, challenges
// under way) and its locks, for all services on a database. It is a [certmagic.Storage]. Values are
// sealed with AES-256-GCM; one that another key sealed, or that was moved to another name, is as
// good as absent.
type Certificates struct {
	db    *DB
	aead  cipher.AEAD
	lease time.Duration

	mu   sync.Mutex
	held map[string]heldLock // by name
}

// heldLock is a lock that this process has.
type heldLock struct {
	holder string
	stop   context.CancelFunc // ends keeping it
	ended  chan struct{}
}

// DefaultLease is how long the lock of a process that died keeps others waiting.
const DefaultLease = 30 * time.Second

// lockPoll is how often a lock that another one has is tried.
const lockPoll = 250 * time.Millisecond

// NewCertificates returns the certificates of a database. The key has 32 bytes, the same for all
// services on it; the lease is how long a lock lasts that its holder does not move on.
func NewCertificates(db *DB, key []byte, lease time.Duration) (*Certificates, error) {
	if len(key) != 32 {
		return nil, fmt.Errorf("the key of certificates must have 32 bytes, not %d", len(key))
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return &Certificates{db: db, aead: aead, lease: lease, held: map[string]heldLock{}}, err
}

// Store keeps a value under a name, in place of what is there.
func (c *Certificates) Store(ctx context.Context, name string, value []byte) error {
	_, err := c.db.write.ExecContext(ctx, `
		INSERT INTO certificates (name, value, modified) VALUES ($1, $2, $3)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value, modified = excluded.modified`,
		name, c.aead.Seal(nil, nil, value, []byte(name)), micros(time.Now()))
	return err
}

// Load returns the value under a name, or [fs.ErrNotExist].
func (c *Certificates) Load(ctx context.Context, name string) ([]byte, error) {
	value, _, err := c.load(ctx, name)
	return value, err
}

func (c *Certificates) load(ctx context.Context,
	name string) (value []byte, modified time.Time, err error) {
	var sealed []byte
	var at int64
	err = c.db.read.QueryRowContext(ctx, `SELECT value, modified FROM certificates WHERE name = $1`,
		name).Scan(&sealed, &at)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, time.Time{}, fmt.Errorf("certificate storage: %s: %w", name, fs.ErrNotExist)
	}
	if err != nil {
		return nil, time.Time{}, err
	}
	if value, err = c.aead.Open(nil, nil, sealed, []byte(name)); err != nil {
		return nil, time.Time{}, fmt.Errorf("certificate storage: %s was sealed with another secret: %w",
			name, fs.ErrNotExist)
	}
	return value, instant(at), nil
}

// Delete removes what is under a name, and under all names below it.
func (c *Certificates) Delete(ctx context.Context, name string) error {
	folder := inFolder(name)
	_, err := c.db.write.ExecContext(
		ctx, `DELETE FROM certificates WHERE name = $1 OR SUBSTR(name, 1, $2) = $3`, name, len(folder),
		folder,
	)
	return err
}

// Exists reports whether there is something under a name, or below it.
func (c *Certificates) Exists(ctx context.Context, name string) bool {
	_, err := c.Stat(ctx, name)
	return err == nil
}

// Stat describes what is under a name: a value, or a folder of values. It returns [fs.ErrNotExist].
func (c *Certificates) Stat(ctx context.Context, name string) (certmagic.KeyInfo, error) {
	value, modified, err := c.load(ctx, name)
	if err == nil {
		return certmagic.KeyInfo{Key: name, Modified: modified, Size: int64(len(value)),
			IsTerminal: true}, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return certmagic.KeyInfo{}, err
	}
	names, listed := c.names(ctx, name)
	if listed != nil || len(names) == 0 {
		return certmagic.KeyInfo{}, errors.Join(listed, err)
	}
	return certmagic.KeyInfo{Key: name}, nil
}

// List returns the names in a folder: of the values and folders in it or, recursive, of all below
// it too. It returns [fs.ErrNotExist] where there is none.
func (c *Certificates) List(ctx context.Context, folder string, recursive bool) ([]string, error) {
	names, err := c.names(ctx, folder)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("certificate storage: %s: %w", folder, fs.ErrNotExist)
	}
	var found []string
	known := map[string]bool{}
	for _, name := range names {
		for i := len(inFolder(folder)); i <= len(name); i++ { // each component's end
			if i < len(name) && name[i] != '/' {
				continue
			}
			if !known[name[:i]] {
				known[name[:i]] = true
				found = append(found, name[:i])
			}
			if !recursive {
				break
			}
		}
	}
	return found, nil
}

// names are those of the values below a folder, in order.
func (c *Certificates) names(ctx context.Context, folder string) ([]string, error) {
	prefix := inFolder(folder)
	rows, err := c.db.read.QueryContext(
		ctx, `SELECT name FROM certificates WHERE SUBSTR(name, 1, $1) = $2 ORDER BY name`, len(prefix),
		prefix,
	)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

// inFolder is what the names below a folder begin with; they are ASCII. The empty folder has all.
func inFolder(folder string) string {
	if folder == "" {
		return ""
	}
	return strings.TrimSuffix(folder, "/") + "/"
}

// Lock waits until no other one has the lock of a name, and has it from then on until
// [Certificates.Unlock].
func (c *Certificates) Lock(ctx context.Context, name string) error {
	for {
		got, err := c.TryLock(ctx, name)
		if got || err != nil {
			return err
		}
		if err := pause.For(ctx, lockPoll); err != nil {
			return err
		}
	}
}

// TryLock is Lock without waiting: it reports whether it got the lock.
func (c *Certificates) TryLock(ctx context.Context, name string) (bool, error) {
	holder := ident.New("lock")
	now := time.Now()
	got, err := affected(c.db.write.ExecContext(ctx, `
		INSERT INTO certificate_locks (name, holder, expires) VALUES ($1, $2, $3)
		ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires = excluded.expires
		WHERE certificate_locks.expires <= $4`, name, holder, micros(now.Add(c.lease)), micros(now)))
	if !got || err != nil {
		return false, err
	}
	keeping, stop := context.WithCancel(context.Background())
	lock := heldLock{holder, stop, make(chan struct{})}
	c.mu.Lock()
	lost, there := c.held[name]
	c.held[name] = lock
	c.mu.Unlock()
	if there { // its lease ended while this process could not move it on
		lost.stop()
	}
	go c.keep(keeping, name, lock)
	return true, nil
}

// keep moves the end of a lock's lease on, until it is given back or another one's.
func (c *Certificates) keep(ctx context.Context, name string, lock heldLock) {
	defer close(lock.ended)
	for pause.For(ctx, c.lease/3) == nil {
		attempt, cancel := context.WithTimeout(ctx, c.lease/3)
		ours, err := affected(c.db.write.ExecContext(
			attempt, `UPDATE certificate_locks SET expires = $3 WHERE name = $1 AND holder = $2`,
			name, lock.holder, micros(time.Now().Add(c.lease))))
		cancel()
		if err == nil && !ours {
			return
		}
	}
}

// Unlock gives a lock back that this process has.
func (c *Certificates) Unlock(ctx context.Context, name string) error {
	c.mu.Lock()
	lock, there := c.held[name]
	delete(c.held, name)
	c.mu.Unlock()
	if !there {
		return fmt.Errorf("certificate storage: the lock %s is not held here", name)
	}
	lock.stop()
	<-lock.ended
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.lease)
	defer cancel()
	_, err := c.db.write.ExecContext(
		ctx, `DELETE FROM certificate_locks WHERE name = $1 AND holder = $2`, name, lock.holder,
	)
	return err
}
