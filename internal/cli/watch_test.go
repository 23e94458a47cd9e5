package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image/jpeg"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// folderOf is a new folder with pages in it.
func folderOf(t *testing.T, names ...string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "in")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		var b bytes.Buffer
		if err := jpeg.Encode(&b, sheet(), nil); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// The program cleans what lies in a folder beside it, and a signal ends it as it ends clean.
func TestWatchEndsWithASignal(t *testing.T) {
	folder := folderOf(t, "page.jpg")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	program := exec.CommandContext(ctx, "unink", "watch", folder, "--json")
	out, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || !strings.Contains(lines.Text(), `"type":"page"`) {
		t.Errorf("told first: %s", lines.Text())
	}
	if err := program.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	var end struct {
		Type        string
		Cleaned     int
		Interrupted bool
	}
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &end) != nil {
		t.Fatalf("told last: %s", lines.Text())
	}
	if end.Type != "summary" || end.Cleaned != 1 || !end.Interrupted {
		t.Errorf("in the end %+v", end)
	}
	var exit *exec.ExitError
	if err := program.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		t.Errorf("it ended with %v", err)
	}
	results, err := os.ReadDir(folder + ".clean")
	if err != nil || len(results) != 1 || results[0].Name() != "page.jpg" {
		t.Errorf("the results: %v (%v)", results, err)
	}
}

// A service that takes no further page ends the watch, and why is told.
func TestWatchEndsWithItsService(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error":"UNAUTHORIZED","code":2001,"message":"the token is not known"}`)
	}))
	defer service.Close()
	var out, complaints bytes.Buffer
	env := &environment{ctx: t.Context(), stdout: &out, stderr: &complaints, open: openDrawing}
	folder := folderOf(t, "page.jpg")
	code := run(env, []string{"watch", folder, "--server", service.URL, "--token", "unknown"})
	if code != exitFailed || !strings.Contains(complaints.String(), "stopped: ") {
		t.Errorf("exit code %d: %s", code, complaints.String())
	}
}
