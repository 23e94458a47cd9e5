package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Listeners are where a [Server] answers.
type Listeners struct {
	Public, Metrics net.Listener
	// Plain, unless nil, is beside a Public that speaks TLS, and does not: it answers an authority's
	// challenges and sends browsers to https.
	Plain      net.Listener
	Challenges func(next http.Handler) http.Handler // answers challenges, and leaves all else to next
}

// Serve answers on the listeners until ctx ends. Then it refuses new pages, lets those inside
// finish for at most DrainTimeout, and returns nil. Until they are done it still listens, so that
// who comes is told to come again rather than find nobody. All listeners are closed.
func (s *Server) Serve(ctx context.Context, on Listeners) error {
	requests, cancelRequests := context.WithCancel(context.Background())
	defer cancelRequests()
	servers := []*http.Server{s.server(requests, s.handler),
		s.server(requests, inert(s.metrics.handler()))}
	listeners := []net.Listener{on.Public, on.Metrics}
	if on.Plain != nil {
		servers = append(servers, s.server(requests, inert(on.Challenges(http.HandlerFunc(s.toTLS)))))
		listeners = append(listeners, on.Plain)
	}
	failed := make(chan error, len(servers))
	for i, l := range listeners {
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
	s.engine.Gate.Close()
	ctx, cancel := context.WithTimeout(context.Background(), s.Config.DrainTimeout)
	defer cancel()
	for _, server := range servers {
		server.SetKeepAlivesEnabled(false)
	}
	select {
	case <-s.engine.Gate.Drained():
	case <-ctx.Done():
	}
	for _, server := range servers {
		if err := server.Shutdown(ctx); errors.Is(err, context.DeadlineExceeded) {
			s.Log.Warn("requests were still running when the drain time-out ended")
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
		ReadTimeout:       header + s.Config.UploadTimeout,
		WriteTimeout:      header + s.Config.UploadTimeout + s.Config.Deadline + s.Config.AnswerTime(),
		IdleTimeout:       idle,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug),
	}
}
