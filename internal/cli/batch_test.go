package cli

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"unink"
)

// storingNATS starts a NATS server with JetStream.
func storingNATS(t *testing.T, change func(*server.Options)) (url string) {
	t.Helper()
	url, _ = restartingNATS(t, change)
	return url
}

// restartingNATS starts one that can be stopped, and started again on what it has stored.
func restartingNATS(t *testing.T, change func(*server.Options)) (url string, restart func()) {
	t.Helper()
	o := &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true,
		JetStream: true, StoreDir: t.TempDir()}
	if change != nil {
		change(o)
	}
	var s *server.Server
	stop := func() {
		s.Shutdown()
		s.WaitForShutdown()
	}
	start := func() {
		t.Helper()
		var err error
		if s, err = server.NewServer(o); err != nil {
			t.Fatal(err)
		}
		s.Start()
		if !s.ReadyForConnections(late) {
			t.Fatal("the NATS server does not start")
		}
	}
	start()
	t.Cleanup(func() { stop() })
	o.Port = s.Addr().(*net.TCPAddr).Port
	return s.ClientURL(), func() {
		stop()
		start()
	}
}

// command is a process of this program under a name that TestMain knows, which is not yet started.
func command(t *testing.T, name string, arguments ...string) (c *exec.Cmd, output *bytes.Buffer) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	output = &bytes.Buffer{}
	return &exec.Cmd{Path: self, Args: append([]string{name}, arguments...), Env: os.Environ(),
		Stdout: output, Stderr: output}, output
}

// numbered is a page that differs from the others.
func numbered(t *testing.T, n int) []byte {
	t.Helper()
	m := image.NewGray(image.Rect(0, 0, 64, 48))
	draw.Draw(m, m.Rect, image.White, image.Point{}, draw.Src)
	for bit := range 10 {
		if n>>bit&1 == 1 {
			draw.Draw(m, image.Rect(4+6*bit, 10, 8+6*bit, 30), image.NewUniform(color.Gray{40}),
				image.Point{}, draw.Src)
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// put writes a file and its folders.
func put(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// visible are the files of a folder that are not hidden, with what they hold.
func visible(t *testing.T, root string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".unink":
			return filepath.SkipDir
		case d.IsDir():
			return nil
		}
		name, err := filepath.Rel(root, path)
		if err == nil {
			files[name], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Batches and workers are killed at random, two batches run at a time, the source grows: in the end
// each page has one result, the one that cleaning it here has.
func TestBatchIsKilled(t *testing.T) {
	url := storingNATS(t, nil)
	source, destination := t.TempDir(), filepath.Join(t.TempDir(), "out")
	want := map[string][]byte{}
	add := func(from, to int) {
		for i := from; i < to; i++ {
			data := numbered(t, i)
			name := fmt.Sprintf("box %d/%03d.png", i%4, i)
			res, err := drawing{}.Clean(t.Context(), data, unink.Options{})
			if err != nil {
				t.Fatal(err)
			}
			want[name] = res.Data
			put(t, filepath.Join(source, name), data)
		}
	}
	add(0, 120)
	put(t, filepath.Join(source, "broken.jpg"), []byte("no picture"))
	put(t, filepath.Join(source, "notes.txt"), []byte("no page"))
	worker := func() *process {
		return spawn(t, "slow-unink", "working", "worker", "--fleet", url, "--workers", "1")
	}
	workers := []*process{worker(), worker()}
	arguments := []string{"batch", source, destination, "--fleet", url, "-j", "6"}
	killed := 0
	for round := range 6 {
		for range 2 {
			c, output := command(t, "unink", arguments...)
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- c.Wait() }()
			select {
			case <-time.After(time.Duration(200+rand.IntN(500)) * time.Millisecond):
				killed++
				_ = c.Process.Kill()
				<-ended //nolint:errcheck // it was killed
			case err := <-ended:
				if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != exitSomeFailed {
					t.Fatalf("a batch ended with %v\n%s", err, output)
				}
			}
		}
		if round%2 == 0 {
			i := rand.IntN(len(workers))
			_ = workers[i].Process.Kill()
			workers[i] = worker()
		}
		if round == 3 {
			add(120, 160)
		}
	}
	var both [2]*exec.Cmd
	var outputs [2]*bytes.Buffer
	for i := range both {
		both[i], outputs[i] = command(t, "unink", arguments...)
		if err := both[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range both {
		if err := c.Wait(); c.ProcessState.ExitCode() != exitSomeFailed {
			t.Errorf("the last batch ended with %v\n%s", err, outputs[i])
		}
		if !strings.Contains(outputs[i].String(),
			"161 pages: 160 cleaned, 1 failed, 0 left; 1 other files") {
			t.Errorf("its sum:\n%s", outputs[i])
		}
	}
	got := visible(t, destination)
	for name, data := range want {
		if !bytes.Equal(got[name], data) {
			t.Errorf("%s has %d bytes, want the %d that it has when it is cleaned here", name,
				len(got[name]), len(data))
		}
		delete(got, name)
	}
	for name := range got {
		t.Errorf("%s is nobody's result", name)
	}
	if killed < 6 {
		t.Errorf("only %d batches were killed", killed)
	}
	c, output := command(t, "unink", append(arguments, "--status")...)
	if err := c.Run(); c.ProcessState.ExitCode() != exitSomeFailed ||
		!strings.Contains(output.String(), "broken.jpg: ") {
		t.Errorf("the status: %v\n%s", err, output)
	}
	for _, w := range workers {
		w.end(t)
	}
}

// The NATS server is restarted while pages are on their way to workers and back: the batch goes on
// by itself.
func TestBatchOutlivesNATS(t *testing.T) {
	url, restart := restartingNATS(t, nil)
	source, destination := t.TempDir(), t.TempDir()
	const pages = 120
	for i := range pages {
		put(t, filepath.Join(source, fmt.Sprintf("%d.png", i)), numbered(t, i))
	}
	w := spawn(t, "slow-unink", "working", "worker", "--fleet", url, "--workers", "2")
	c, output := command(t, "unink", "batch", source, destination, "--fleet", url, "-j", "6")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for _, some := range []int{10, 50} {
		for end := time.Now().Add(late); len(visible(t, destination)) < some; time.Sleep(
			10 * time.Millisecond,
		) {
			if time.Now().After(end) {
				t.Fatalf("no more pages come\n%s", output)
			}
		}
		restart()
	}
	if err := c.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	got := visible(t, destination)
	for i := range pages {
		res, err := drawing{}.Clean(t.Context(), numbered(t, i), unink.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if name := fmt.Sprintf("%d.png", i); !bytes.Equal(got[name], res.Data) {
			t.Errorf("%s is not what it should be", name)
		}
	}
	if len(got) != pages {
		t.Errorf("%d results of %d pages", len(got), pages)
	}
	w.end(t)
}

// The settings that are shipped for NATS, with what is for batches, let all sides do what they
// need.
func TestBatchPermissions(t *testing.T) {
	shipped, err := os.ReadFile("../../deploy/kubernetes/nats.conf")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "nats.conf")
	put(t, file, bytes.ReplaceAll(shipped, []byte("#batch "), nil))
	for _, user := range []string{"SERVICE", "WORKER", "BATCH"} {
		t.Setenv("UNINK_NATS_"+user+"_PASSWORD", "secret")
	}
	o, err := server.ProcessConfigFile(file)
	if err != nil {
		t.Fatal(err)
	}
	url := storingNATS(t, func(with *server.Options) {
		with.Users, with.JetStream = o.Users, o.JetStream
	})
	source, destination := t.TempDir(), t.TempDir()
	put(t, filepath.Join(source, "x.png"), numbered(t, 1))
	as := func(user string) string {
		return strings.Replace(url, "nats://", "nats://"+user+":secret@", 1)
	}
	w := spawn(t, "unink", "working", "worker", "--fleet", as("worker"), "--workers", "1")
	c, output := command(t, "unink", "batch", source, destination, "--fleet", as("batch"))
	if err := c.Run(); err != nil || len(visible(t, destination)) != 1 ||
		strings.Contains(output.String(), "ermissions") {
		t.Errorf("%v\n%s", err, output)
	}
	w.end(t)
}

// With the network, a batch makes what clean makes.
func TestBatchWithEngine(t *testing.T) {
	url := storingNATS(t, nil)
	source, destination, alone := t.TempDir(), filepath.Join(t.TempDir(), "out"),
		filepath.Join(t.TempDir(), "alone")
	page, err := os.ReadFile("../../docs/before.jpg")
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(source, "a.jpg"), page)
	put(t, filepath.Join(source, "b", "c.png"), numbered(t, 77))
	w := spawn(t, "real-unink", "working", "worker", "--fleet", url, "--workers", "1")
	for _, arguments := range [][]string{{"batch", source, destination, "--fleet", url, "--json"},
		{"clean", source, "-o", alone}} {
		c, output := command(t, "real-unink", arguments...)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		// with the network, on a busy machine, a page takes long
		kill := time.AfterFunc(5*late, func() { _ = c.Process.Kill() })
		err := c.Wait()
		kill.Stop()
		if err != nil {
			t.Fatalf("%q: %v\n%s", arguments, err, output)
		}
		if arguments[0] == "batch" && !strings.Contains(
			output.String(), `{"type":"summary","pages":2,"cleaned":2,"failed":0,"left":0,"skipped":0,`,
		) {
			t.Errorf("the summary:\n%s", output)
		}
	}
	w.end(t)
	want, got := visible(t, alone), visible(t, destination)
	for name := range want {
		if !bytes.Equal(got[name], want[name]) {
			t.Errorf("%s is not what clean makes of it", name)
		}
	}
	if len(got) != 2 || len(want) != 2 {
		t.Errorf("%d and %d results", len(got), len(want))
	}
}
