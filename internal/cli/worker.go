package cli

import (
	"errors"
	"runtime"
	"time"

	"unink"
	"unink/internal/fleet"
)

type workerCmd struct {
	Fleet        string        `required:"" env:"UNINK_FLEET" placeholder:"URL" help:"nats:// or tls:// of the NATS server that services with the same --fleet hand pages to."`
	Workers      int           `env:"UNINK_WORKERS" placeholder:"N" help:"Pages cleaned at once. Default: half the CPUs."`
	DrainTimeout time.Duration `default:"${drain_timeout}" env:"UNINK_DRAIN_TIMEOUT" help:"For pages under way when the worker stops (${default})."`
	fleetFlags
	engineFlags
}

// Validate finds numbers that make no sense.
func (c *workerCmd) Validate() error {
	switch {
	case c.Workers < 0:
		return errors.New("--workers must be at least 1")
	case c.DrainTimeout <= 0:
		return errors.New("--drain-timeout must be positive, such as 30s")
	}
	return nil
}

// Run cleans pages until an interrupt.
func (c *workerCmd) Run(env *environment) error {
	config, err := c.fleet(c.Fleet)
	if err != nil {
		return err
	}
	slots := c.Workers
	if slots == 0 {
		slots = max(1, runtime.NumCPU()/2)
	}
	log := newLog(env)
	engine, err := env.open(c.config(slots, unink.Limits{}))
	if err != nil {
		return err
	}
	about := engine.Describe()
	build := fleet.Build{Version: version(), Model: about.ModelSHA256}
	w, err := fleet.NewWorker(config, fleet.WorkerConfig{
		Slots: slots, Drain: c.DrainTimeout, Build: build,
	}, engine, log)
	if err != nil {
		return errors.Join(err, engine.Close())
	}
	log.Info("working", "worker", w.ID(), "slots", slots, "device", about.Device, "model",
		about.ModelSHA256, "version", version())
	if err := w.Run(env.ctx); err != nil {
		return err // a page hangs in the engine, which would not close
	}
	log.Info("stopped")
	return engine.Close()
}
