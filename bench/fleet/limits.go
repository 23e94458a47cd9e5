package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"time"

	"unink"
	"unink/internal/credit"
	"unink/internal/fleet"
	"unink/internal/store"
)

// copies returns a page as it came: what is left is the way there and back.
type copies struct{}

func (copies) Clean(_ context.Context, image []byte, _ unink.Options) (*unink.Result, error) {
	return &unink.Result{Data: image, Format: unink.JPEG, Width: 1, Height: 1}, nil
}

// transport measures pages that nobody works on, with worker, server and client in this process.
func (c config) transport() error {
	const slots, pages = 8, 2000
	f, err := c.hire(0)
	if err != nil {
		return err
	}
	w, err := fleet.NewWorker(fleet.Config{URL: f.server.ClientURL()},
		fleet.WorkerConfig{Slots: slots, Drain: time.Minute}, copies{}, slog.New(slog.DiscardHandler))
	if err != nil {
		return errors.Join(err, f.dismiss())
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	for f.client.Probe(ctx) != nil {
		time.Sleep(time.Millisecond)
	}
	c.pages = pages
	r, err := c.round(f.client, slots, nil)
	stop()
	fmt.Printf("\nthe way there and back alone: %.0f pages/s, %.1f CPU ms/page\n", r.rate, r.cpu)
	return errors.Join(err, <-ended, f.dismiss())
}

// ledger measures holding and settling a credit, for some callers at once.
func (c config) ledger(database string) error {
	const callers, pages = 16, 4000
	ctx := context.Background()
	db, err := store.Open(ctx, database)
	if err != nil {
		return err
	}
	credits, err := credit.New(store.NewCredits(db), credit.DefaultConfig(), time.Now)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	owners := make(chan string, callers)
	for i := range callers {
		owner := fmt.Sprintf("customer:bench-%d-%d", time.Now().UnixNano(), i)
		g := credit.Grant{Owner: owner, Plan: "bench", Credits: pages,
			Expires: time.Now().Add(24 * time.Hour), Source: owner}
		if _, _, err := credits.Grant(ctx, g); err != nil {
			return errors.Join(err, db.Close())
		}
		owners <- owner
	}
	c.pages, c.page = pages, []byte{0}
	r, err := c.round(ledgerOnly{credits, owners}, callers, []*exec.Cmd{})
	fmt.Printf("\na credit held and settled, %d callers: %.0f pages/s, %.2f CPU ms/page beside the "+
		"database's own\n", callers, r.rate, r.cpu)
	return errors.Join(err, db.Close())
}

// ledgerOnly charges for a page and does nothing for it.
type ledgerOnly struct {
	credits *credit.Service
	owners  chan string
}

func (l ledgerOnly) Clean(ctx context.Context, _ []byte, _ unink.Options) (*unink.Result, error) {
	owner := <-l.owners
	defer func() { l.owners <- owner }()
	hold, err := l.credits.Reserve(
		ctx, credit.Reservation{Owners: []string{owner}, Lease: time.Minute},
	)
	if err != nil {
		return nil, err
	}
	return &unink.Result{}, l.credits.Settle(ctx, hold.ID)
}
