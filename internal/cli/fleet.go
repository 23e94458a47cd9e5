package cli

import (
	"log/slog"

	"unink/internal/fleet"
	"unink/internal/misuse"
)

// fleetFlags say how we are known to the fleet's NATS server.
type fleetFlags struct {
	FleetCredentials string `env:"UNINK_FLEET_CREDENTIALS" placeholder:"FILE" type:"path" help:"Credentials file of a NATS user. Default: user and password of the fleet's URL, if any."`
	FleetCA          string `name:"fleet-ca" env:"UNINK_FLEET_CA" placeholder:"FILE" type:"path" help:"Certificate authorities of a tls:// fleet, in PEM. Default: the system's."`
}

func (f fleetFlags) fleet(url string) (fleet.Config, error) {
	c := fleet.Config{URL: url, Credentials: f.FleetCredentials, CA: f.FleetCA}
	if err := c.Validate(); err != nil {
		return c, misuse.Errorf("%v", err)
	}
	return c, nil
}

// newLog writes records to standard error, JSON unless that is a terminal.
func newLog(env *environment) *slog.Logger {
	if terminal(env.stderr) {
		return slog.New(slog.NewTextHandler(env.stderr, nil))
	}
	return slog.New(slog.NewJSONHandler(env.stderr, nil))
}
