package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"strconv"
	"time"

	"github.com/alecthomas/kong"

	"unink"
	"unink/internal/httpapi"
)

type serveCmd struct {
	Open          bool          `env:"UNINK_OPEN" help:"Serve everybody who can reach the address, without accounts. Required: there are no accounts yet."`
	Listen        string        `default:":8080" env:"UNINK_LISTEN" placeholder:"ADDR" help:"Address of both entry points (${default})."`
	MetricsListen string        `default:"127.0.0.1:9464" env:"UNINK_METRICS_LISTEN" placeholder:"ADDR" help:"Address of /metrics (${default})."`
	DevToken      string        `env:"UNINK_DEV_TOKEN" placeholder:"TOKEN" help:"Token of the developer entry point, 16 characters or more. Default: a new one at each start."`
	Workers       int           `env:"UNINK_WORKERS" placeholder:"N" help:"Pages cleaned at once. Default: half the CPUs."`
	Queue         int           `default:"${queue}" env:"UNINK_QUEUE" help:"Pages that wait for a worker before others are refused (${default})."`
	MaxRequests   int           `default:"${max_requests}" env:"UNINK_MAX_REQUESTS" help:"Requests held at once, those still uploading included (${default})."`
	Deadline      time.Duration `default:"${deadline}" env:"UNINK_DEADLINE" help:"For one page, waiting included (${default})."`
	UploadTimeout time.Duration `default:"${upload_timeout}" env:"UNINK_UPLOAD_TIMEOUT" help:"For one request's body (${default})."`
	DrainTimeout  time.Duration `default:"${drain_timeout}" env:"UNINK_DRAIN_TIMEOUT" help:"For pages under way when the service stops (${default})."`
	engineFlags
}

// serveDefaults hands the service's own defaults to the flags.
func serveDefaults() kong.Vars {
	d := httpapi.DefaultConfig()
	return kong.Vars{
		"queue": strconv.Itoa(d.Gate.Queue), "max_requests": strconv.Itoa(d.MaxRequests),
		"deadline": d.Deadline.String(), "upload_timeout": d.UploadTimeout.String(), "drain_timeout": d.DrainTimeout.String(),
	}
}

// Validate refuses to serve openly unless that is what was asked for.
func (c *serveCmd) Validate() error {
	if !c.Open {
		return errors.New("there are no accounts yet, so that everybody who can reach the address could use the service; if that is meant, add --open")
	}
	return nil
}

// Run serves until an interrupt.
func (c *serveCmd) Run(env *environment) error {
	cfg := c.service()
	if c.DevToken == "" {
		cfg.DeveloperToken = rand.Text()
		fmt.Fprintf(env.stderr, "unink: developer token until the service stops: %s (UNINK_DEV_TOKEN sets one)\n", cfg.DeveloperToken)
	}
	if err := cfg.Validate(); err != nil {
		return usageError{err.Error()}
	}
	engine, err := env.open(c.config(cfg.Gate.Workers, unink.Limits{}))
	if err != nil {
		return err
	}
	return errors.Join(c.serve(env, engine, cfg), engine.Close())
}

func (c *serveCmd) service() httpapi.Config {
	cfg := httpapi.DefaultConfig()
	cfg.Gate.Workers, cfg.Gate.Queue, cfg.MaxRequests = c.Workers, c.Queue, c.MaxRequests
	cfg.Deadline, cfg.UploadTimeout, cfg.DrainTimeout = c.Deadline, c.UploadTimeout, c.DrainTimeout
	cfg.DeveloperToken, cfg.Version = c.DevToken, version
	if c.Workers == 0 {
		cfg.Gate.Workers = max(1, runtime.NumCPU()/2)
	}
	return cfg
}

func (c *serveCmd) serve(env *environment, engine engine, cfg httpapi.Config) error {
	log := slog.New(slog.NewJSONHandler(env.stderr, nil))
	if terminal(env.stderr) {
		log = slog.New(slog.NewTextHandler(env.stderr, nil))
	}
	s, err := httpapi.New(engine, cfg, log)
	if err != nil {
		return err
	}
	public, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	metrics, err := net.Listen("tcp", c.MetricsListen)
	if err != nil {
		_ = public.Close()
		return fmt.Errorf("--metrics-listen: %w", err)
	}
	log.Info("serving", "address", public.Addr().String(), "metrics", metrics.Addr().String(),
		"workers", cfg.Gate.Workers, "queue", cfg.Gate.Queue, "device", engine.Describe().Device, "version", version)
	defer log.Info("stopped")
	return s.Serve(env.ctx, public, metrics)
}
