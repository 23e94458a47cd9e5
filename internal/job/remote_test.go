package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"unink"
)

// answers answers requests one after the other, the last answer again and again.
type answers struct {
	mu   sync.Mutex
	list []func(w http.ResponseWriter)
	n    int
	keys map[string]bool
}

func (a *answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.keys[r.Header.Get("Idempotency-Key")] = true
	a.list[min(a.n, len(a.list)-1)](w)
	a.n++
}

func fails(status, code int, after string) func(w http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":"API_ERROR","code":%d,"message":"it says %d"}`, code, code)
	}
}

// A service is asked for the page before only where it is wanted: older ones do not know the key.
func TestServerIsAskedForThePageBefore(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		page := map[string]any{"mediaId": pngOf(t, 20, 30, 0)}
		if strings.Contains(string(body), "return_before") {
			page["before"] = []byte("a JPEG")
		}
		answer := map[string]any{"code": 0, "data": map[string]any{"data": page}}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	defer server.Close()
	at := strings.Replace(server.URL, "127.0.0.1", "acme.localhost", 1) // found on every system
	r := newRemote(t.Context(), Server{at, "token"}, 1, func(error) {})
	defer r.http.CloseIdleConnections()
	for _, asked := range []bool{true, false} {
		res, err := r.Clean(t.Context(), pngOf(t, 20, 30, 0), unink.Options{Before: asked})
		if err != nil || (res.Before != nil) != asked {
			t.Errorf("asked for: %t, got %+v (%v)", asked, res, err)
		}
	}
}

func TestServerIsAskedAgain(t *testing.T) {
	good := func(w http.ResponseWriter) {
		body := map[string]any{"code": 0, "message": "success",
			"data": map[string]any{"data": map[string]any{"mediaId": pngOf(t, 20, 30, 0)}}}
		_ = json.NewEncoder(w).Encode(body)
	}
	many := func(n int, f func(http.ResponseWriter)) (list []func(http.ResponseWriter)) {
		for range n {
			list = append(list, f)
		}
		return list
	}
	for name, c := range map[string]struct {
		list    []func(http.ResponseWriter)
		asked   int // requests
		code    unink.Code
		failure string
		stops   bool
		longest time.Duration // of the pauses, at least
	}{
		"at once":               {list: many(1, good), asked: 1},
		"busy for long":         {list: append(many(20, fails(429, 4000, "7")), good), asked: 21, longest: 7 * time.Second},
		"overloaded":            {list: append(many(4, fails(503, 4000, "2")), good), asked: 5, longest: 2 * time.Second},
		"overloaded for ever":   {list: many(1, fails(503, 4000, "")), asked: mostTries, failure: "given up"},
		"workers fail":          {list: append(many(2, fails(502, 3000, "")), good), asked: 3},
		"too late":              {list: append(many(1, fails(504, 2001, "")), good), asked: 2},
		"used up":               {list: many(1, fails(402, 1008, "")), asked: 1, failure: "credits are used up", stops: true},
		"not authorised":        {list: many(1, fails(401, 1006, "")), asked: 1, failure: "UNINK_TOKEN", stops: true},
		"blank":                 {list: many(1, fails(422, 2003, "")), asked: 1, code: unink.ErrNoContent},
		"too many pixels":       {list: many(1, fails(400, 1004, "")), asked: 1, code: unink.ErrDimensions},
		"a defect":              {list: many(1, fails(500, 2000, "")), asked: 1, failure: "it says 2000"},
		"not a service of ours": {list: many(1, func(w http.ResponseWriter) { fmt.Fprint(w, "<html>") }), asked: 1, failure: "does not answer as", stops: true},
	} {
		t.Run(name, func(t *testing.T) {
			script := &answers{list: c.list, keys: map[string]bool{}}
			server := httptest.NewServer(script)
			defer server.Close()
			var stopped error
			r := newRemote(t.Context(), Server{server.URL, "token"}, 1, func(err error) { stopped = err })
			defer r.http.CloseIdleConnections()
			var longest time.Duration
			r.pause = func(_ context.Context, d time.Duration) error {
				longest = max(longest, d)
				return nil
			}
			_, err := r.Clean(t.Context(), pngOf(t, 20, 30, 0), unink.Options{})
			if want := c.failure == "" && c.code == ""; want != (err == nil) {
				t.Fatalf("got %v", err)
			}
			if err != nil && (!strings.Contains(err.Error(), c.failure) ||
				c.code != "" && !errors.Is(err, c.code)) {
				t.Errorf("got %v", err)
			}
			if script.n != c.asked || len(script.keys) != 1 || script.keys[""] ||
				(stopped != nil) != c.stops || longest < c.longest {
				t.Errorf("%d requests with %d keys, pauses up to %v, stopped by %v", script.n, len(script.keys),
					longest, stopped)
			}
		})
	}
}
