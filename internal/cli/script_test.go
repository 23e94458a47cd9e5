package cli

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"unink"
	"unink/internal/pagetest"
)

// leakless fails when tests leave goroutines behind.
type leakless struct{ *testing.M }

func (l leakless) Run() int {
	code := l.M.Run()
	if leak := goleak.Find(); code == 0 && leak != nil {
		fmt.Fprintln(os.Stderr, leak)
		return 1
	}
	return code
}

func TestMain(m *testing.M) {
	testscript.Main(leakless{m}, map[string]func(){
		"unink":      func() { os.Exit(program(openDrawing)) },
		"real-unink": func() { os.Exit(Main()) },
		"slow-unink": func() { os.Exit(program(openSlow)) },
	})
}

// TestScripts runs the program as a user does. Its engine encodes the picture it was given anew;
// the script engine.txtar has the real one.
func TestScripts(t *testing.T) {
	cache, err := os.UserCacheDir() // where the engine's library is unpacked, once for all scripts
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:   "testdata",
		Setup: func(env *testscript.Env) error { env.Setenv("XDG_CACHE_HOME", cache); return nil },
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"draw":   scriptDraw,
			"exits":  scriptExits,
			"holds":  scriptHolds,
			"bind":   scriptBind,
			"leaves": scriptLeaves,
		},
	})
}

// scriptDraw is "draw FILE...": it draws a small page into each.
func scriptDraw(ts *testscript.TestScript, _ bool, args []string) {
	for _, name := range args {
		var b bytes.Buffer
		var err error
		switch filepath.Ext(name) {
		case ".png":
			err = png.Encode(&b, sheet())
		default:
			err = jpeg.Encode(&b, sheet(), nil)
		}
		ts.Check(err)
		ts.Check(os.MkdirAll(filepath.Dir(ts.MkAbs(name)), 0o755))
		ts.Check(os.WriteFile(ts.MkAbs(name), b.Bytes(), 0o644))
	}
}

// sheet is a coloured page with lines of print on it.
func sheet() image.Image {
	m := image.NewRGBA(image.Rect(0, 0, 160, 120))
	draw.Draw(m, m.Rect, image.NewUniform(color.RGBA{240, 235, 220, 255}), image.Point{}, draw.Src)
	pagetest.PrintText(m, m.Rect.Inset(10), color.Black)
	return m
}

// scriptExits is "exits CODE COMMAND...": it runs a command and wants its exit code.
func scriptExits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d\n%s%s", got, want, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// scriptHolds is "holds FORMAT FILE...": each file is a picture of that format, 160×120; for
// other sizes FORMAT is FORMAT:WxH.
func scriptHolds(ts *testscript.TestScript, _ bool, args []string) {
	for _, name := range args[1:] {
		info, err := unink.Inspect([]byte(ts.ReadFile(name)), unink.Limits{})
		ts.Check(err)
		got := info.Format.String()
		if info.Width != 160 || info.Height != 120 {
			got += fmt.Sprintf(":%dx%d", info.Width, info.Height)
		}
		if got != args[0] {
			ts.Fatalf("%s holds %s, want %s", name, got, args[0])
		}
	}
}
