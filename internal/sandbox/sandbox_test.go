//go:build !js

package sandbox

import (
	"context"
	"errors"
	"testing"
	"time"
)

const start = "\x00asm\x01\x00\x00\x00"

// module has a function that never ends but pauses, and one that grows its memory of one page:
//
//	(import "host" "pause" (func))
//	(memory 1)
//	(func (export "spin") (loop (call 0) (br 0)))
//	(func (export "grow") (param i32) (result i32) (memory.grow (local.get 0)))
const module = start +
	"\x01\x09\x02\x60\x00\x00\x60\x01\x7f\x01\x7f" +
	"\x02\x0e\x01\x04host\x05pause\x00\x00" +
	"\x03\x03\x02\x00\x01" +
	"\x05\x03\x01\x00\x01" +
	"\x07\x18\x03\x04spin\x00\x01\x04grow\x00\x02\x06memory\x02\x00" +
	"\x0a\x12\x02\x09\x00\x03\x40\x10\x00\x0c\x00\x0b\x0b\x06\x00\x20\x00\x40\x00\x0b"

const wasmPage = 64 << 10

func TestInstanceEndsWithItsContext(t *testing.T) {
	m, err := Compile([]byte(module), nil)
	if err != nil {
		t.Fatal(err)
	}
	in, err := m.Start(t.Context(), wasmPage)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := in.Call(ctx, "spin"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

func TestMemoryIsBoundedAndGivenBack(t *testing.T) {
	m, err := Compile([]byte(module), nil)
	if err != nil {
		t.Fatal(err)
	}
	in, err := m.Start(t.Context(), 3*wasmPage)
	if err != nil {
		t.Fatal(err)
	}
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

// Modules that have not been through the meter would hold up the whole program.
func TestModuleHasToPause(t *testing.T) {
	if _, err := Compile([]byte(start), nil); err == nil {
		t.Error("a module that does not pause was compiled")
	}
}
