//go:build !js

package sandbox

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"testing"
	"time"
)

const start = "\x00asm\x01\x00\x00\x00"

// greedy is the module of testdata/greedy.wat, which would have all time and memory.
//
//go:embed testdata/greedy.wasm
var greedy []byte

const wasmPage = 64 << 10

func startGreedy(t *testing.T, memory int) *Instance {
	m, err := Compile(greedy, nil)
	if err != nil {
		t.Fatal(err)
	}
	in, err := m.Start(t.Context(), memory)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func TestInstanceEndsWithItsContext(t *testing.T) {
	in := startGreedy(t, wasmPage)
	defer in.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := in.Call(ctx, "spin"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

func TestMemoryIsBoundedAndGivenBack(t *testing.T) {
	in := startGreedy(t, 3*wasmPage)
	if was, err := in.Call(t.Context(), "grow", 2); was != 1 || err != nil {
		t.Errorf("to three pages: %d, %v", was, err)
	}
	in.View(3*wasmPage-1, 1)[0] = 1
	if was, err := in.Call(t.Context(), "grow", 1); int32(was) != -1 || err != nil {
		t.Errorf("to a fourth page: %d, %v", was, err)
	}
	if in.Close(); in.memory.bytes != nil {
		t.Error("the memory is not given back")
	}
}

// What is discarded can be used again, and nothing beside it is lost.
func TestDiscard(t *testing.T) {
	in := startGreedy(t, wasmPage)
	defer in.Close()
	full := bytes.Repeat([]byte{1}, wasmPage)
	for _, n := range []int{0, 1, wasmPage - 2} {
		in.Write(0, full)
		in.Discard(1, n)
		if all := in.View(0, wasmPage); all[0] != 1 || all[wasmPage-1] != 1 {
			t.Errorf("with %d bytes, others are discarded", n)
		}
	}
	in.Write(0, full)
	if !bytes.Equal(in.View(0, wasmPage), full) {
		t.Error("what was discarded cannot be used again")
	}
}

// Modules that have not been through the meter would hold up the whole program.
func TestModuleHasToPause(t *testing.T) {
	if _, err := Compile([]byte(start), nil); err == nil {
		t.Error("a module that does not pause was compiled")
	}
}
