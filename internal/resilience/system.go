package resilience

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"unink/internal/freeport"
)

// Build builds the program into a folder, with flags of go build, and returns its path.
func Build(root, folder string, flags ...string) (string, error) {
	program := filepath.Join(folder, "unink")
	build := exec.Command("go", append(append([]string{"build"}, flags...), "-o", program,
		"./cmd/unink")...)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return program, nil
}

// Config says what to start.
type Config struct {
	Program  string   // the built program
	Folder   string   // for everything that is kept; it must be there, and readable for others
	Services int      // unink serve --fleet
	Workers  int      // unink worker, with one slot and one thread each
	Flags    []string // of the services
	Env      []string // of services and workers, besides this process's
	Mail     string   // URL of the mail server; empty: mails become files
	ACME     *ACME    // who certifies the services; nil: they speak without TLS
}

// ACME is an authority that finds every host at 127.0.0.1.
type ACME struct {
	Directory string
	Trust     string // file with what the directory's own certificate is checked with
	Roots     *x509.CertPool
	HTTP, TLS string // ports at which it looks for hosts: those of the first service
}

// hosts are how the services are addressed: the scheme, the host of the web entry point, and the
// domain under which each customer has a host.
func (c Config) hosts() (scheme, web, domain string) {
	if c.ACME != nil {
		return "https", "web.unink.test", "api.unink.test"
	}
	return "http", "localhost", "localhost"
}

// System is the whole service on this machine.
type System struct {
	Database, Redis, NATS *Link
	Services              []*Service
	Workers               []*Process

	config  Config
	storage []string // flags of the operator's commands, past the proxy
}

// Service is one process that answers HTTP.
type Service struct {
	*Process
	port    string
	metrics string       // address
	client  *http.Client // finds every host at the service's port
}

// Start starts everything, and returns when pages are cleaned. What was started ends with
// [System.Close], which has to follow an error too.
func Start(ctx context.Context, c Config) (*System, error) {
	s := &System{config: c}
	if err := s.startServers(ctx); err != nil {
		return s, err
	}
	secret := filepath.Join(c.Folder, "secret")
	s.storage = []string{"--data", c.Folder, "--secret", secret, "--database",
		databaseURL(s.Database.server.(*postgres).address())}
	var mu sync.Mutex
	var starting errgroup.Group
	for range c.Workers {
		starting.Go(func() error {
			w, err := s.work()
			if err != nil {
				return err
			}
			mu.Lock()
			s.Workers = append(s.Workers, w)
			mu.Unlock()
			_, err = w.says(ctx, "working")
			return err
		})
	}
	for range c.Services { // one after the other: the first makes the tables
		service, err := s.serve(ctx, "--data", c.Folder, "--secret", secret, "--database",
			databaseURL(s.Database.Address()),
			"--redis", "redis://"+s.Redis.Address(), "--fleet", s.fleet())
		if service != nil {
			s.Services = append(s.Services, service)
		}
		if err != nil {
			return s, errors.Join(err, starting.Wait())
		}
	}
	if err := starting.Wait(); err != nil {
		return s, err
	}
	return s, until(ctx, s.ready)
}

func (s *System) startServers(ctx context.Context) error {
	cluster, err := newPostgres(filepath.Join(s.config.Folder, "postgres"))
	if err != nil {
		return err
	}
	if s.Database, err = linkTo(ctx, cluster, "PostgreSQL", cluster.address()); err != nil {
		return err
	}
	port, err := freeport.Find()
	if err != nil {
		return err
	}
	cache := &redis{port: port}
	if s.Redis, err = linkTo(ctx, cache, "Redis", cache.address()); err != nil {
		return err
	}
	if port, err = freeport.Find(); err != nil {
		return err
	}
	messages := &natsServer{port: port}
	s.NATS, err = linkTo(ctx, messages, "NATS", messages.address())
	return err
}

// command is the program with the environment that it should have.
func (s *System) command(arguments ...string) *exec.Cmd {
	c := exec.Command(s.config.Program, arguments...)
	for _, setting := range os.Environ() {
		if !strings.HasPrefix(setting, "UNINK_") {
			c.Env = append(c.Env, setting)
		}
	}
	c.Env = append(c.Env, s.config.Env...)
	return c
}

func (s *System) fleet() string { return "nats://" + s.NATS.Address() }

// work starts a worker.
func (s *System) work() (*Process, error) {
	return launch("worker", s.command("worker", "--fleet", s.fleet(), "--workers", "1",
		"--threads", "1"))
}

// Replace kills a worker and starts another one in its place, which it does not wait for.
func (s *System) Replace(worker int) error {
	s.Workers[worker].Kill()
	w, err := s.work()
	if err == nil {
		s.Workers[worker] = w
	}
	return err
}

// serve starts a service, and returns it when it serves.
func (s *System) serve(ctx context.Context, storage ...string) (*Service, error) {
	port, plain, err := s.ports()
	if err != nil {
		return nil, err
	}
	scheme, web, domain := s.config.hosts()
	arguments := []string{
		"serve", "--listen", "127.0.0.1:" + port, "--metrics-listen", "127.0.0.1:0", "--domain", domain,
		"--public-url", scheme + "://" + web, "--trusted-proxy", "127.0.0.0/8",
	}
	if a := s.config.ACME; a != nil {
		arguments = append(arguments, "--tls", "--http-listen", "127.0.0.1:"+plain, "--acme-directory",
			a.Directory, "--acme-roots", a.Trust, "--acme-email", "operator@example.com")
	}
	if s.config.Mail != "" {
		arguments = append(arguments, "--smtp", s.config.Mail, "--mail-from", "unink@example.com")
	}
	p, err := launch("service", s.command(append(append(arguments, storage...), s.config.Flags...)...))
	if err != nil {
		return nil, err
	}
	said, err := p.says(ctx, "serving")
	address, _ := said["metrics"].(string)
	return &Service{p, port, address, s.newClient(port)}, err
}

// ports are where the next service listens, with TLS and, for the authority and browsers on their
// way to it, without.
func (s *System) ports() (port, plain string, err error) {
	if a := s.config.ACME; a != nil && len(s.Services) == 0 {
		return a.TLS, a.HTTP, nil
	}
	var found [2]int
	for i := range found {
		if found[i], err = freeport.Find(); err != nil {
			return "", "", err
		}
	}
	return strconv.Itoa(found[0]), strconv.Itoa(found[1]), nil
}

// newClient is a client that finds every host at a port of this machine.
func (s *System) newClient(port string) *http.Client {
	transport := &http.Transport{
		MaxIdleConnsPerHost: 256, DisableCompression: true,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, net.JoinHostPort("127.0.0.1", port))
		},
	}
	if s.config.ACME != nil {
		transport.TLSClientConfig = &tls.Config{RootCAs: s.config.ACME.Roots}
	}
	return &http.Client{Transport: transport, Timeout: patience}
}

// ready asks every service whether it is.
func (s *System) ready() error {
	for _, service := range s.Services {
		if status, text, err := s.get(service, "/readyz"); err != nil || status != http.StatusOK {
			return fmt.Errorf("a service is not ready: %d %s %w", status, text, err)
		}
	}
	return nil
}

// Ready waits until every service is, and returns how long that took.
func (s *System) Ready(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	err := until(ctx, s.ready)
	return time.Since(began), err
}

// url is where the web entry point has a path.
func (s *System) url(path string) string {
	scheme, web, _ := s.config.hosts()
	return scheme + "://" + web + path
}

func (s *System) get(service *Service, path string) (status int, text string, err error) {
	return fetch(service.client, s.url(path))
}

func fetch(client *http.Client, url string) (status int, text string, err error) {
	res, err := client.Get(url)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	return res.StatusCode, strings.TrimSpace(string(body)), err
}

// operator is who looks at the metrics.
var operator = &http.Client{Transport: &http.Transport{}, Timeout: patience}

// Metric is a value without labels that a service tells.
func (s *System) Metric(service *Service, name string) (float64, error) {
	_, text, err := fetch(operator, "http://"+service.metrics+"/metrics")
	if err != nil {
		return 0, err
	}
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		if value, is := strings.CutPrefix(lines.Text(), name+" "); is {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, fmt.Errorf("there is no metric %s", name)
}

// Admin runs an operator's command and reads its JSON into v, unless that is nil.
func (s *System) Admin(v any, input string, arguments ...string) error {
	c := s.command(append(append([]string{"admin"}, arguments...), append(s.storage, "--json")...)...)
	c.Stdin = strings.NewReader(input)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return fmt.Errorf("admin %q: %w\n%s%s", arguments, err, out, stderr.Bytes())
	}
	if v == nil {
		return nil
	}
	return json.Unmarshal(out, v)
}

// Close ends everything. Its error is that a service or worker did not end well.
func (s *System) Close() error {
	var ending errgroup.Group
	for _, p := range s.Processes() {
		ending.Go(func() error {
			select {
			case <-p.done:
				return fmt.Errorf("%s ended by itself: %w\n%s", p.Name, p.err, p.Log())
			default:
			}
			if err := p.Signal(syscall.SIGTERM); err != nil {
				return fmt.Errorf("%s ended with %w\n%s", p.Name, err, p.Log())
			}
			return nil
		})
	}
	errs := []error{ending.Wait()}
	for _, l := range []*Link{s.Database, s.Redis, s.NATS} {
		if l != nil {
			errs = append(errs, l.Stop())
		}
	}
	for _, service := range s.Services {
		service.client.CloseIdleConnections()
	}
	operator.CloseIdleConnections()
	return errors.Join(errs...)
}

// Processes are the services and the workers.
func (s *System) Processes() []*Process {
	var all []*Process
	for _, service := range s.Services {
		all = append(all, service.Process)
	}
	return append(all, s.Workers...)
}
