package cli

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"unink/internal/app"
)

// reachTime is how long a server may take to accept a connection.
const reachTime = 5 * time.Second

// ports are those that a URL need not name.
var ports = map[string]string{
	"postgres": "5432", "postgresql": "5432", "redis": "6379", "rediss": "6379",
	"nats": "4222", "tls": "4222", "smtp": "587", "smtps": "465", "smtp+plain": "25", "https": "443",
	"http": "80",
}

// problems are what would keep a service with these settings from working, and advice what it would
// work without.
func (c *serveCmd) examine(ctx context.Context) (problems, advice []string) {
	complain := func(err error) {
		if err != nil {
			problems = append(problems, err.Error())
		}
	}
	complain(c.Validate())
	service, err := c.service()
	complain(err)
	complain(service.HTTP.Validate())
	complain(service.Stripe.Validate())
	_, err = app.LoadCatalogue(c.Catalogue)
	complain(err)
	if c.Database != "" && c.Secret == "" {
		complain(fmt.Errorf("--database needs --secret (UNINK_SECRET_FILE), the same file for all " +
			"services on it"))
	}
	if c.Secret != "" {
		_, err := os.ReadFile(c.Secret)
		complain(err)
	}
	for _, to := range []struct{ flag, address string }{
		{"database", c.Database}, {"redis", c.Redis}, {"fleet", c.Fleet}, {"smtp", c.SMTP},
		{"oidc-issuer", c.OidcIssuer},
	} {
		// of a fleet's servers there may be several
		for address := range strings.SplitSeq(to.address, ",") {
			complain(reach(ctx, to.flag, address))
		}
	}
	return problems, c.advice()
}

// reach tries whether a server that a flag names accepts connections. It tells no password.
func reach(ctx context.Context, flag, address string) error {
	if address == "" || strings.HasPrefix(address, "unix:") {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return fmt.Errorf("--%s is not a URL with a host", flag)
	}
	port := u.Port()
	if port == "" {
		port = ports[u.Scheme]
	}
	ctx, cancel := context.WithTimeout(ctx, reachTime)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return fmt.Errorf("--%s: %w", flag, err)
	}
	return conn.Close()
}

// advice is what a service for others should have.
func (c *serveCmd) advice() (advice []string) {
	for _, one := range []struct {
		wrong bool
		text  string
	}{
		{c.SMTP == "", "mails become files in the data folder: give --smtp"},
		{c.SMTP != "" && strings.HasSuffix(c.MailFrom, "@localhost>"), "mails come from localhost, which others refuse: give --mail-from"},
		{!strings.HasPrefix(c.PublicURL, "https://"), "cookies and passwords go in clear: give a --public-url with https"},
		{c.Database != "" && c.Redis == "", "each service counts rolling windows by itself: give --redis where there are several"},
		{c.Contact == "", "the pages name nobody to ask: give --contact"},
	} {
		if one.wrong {
			advice = append(advice, one.text)
		}
	}
	return advice
}
