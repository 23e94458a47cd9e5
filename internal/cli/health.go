package cli

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"unink/internal/misuse"
)

// healthCmd asks the service of this machine or container, for images that have no other program.
type healthCmd struct {
	Listen    string        `default:":8080" env:"UNINK_LISTEN" placeholder:"ADDR" help:"Address of the service (${default})."`
	TLS       bool          `name:"tls" env:"UNINK_TLS" help:"It speaks TLS there."`
	PublicURL string        `default:"http://localhost:8080" env:"UNINK_PUBLIC_URL" placeholder:"URL" help:"With --tls: whose host is asked for."`
	Timeout   time.Duration `default:"8s" help:"For the answer (${default})."`
}

// Run succeeds when a page sent now would be cleaned.
func (c *healthCmd) Run(env *environment) error {
	ctx, cancel := context.WithTimeout(env.ctx, c.Timeout)
	defer cancel()
	req, client, err := c.request(ctx)
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(res.Body, 1<<10))
	if err != nil || res.StatusCode != http.StatusOK {
		return fmt.Errorf("not ready: %s %s", res.Status, answer)
	}
	_, err = env.stdout.Write(answer)
	return err
}

func (c *healthCmd) request(ctx context.Context) (*http.Request, *http.Client, error) {
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return nil, nil, misuse.Errorf("--listen: %v", err)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	public, err := url.Parse(c.PublicURL)
	if err != nil {
		return nil, nil, misuse.Errorf("--public-url: %v", err)
	}
	to, transport := "http://", &http.Transport{}
	if c.TLS {
		// The certificate is for others to check: this machine is asked, whatever it is called.
		// nolint:gosec // see above
		to, transport.TLSClientConfig = "https://",
			&tls.Config{ServerName: public.Hostname(), InsecureSkipVerify: true}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet,
		to+net.JoinHostPort(host, port)+"/readyz", nil)
	return req, &http.Client{Transport: transport}, err
}
