package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"unink"
)

// TestServe runs the whole program on free ports, with the real engine.
func TestServe(t *testing.T) {
	defer goleak.VerifyNone(t)
	const token = "a-token-of-the-tests"
	url, stop := serve(t, openEngine, "--open", "--dev-token", token)
	defer stop()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

	if status, body := send(t, client, http.MethodGet, url+"/readyz", "", "", nil); status != 200 {
		t.Fatalf("not ready: %d %s", status, body)
	}
	var page bytes.Buffer
	if err := png.Encode(&page, sheet()); err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(
		map[string]any{"media_id": base64.StdEncoding.EncodeToString(page.Bytes()),
			"return_layers": true},
	)
	if err != nil {
		t.Fatal(err)
	}
	status, answer := send(t, client, http.MethodPost, url+"/cleanup", "application/json",
		"Bearer "+token, bytes.NewReader(body))
	holdsPage(t, status, answer)

	form, contentType := upload(t, nil)
	status, answer = send(t, client, http.MethodPost, url+"/api/process-image?preserveColor=true",
		contentType, "", form)
	holdsPage(t, status, answer)
}

// serve runs the service on free ports, and returns its URL and what interrupts it and waits for
// its end.
func serve(t *testing.T, open func(unink.Config) (engine, error),
	arguments ...string) (url string, stop func()) {
	t.Helper()
	ctx, interrupt := context.WithCancel(t.Context())
	logs, stderr := io.Pipe()
	exit := make(chan int, 1)
	go func() {
		env := &environment{ctx: ctx, stdin: strings.NewReader(""), stdout: io.Discard, stderr: stderr,
			open: open}
		exit <- run(
			env, append([]string{"serve", "--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"},
				arguments...),
		)
		_ = stderr.Close()
	}()
	address := make(chan string, 1)
	go func() {
		defer close(address)
		for lines := bufio.NewScanner(logs); lines.Scan(); {
			var line struct{ Msg, Address string }
			if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "serving" {
				address <- line.Address
			}
		}
	}()
	return "http://" + <-address, func() {
		interrupt()
		if code := <-exit; code != exitDone {
			t.Errorf("exit code %d after an interrupt", code)
		}
		for range address { // until the log ends
		}
	}
}

// upload is the web entry point's form with a page and some fields.
func upload(t *testing.T, fields map[string]string) (form *bytes.Buffer, contentType string) {
	t.Helper()
	form = new(bytes.Buffer)
	w := multipart.NewWriter(form)
	part, err := w.CreateFormFile("image", "page.png")
	if err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(part, sheet()); err != nil {
		t.Fatal(err)
	}
	for name, value := range fields {
		if err := w.WriteField(name, value); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return form, w.FormDataContentType()
}

func send(t *testing.T, client *http.Client, method, url, contentType, authorization string,
	body io.Reader) (int, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", contentType)
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, answer
}

// holdsPage checks that an answer holds a picture of the page's size.
func holdsPage(t *testing.T, status int, answer []byte) {
	t.Helper()
	var v struct {
		Code int
		Data struct{ Data struct{ MediaID []byte } }
	}
	if err := json.Unmarshal(answer, &v); err != nil || status != 200 || v.Code != 0 {
		t.Fatalf("got %d %.200s (%v)", status, answer, err)
	}
	info, err := unink.Inspect(v.Data.Data.MediaID, unink.Limits{})
	if err != nil || info.Width != 160 || info.Height != 120 {
		t.Errorf("the picture is %+v (%v)", info, err)
	}
}

func TestBotCostOutOfRange(t *testing.T) {
	for _, cost := range []string{"0", "-1", "1000001"} {
		var complaints bytes.Buffer
		env := &environment{ctx: t.Context(), stdin: strings.NewReader(""), stdout: io.Discard,
			stderr: &complaints, open: openDrawing}
		if code := run(env, []string{"serve", "--bot-cost=" + cost}); code != exitUsage ||
			!strings.Contains(complaints.String(), "--bot-cost must be from 1 to 1000000, not "+cost) {
			t.Errorf("%s: exit code %d, %s", cost, code, complaints.String())
		}
	}
}
