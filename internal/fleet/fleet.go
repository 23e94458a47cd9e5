// Package fleet cleans pages on other machines. A [Client] stands in the service where a cleaner of
// its own process would; a [Worker] holds the network and takes pages, one for each of its slots.
// Between them is a NATS server, which stores nothing.
//
// A slot that is free is a subscription for one message in a queue group: the server hands an offer
// to one of them and ends that subscription with it, so that nothing is ever pushed at a worker
// that has no free slot, and says at once when nobody has. Whoever takes an offer talks with the
// one who made it through two inboxes of their own until the page is done: the page goes one way,
// the result the other, both in acknowledged pieces, and both sides say regularly that they are
// there. An inbox ends with its attempt, so that what comes late reaches nobody.
package fleet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"unink"
)

// Cleaner removes handwriting; [*unink.Cleaner] is one.
type Cleaner interface {
	Clean(ctx context.Context, image []byte, o unink.Options) (*unink.Result, error)
}

// Config says where the NATS server is and who we are there.
type Config struct {
	// nats:// or tls://, with user and password if need be; several with commas between
	URL         string
	Credentials string // file of a NATS user's JWT and seed; may be empty
	// file of the certificate authorities to trust in place of the system's; may be empty
	CA   string
	pace pace // zero is the default
}

// Validate says which field makes no sense. It repeats no URL, which may hold a password.
func (c Config) Validate() error {
	for address := range strings.SplitSeq(c.URL, ",") {
		u, err := url.Parse(strings.TrimSpace(address))
		if err != nil || u.Scheme != "nats" && u.Scheme != "tls" || u.Host == "" {
			return errors.New("the fleet's URL must be such as nats://host:4222 or " +
				"tls://user:password@host:4222, several with commas between")
		}
	}
	for _, file := range []string{c.Credentials, c.CA} {
		if file == "" {
			continue
		}
		if _, err := os.Stat(file); err != nil {
			return fmt.Errorf("fleet: %w", err)
		}
	}
	return nil
}

// pace is how long things take. It is the same everywhere but in tests.
type pace struct {
	beat     time.Duration // between two signs of life, of either side of a page and of a worker
	silence  time.Duration // without one, after which the other is given up
	offer    time.Duration // for an offer to be taken
	look     time.Duration // between two offers of a page while nobody seems to be free
	lastWord time.Duration // for a cleaner to return after it was told to stop
}

var normal = pace{
	beat:     500 * time.Millisecond,
	silence:  4 * time.Second,
	offer:    time.Second,
	look:     250 * time.Millisecond,
	lastWord: 5 * time.Second,
}

func (c Config) timing() pace {
	if c.pace == (pace{}) {
		return normal
	}
	return c.pace
}

// longestPage bounds a page for which the caller has no deadline of its own.
const longestPage = 5 * time.Minute

const (
	reconnectWait = 250 * time.Millisecond
	connectWait   = 5 * time.Second
	pingEvery     = 2 * time.Second
	missedPings   = 2
)

// connect opens a connection that comes back by itself for ever. What is said while it is away is
// not kept: it would be stale.
func connect(c Config, name string, log *slog.Logger) (*nats.Conn, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	options := []nats.Option{
		nats.Name(name), nats.Timeout(connectWait), nats.MaxReconnects(-1),
		nats.ReconnectWait(reconnectWait), nats.ReconnectBufSize(-1),
		nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(missedPings), nats.IgnoreAuthErrorAbort(),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				log.Error("the NATS server is away", "cause", err)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) { log.Info("the NATS server is back") }),
		nats.ErrorHandler(func(_ *nats.Conn, s *nats.Subscription, err error) {
			subject := ""
			if s != nil {
				subject = s.Subject
			}
			log.Error("NATS complains", "subject", subject, "cause", err)
		}),
	}
	if c.Credentials != "" {
		options = append(options, nats.UserCredentials(c.Credentials))
	}
	if c.CA != "" {
		options = append(options, nats.RootCAs(c.CA))
	}
	nc, err := nats.Connect(c.URL, options...)
	if err != nil {
		return nil, fmt.Errorf("the fleet's NATS server cannot be used: %w", err)
	}
	if most := nc.MaxPayload(); most < leastPayload {
		nc.Close()
		return nil, fmt.Errorf("the NATS server takes messages of at most %d bytes; set its "+
			"max_payload to at least %d (1 MB is its default)", most, leastPayload)
	}
	return nc, nil
}
