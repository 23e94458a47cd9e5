package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Serve answers on the two listeners until ctx ends. Then it takes no new pages, lets those
// inside finish for at most DrainTimeout, and returns nil. Both listeners are closed.
func (s *Server) Serve(ctx context.Context, public, metrics net.Listener) error {
	requests, cancelRequests := context.WithCancel(context.Background())
	defer cancelRequests()
	servers := []*http.Server{s.server(requests, s.handler), s.server(requests, s.metrics.handler())}
	failed := make(chan error, len(servers))
	for i, l := range []net.Listener{public, metrics} {
		go func() { failed <- servers[i].Serve(l) }()
	}
	var err error
	running := len(servers)
	select {
	case <-ctx.Done():
	case err = <-failed:
		running--
	}
	s.stop(servers, cancelRequests)
	for range running {
		if ended := <-failed; !errors.Is(ended, http.ErrServerClosed) {
			err = errors.Join(err, ended)
		}
	}
	return err
}

// stop drains the servers, the public one first so that its end can still be watched.
func (s *Server) stop(servers []*http.Server, cancelRequests func()) {
	s.work.Close()
	ctx, cancel := context.WithTimeout(context.Background(), s.cfg.DrainTimeout)
	defer cancel()
	for _, server := range servers {
		if err := server.Shutdown(ctx); errors.Is(err, context.DeadlineExceeded) {
			s.log.Warn("requests were still running when the drain time-out ended")
			cancelRequests()
			_ = server.Close()
		}
	}
}

// server bounds every wait for a client: for headers, for bodies (which [Server.readBody] bounds
// by UploadTimeout), for the answer to be taken, and between requests.
func (s *Server) server(requests context.Context, h http.Handler) *http.Server {
	const header, idle = 10 * time.Second, 60 * time.Second
	return &http.Server{
		Handler:           h,
		BaseContext:       func(net.Listener) context.Context { return requests },
		ReadHeaderTimeout: header,
		ReadTimeout:       header + s.cfg.UploadTimeout,
		WriteTimeout:      header + s.cfg.UploadTimeout + s.cfg.Deadline + s.cfg.answerTime(),
		IdleTimeout:       idle,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
}
