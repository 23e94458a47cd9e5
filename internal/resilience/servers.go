package resilience

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	_ "github.com/jackc/pgx/v5/stdlib" // driver pgx
	"github.com/nats-io/nats-server/v2/server"
	"github.com/rs/zerolog"

	"unink/internal/freeport"
)

// backing is a server that the service needs. Started again it has the same address, and what it
// kept.
type backing interface {
	start(ctx context.Context) error
	stop() error
}

// Link is a server and the proxy through which the service reaches it.
type Link struct {
	server backing
	proxy  *toxiproxy.Proxy
}

func linkTo(ctx context.Context, s backing, name, address string) (*Link, error) {
	if err := s.start(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	quiet := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	l := &Link{s, toxiproxy.NewProxy(quiet, name, "127.0.0.1:0", address)}
	if err := l.proxy.Start(); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return l, nil
}

// Address is where the service finds the server.
func (l *Link) Address() string { return l.proxy.Listen }

// Stop ends the server as a crash does, and every connection.
func (l *Link) Stop() error {
	l.proxy.Stop()
	return l.server.stop()
}

// Start starts a server again that was stopped.
func (l *Link) Start(ctx context.Context) error {
	if err := l.server.start(ctx); err != nil {
		return err
	}
	return l.proxy.Start()
}

// Spoil adds a toxic of toxiproxy to every connection, in its JSON. Heal removes them all.
func (l *Link) Spoil(toxic string) error {
	_, err := l.proxy.Toxics.AddToxicJson(strings.NewReader(toxic))
	return err
}

// Heal takes all toxics away. Connections that were spoilt stay open, if they are.
func (l *Link) Heal(ctx context.Context) { l.proxy.Toxics.ResetToxics(ctx) }

// until asks again and again until there is an answer.
func until(ctx context.Context, ask func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ask()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return err
		}
	}
}

// postgres is a cluster of its own in a folder.
type postgres struct {
	bin, folder string
	port        int
	as          *syscall.Credential // nil: who we are
	process     *Process
}

func newPostgres(folder string) (*postgres, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return nil, errors.New("PostgreSQL is needed: run make services")
	}
	p := &postgres{bin: filepath.Dir(slices.Max(found)), folder: folder}
	if p.port, err = freeport.Find(); err != nil {
		return nil, err
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, err
	}
	if os.Getuid() == 0 { // it does not run as root
		if err := p.become("postgres"); err != nil {
			return nil, err
		}
	}
	initdb := p.command("initdb", "-D", folder, "-U", "unink", "--auth=trust", "--encoding=UTF8",
		"--locale=C", "--no-sync")
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return p, nil
}

func (p *postgres) become(name string) error {
	u, err := user.Lookup(name)
	if err != nil {
		return err
	}
	uid, errU := strconv.Atoi(u.Uid)
	gid, errG := strconv.Atoi(u.Gid)
	if err := errors.Join(errU, errG); err != nil {
		return err
	}
	p.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return os.Chown(p.folder, uid, gid)
}

func (p *postgres) command(name string, arguments ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(p.bin, name), arguments...)
	cmd.Dir = p.folder
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.as}
	return cmd
}

func (p *postgres) address() string { return fmt.Sprintf("127.0.0.1:%d", p.port) }

func databaseURL(address string) string {
	return "postgres://unink@" + address + "/postgres?sslmode=disable"
}

func (p *postgres) start(ctx context.Context) (err error) {
	p.process, err = launch("postgres",
		p.command("postgres", "-D", p.folder, "-p", strconv.Itoa(p.port), "-h", "127.0.0.1",
			"-k", p.folder,
			"-c", "fsync=off", "-c", "full_page_writes=off"))
	if err != nil {
		return err
	}
	db, err := sql.Open("pgx", databaseURL(p.address()))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	return until(ctx, func() error { return db.PingContext(ctx) })
}

// stop is an immediate shutdown: nothing is written down, and the next start recovers from its log.
func (p *postgres) stop() error {
	var exit *exec.ExitError
	if err := p.process.Signal(syscall.SIGQUIT); !errors.As(err, &exit) {
		return err
	}
	return nil
}

// redis is a server of its own, which keeps nothing.
type redis struct {
	port    int
	process *Process
}

func (r *redis) address() string { return fmt.Sprintf("127.0.0.1:%d", r.port) }

func (r *redis) start(ctx context.Context) (err error) {
	r.process, err = launch("redis", exec.Command(
		"redis-server", "--port", strconv.Itoa(r.port), "--bind", "127.0.0.1", "--save", "",
		"--appendonly", "no",
	))
	if err != nil {
		return err
	}
	return until(ctx, func() error {
		c, err := net.Dial("tcp", r.address())
		if err != nil {
			return err
		}
		return c.Close()
	})
}

func (r *redis) stop() error {
	r.process.Kill()
	return nil
}

// natsServer is a NATS server in this process.
type natsServer struct {
	port   int
	server *server.Server
}

func (n *natsServer) address() string { return fmt.Sprintf("127.0.0.1:%d", n.port) }

func (n *natsServer) start(context.Context) (err error) {
	n.server, err = server.NewServer(
		&server.Options{Host: "127.0.0.1", Port: n.port, NoLog: true, NoSigs: true},
	)
	if err != nil {
		return err
	}
	n.server.Start()
	if !n.server.ReadyForConnections(patience) {
		return errors.New("the NATS server does not start")
	}
	return nil
}

func (n *natsServer) stop() error {
	n.server.Shutdown()
	n.server.WaitForShutdown()
	return nil
}
