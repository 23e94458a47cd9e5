package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"unink"
	"unink/internal/httpapi/setup"
)

// dial connects to a service, for at most thirty seconds.
func (s *service) dial() *net.TCPConn {
	s.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		s.t.Fatal(err)
	}
	return conn.(*net.TCPConn)
}

// Who does not take its answer loses it before its credit's lease ends: taking it later would be a
// page for nothing.
func TestAnswerThatIsNotTaken(t *testing.T) {
	bothEntryPoints(t, func(t *testing.T, send func(*service) *http.Request) {
		// more than the kernels keep for the connection
		large := append(picture(t, 32, 32), bytes.Repeat([]byte{0xff}, 16<<20)...)
		s := start(t, &fakeCleaner{clean: func(context.Context, []byte, unink.Options) (
			*unink.Result, error,
		) {
			return &unink.Result{Data: large, Width: 32, Height: 32}, nil
		}}, func(c *setup.Config) {
			c.UploadTimeout, c.DrainTimeout = 500*time.Millisecond, 5*time.Second
		})
		conn := s.dial()
		if err := conn.SetReadBuffer(64 << 10); err != nil {
			t.Fatal(err)
		}
		if err := send(s).Write(conn); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Read(make([]byte, 1)); err != nil { // the answer has begun
			t.Fatal(err)
		}
		s.stop()
		if log := s.logs.String(); !strings.Contains(log, "status=499") ||
			strings.Contains(log, "still running") {
			t.Errorf("the answer was not given up: %s", log)
		}
	})
}

// Programs that send their whole request before they read must be able to read why it was refused.
func TestRefusalsCanBeRead(t *testing.T) {
	const size = 24 << 20 // more than the kernel keeps for a connection
	s := start(t, &fakeCleaner{})
	form, page := "multipart/form-data; boundary=b",
		"--b\r\nContent-Disposition: form-data; name=\"image\"\r\n\r\n"
	token := "Bearer " + testToken
	for name, c := range map[string]struct {
		path, contentType, token, start string
		status                          int
	}{
		"web": {"/api/process-image", form, "", page, 400},
		"web, long field": {"/api/process-image", form, "", strings.Replace(page, "image", "userId", 1),
			400},
		"web, not a form": {"/api/process-image", "text/plain", "", "", 400},
		"bad query":       {"/api/process-image?preserveColor=1", form, "", page, 400},
		"developer":       {"/cleanup", "application/json", token, `{"media_id":"`, 413},
		"no token":        {"/cleanup", "application/json", "", `{"media_id":"`, 401},
		"not JSON":        {"/cleanup", "text/plain", token, "", 415},
		"no such page":    {"/nothing", "text/plain", "", "", 404},
	} {
		for _, length := range []string{fmt.Sprintf("Content-Length: %d", size),
			"Transfer-Encoding: chunked"} {
			header, _, _ := strings.Cut(length, ":")
			t.Run(name+", "+strings.ToLower(header), func(t *testing.T) {
				conn := s.dial()
				fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\nAuthorization: "+
					"%s\r\n%s\r\n\r\n", c.path, c.contentType, c.token, length)
				body := io.MultiReader(strings.NewReader(c.start),
					io.LimitReader(endless{}, size-int64(len(c.start))))
				if _, err := io.Copy(conn, framed(body, strings.HasPrefix(length, "Transfer"))); err != nil {
					t.Fatalf("while sending: %v", err)
				}
				res, err := http.ReadResponse(bufio.NewReader(conn), nil)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = res.Body.Close() }()
				if text, err := io.ReadAll(res.Body); err != nil || res.StatusCode != c.status {
					t.Errorf("got %d %s, %v, want %d", res.StatusCode, text, err, c.status)
				}
			})
		}
	}
}

// framed is a body as it is sent, in one chunk of 24 MiB where it is chunked.
func framed(body io.Reader, chunked bool) io.Reader {
	if !chunked {
		return body
	}
	return io.MultiReader(strings.NewReader("1800000\r\n"), body, strings.NewReader("\r\n0\r\n\r\n"))
}

// What a client goes on sending is thrown away only up to a bound.
func TestEndlessBodyIsCutOff(t *testing.T) {
	s := start(t, &fakeCleaner{})
	conn := s.dial()
	fmt.Fprint(conn, "POST /nothing HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "+
		"chunked\r\n\r\nffffffffff\r\n")
	if n, err := io.Copy(conn, endless{}); err == nil || n < 64<<20 {
		t.Errorf("the connection ended after %d bytes: %v", n, err)
	}
}

// The service's own waits, for its database or a worker, are not taken for a client that sends
// nothing: neither this request nor the next of its connection is given up.
func TestSlowServiceKeepsTheConnection(t *testing.T) {
	s := start(t, &fakeCleaner{})
	synctest.Test(t, func(t *testing.T) {
		slow := func(_ http.ResponseWriter, r *http.Request) {
			time.Sleep(10 * time.Second) // of the bubble's time: whose request is it
			for range 2 {                // readers of forms look again at the end
				if _, err := io.ReadAll(r.Body); err != nil {
					t.Errorf("the body: %v", err)
				}
			}
			time.Sleep(2 * s.Config.UploadTimeout) // likewise: a worker cleans the page
			if err := r.Context().Err(); err != nil {
				t.Errorf("the request was given up: %v", err)
			}
		}
		client, server := net.Pipe()
		listener := &onePipe{conns: make(chan net.Conn, 1)}
		listener.conns <- server
		service := s.server(t.Context(), s.observe(http.HandlerFunc(slow)))
		go func() { _ = service.Serve(listener) }()
		answers := bufio.NewReader(client)
		for range 2 {
			fmt.Fprint(client, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\npage")
			res, err := http.ReadResponse(answers, nil)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
		}
		_, _ = client.Close(), service.Close()
	})
}

// onePipe is a listener with connections of its own.
type onePipe struct{ conns chan net.Conn }

func (p *onePipe) Accept() (net.Conn, error) {
	if conn, open := <-p.conns; open {
		return conn, nil
	}
	return nil, net.ErrClosed
}

func (p *onePipe) Close() error { close(p.conns); return nil }

func (p *onePipe) Addr() net.Addr { return &net.TCPAddr{} }

// A request that was given up has no answer: an empty one with status 200 would be a false one.
func TestGivenUpRequestHasNoAnswer(t *testing.T) {
	bothEntryPoints(t, func(t *testing.T, send func(*service) *http.Request) {
		s := start(t, &fakeCleaner{clean: func(context.Context, []byte, unink.Options) (
			*unink.Result, error,
		) {
			return nil, context.Canceled
		}})
		conn := s.dial()
		if err := send(s).Write(conn); err != nil {
			t.Fatal(err)
		}
		if answer, err := io.ReadAll(conn); len(answer) > 0 || err != nil {
			t.Errorf("got %q, %v", answer, err)
		}
	})
}

// Who waits to be asked for its body is answered and not waited for.
func TestRefusalWithoutTheBody(t *testing.T) {
	s := start(t, &fakeCleaner{})
	conn := s.dial()
	fmt.Fprint(conn, "POST /cleanup HTTP/1.1\r\nHost: localhost\r\nExpect: "+
		"100-continue\r\nContent-Length: 1000000\r\n\r\n")
	answer, err := io.ReadAll(conn) // to the connection's end
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 401 ") {
		t.Errorf("got %q, %v", answer, err)
	}
}
