package cli

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"unink"
)

// held is an engine that cleans a page when it is let.
type held struct {
	drawing
	release chan struct{}
	mu      sync.Mutex
	widths  []int // of the pages, as they came
}

func (h *held) Clean(ctx context.Context, data []byte, _ unink.Options) (*unink.Result, error) {
	c, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	h.widths = append(h.widths, c.Width)
	h.mu.Unlock()
	select {
	case <-h.release:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return &unink.Result{Data: data, Format: unink.PNG, Width: c.Width, Height: c.Height}, nil
}

// turns is a service with one worker, which is held.
type turns struct {
	*held
	*fleetService
	pages sync.WaitGroup
}

func takeTurns(t *testing.T, arguments ...string) *turns {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") // the helper tells the other address only
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	h := &held{release: make(chan struct{})}
	url, stop := serve(t, func(unink.Config) (engine, error) {
		return h, nil
	}, append(arguments, "--workers", "1", "--metrics-listen", address)...)
	t.Cleanup(stop)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: late}
	return &turns{held: h, fleetService: &fleetService{
		url: url, metrics: "http://" + address + "/metrics", client: client,
	}}
}

// add sends a page and waits until it is where it should be.
func (s *turns) add(t *testing.T, r *http.Request, metric string, want float64) {
	t.Helper()
	s.pages.Go(func() {
		resp, err := s.client.Do(r)
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = resp.Body.Close() }()
		if body, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK {
			t.Errorf("%d %s", resp.StatusCode, body)
		}
	})
	s.until(t, metric, want)
}

func (s *turns) order() []int {
	close(s.release)
	s.pages.Wait()
	return s.widths
}

func blankOf(t *testing.T, width int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, 20))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A customer's burst does not make another one wait for all of it.
func TestCustomersTakeTurns(t *testing.T) {
	storage := []string{"--data", t.TempDir()}
	s := takeTurns(t, append(storage, "--per-customer", "100")...)
	customer := func(name string) func(width int) *http.Request {
		who := newBuyer(t, storage, name)
		return func(width int) *http.Request {
			body := fmt.Sprintf(`{"media_id":%q}`, base64.StdEncoding.EncodeToString(blankOf(t, width)))
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/cleanup",
				strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.Host = who.host
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Authorization", "Bearer "+who.token)
			return r
		}
	}
	many, one := customer("many"), customer("one")
	s.add(t, many(20), "unink_pages_running", 1)
	for i := range 4 {
		s.add(t, many(21+i), "unink_pages_waiting", float64(1+i))
	}
	s.add(t, one(30), "unink_pages_waiting", 5)
	if order := s.order(); slices.Index(order, 30) != 2 || len(order) != 6 {
		t.Errorf(
			"pages came in the order %v; want 30 after the one that ran and the one whose turn it was",
			order,
		)
	}
}

// Whoever waits before a screen goes before a folder of pages.
func TestBulkPagesGoLast(t *testing.T) {
	s := takeTurns(t, "--open", "--dev-token", "a-token-of-the-tests")
	page := func(width int, bulk string) *http.Request {
		var form bytes.Buffer
		w := multipart.NewWriter(&form)
		part, err := w.CreateFormFile("image", "page.png")
		if err == nil {
			_, err = part.Write(blankOf(t, width))
		}
		if err != nil || w.WriteField("isBulkProcessing", bulk) != nil || w.Close() != nil {
			t.Fatal("the form cannot be written")
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
			s.url+"/api/process-image", &form)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", w.FormDataContentType())
		return r
	}
	s.add(t, page(20, "true"), "unink_pages_running", 1)
	s.add(t, page(21, "true"), "unink_pages_waiting", 1)
	s.add(t, page(22, "true"), "unink_pages_waiting", 2)
	s.add(t, page(30, "false"), "unink_pages_waiting", 3)
	if order := s.order(); !slices.Equal(order, []int{20, 30, 21, 22}) {
		t.Errorf("pages came in the order %v", order)
	}
}
