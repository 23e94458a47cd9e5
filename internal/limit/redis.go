package limit

import (
	"context"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"runtime"
	"time"

	"github.com/gomodule/redigo/redis"

	"unink/internal/ident"
)

// patience is how long Redis may take for an answer: a caller waits for it.
const patience = 200 * time.Millisecond

//go:embed redis.lua
var script string

var rolling = redis.NewScript(-1, script)

// Redis is a Limiter for several processes that share one Redis, version 5 or later: one script
// that Redis runs as a whole, by its own clock in microseconds. The keys are named unink:limit: and
// a hash.
//
// It is made for a single server, or what answers for it at one address. It is not made for a
// cluster: the keys of a request would lie on different nodes, and one hash tag for all would put
// everything on the same node anyway.
type Redis struct {
	pool *redis.Pool
}

// NewRedis makes a Redis from a URL as redis://USER:PASSWORD@HOST:PORT/DB; rediss: and
// unix://USER:PASSWORD@/PATH work too. It does not connect yet.
func NewRedis(address string) (*Redis, error) {
	dial, err := dialer(address)
	if err != nil {
		return nil, fmt.Errorf(
			"limit: address of Redis: %w; it begins with redis://, rediss:// or unix://", err,
		)
	}
	return &Redis{&redis.Pool{
		DialContext:         dial,
		TestOnBorrowContext: alive,
		MaxActive:           connectionsPerCPU * runtime.GOMAXPROCS(0),
		MaxIdle:             connectionsPerCPU * runtime.GOMAXPROCS(0),
		IdleTimeout:         longestIdle,
		Wait:                true, // as long as the context of a request does
	}}, nil
}

const (
	connectionsPerCPU = 10
	longestIdle       = 30 * time.Minute
)

type dial func(context.Context) (redis.Conn, error)

// databases are the paths that name one.
var databases = regexp.MustCompile(`^(/\d*)?$`)

// dialer says how an address is connected to. Its errors show no part of a password.
func dialer(address string) (dial, error) {
	u, err := url.Parse(address)
	if err != nil || u.Opaque != "" {
		return nil, errors.New("not a URL")
	}
	within := []redis.DialOption{
		redis.DialConnectTimeout(patience), redis.DialTLSHandshakeTimeout(patience),
		redis.DialReadTimeout(patience), redis.DialWriteTimeout(patience),
	}
	switch u.Scheme {
	case "redis", "rediss":
		if !databases.MatchString(u.Path) {
			return nil, errors.New("the path must be the number of a database")
		}
		return func(ctx context.Context) (redis.Conn, error) {
			return redis.DialURLContext(ctx, address, within...)
		}, nil
	case "unix":
		password, _ := u.User.Password()
		within = append(within, redis.DialUsername(u.User.Username()), redis.DialPassword(password))
		return func(ctx context.Context) (redis.Conn, error) {
			return redis.DialContext(ctx, "unix", u.Path, within...)
		}, nil
	}
	return nil, errors.New("unknown scheme")
}

// alive drops connections that ended while nobody used them, as all do when Redis starts anew.
func alive(ctx context.Context, c redis.Conn, lastUsed time.Time) error {
	if time.Since(lastUsed) < pause {
		return nil
	}
	_, err := redis.DoContext(c, ctx, "PING")
	return err
}

// Close closes the connections.
func (r *Redis) Close() error { return r.pool.Close() }

// Allow implements [Limiter]. It answers within about 200 ms, if only with an error.
func (r *Redis) Allow(ctx context.Context, keys []string, windows []Window) (Verdict, error) {
	if err := validate(windows); err != nil {
		return Verdict{}, err
	}
	if len(keys) == 0 || len(windows) == 0 {
		return Verdict{OK: true}, nil
	}
	answer, err := r.run(ctx, keys, windows)
	if err != nil {
		return Verdict{}, fmt.Errorf("limit: Redis: %w", err)
	}
	if len(answer) != 2 || answer[0] < 0 || answer[0] > int64(len(windows)) {
		return Verdict{}, fmt.Errorf("limit: Redis: unexpected answer %v", answer)
	}
	if answer[0] == 0 {
		return Verdict{OK: true}, nil
	}
	wait := time.Duration(answer[1]) * time.Microsecond
	return Verdict{Window: windows[answer[0]-1].Name, RetryAfter: wait}, nil
}

// run has Redis run the script, once: a second try could count a request twice.
func (r *Redis) run(ctx context.Context, keys []string, windows []Window) ([]int64, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, err := r.pool.GetContext(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }() // back into the pool
	return redis.Int64s(rolling.DoContext(ctx, c, arguments(names(keys), windows)...))
}

func names(keys []string) []string {
	ids := identify(keys)
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = "unink:limit:" + base64.RawURLEncoding.EncodeToString(id[:])
	}
	return names
}

// arguments are the number of keys, the keys, and what the script describes.
func arguments(names []string, windows []Window) []any {
	args := []any{len(names)}
	for _, name := range names {
		args = append(args, name)
	}
	args = append(args, ident.Secret(), most(windows), longest(windows).Every.Milliseconds())
	for _, w := range windows {
		// Rounded up: a window is rather too long than too short.
		args = append(args, w.Limit, (w.Every + time.Microsecond - 1).Microseconds())
	}
	return args
}
