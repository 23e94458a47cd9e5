package unink

import (
	"context"
	"errors"
	"sync"

	"golang.org/x/sync/errgroup"

	"unink/internal/nn"
	"unink/models"
)

// network is one of the trained networks, and how many threads it runs on. It is opened by open, or
// else by its first run.
type network struct {
	models.Network
	threads int
	cfg     Config

	mu     sync.Mutex
	opened *nn.ONNX // nil before
}

// openAll opens networks, all at once: most of it is ONNX Runtime's own preparation of each.
func openAll(nets []*network) error {
	var opening errgroup.Group
	for _, n := range nets {
		opening.Go(func() error {
			_, err := n.open()
			return err
		})
	}
	if err := opening.Wait(); err != nil {
		return errors.Join(err, closeAll(nets))
	}
	return nil
}

func closeAll(nets []*network) error {
	var errs []error
	for _, n := range nets {
		if n.opened != nil {
			errs = append(errs, n.opened.Close())
		}
	}
	return errors.Join(errs...)
}

// open opens the network unless it is open.
func (n *network) open() (*nn.ONNX, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.opened != nil {
		return n.opened, nil
	}
	opened, err := nn.Open(nn.Config{
		Network: n.Network, Threads: n.threads, Device: n.cfg.Device, Library: n.cfg.Library,
	})
	if err != nil {
		return nil, err
	}
	n.opened = opened
	return opened, nil
}

// Run implements [nn.Runner].
func (n *network) Run(ctx context.Context, in, out []nn.Tensor) error {
	opened, err := n.open()
	if err != nil {
		return err
	}
	return opened.Run(ctx, in, out)
}
