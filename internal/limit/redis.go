package limit

import (
	"context"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/redis/go-redis/v9"

	"unink/internal/ident"
)

// patience is how long Redis may take for an answer: a caller waits for it.
const patience = 200 * time.Millisecond

//go:embed redis.lua
var script string

var rolling = redis.NewScript(script)

// The client would log failures by itself, past the program's log; they come as errors too.
func init() { redis.SetLogger(quiet{}) }

type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

// Redis is a Limiter for several processes that share one Redis, version 5 or later: one script
// that Redis runs as a whole, by its own clock in microseconds. The keys are named unink:limit: and a
// hash.
//
// It is made for a single server, or what answers for it at one address. It is not made for a
// cluster: the keys of a request would lie on different nodes, and one hash tag for all would put
// everything on the same node anyway.
type Redis struct {
	client *redis.Client
}

// NewRedis makes a Redis from a URL as redis://USER:PASSWORD@HOST:PORT/DB; rediss: and unix: work
// too. It does not connect yet.
func NewRedis(address string) (*Redis, error) {
	options, err := redis.ParseURL(address)
	if err != nil {
		if bad := (*url.Error)(nil); errors.As(err, &bad) {
			err = errors.New("not a URL") // its own text may show a part of the password
		}
		return nil, fmt.Errorf("limit: address of Redis: %w; it begins with redis://, rediss:// or unix://", err)
	}
	options.DialTimeout = patience
	options.ReadTimeout = patience
	options.WriteTimeout = patience
	options.PoolTimeout = patience
	options.ContextTimeoutEnabled = true
	options.MaxRetries = -1 // a second try could count a request twice
	options.DialerRetries = 1
	return &Redis{client: redis.NewClient(options)}, nil
}

// Close closes the connections.
func (r *Redis) Close() error { return r.client.Close() }

// Allow implements [Limiter]. It answers within about 200 ms, if only with an error.
func (r *Redis) Allow(ctx context.Context, keys []string, windows []Window) (Verdict, error) {
	if err := validate(windows); err != nil {
		return Verdict{}, err
	}
	if len(keys) == 0 || len(windows) == 0 {
		return Verdict{OK: true}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answer, err := rolling.Run(ctx, r.client, names(keys), arguments(windows)...).Int64Slice()
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

func names(keys []string) []string {
	ids := identify(keys)
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = "unink:limit:" + base64.RawURLEncoding.EncodeToString(id[:])
	}
	return names
}

// arguments are those that the script describes.
func arguments(windows []Window) []any {
	args := []any{ident.Secret(), most(windows), longest(windows).Every.Milliseconds()}
	for _, w := range windows {
		// Rounded up: a window is rather too long than too short.
		args = append(args, w.Limit, (w.Every + time.Microsecond - 1).Microseconds())
	}
	return args
}
