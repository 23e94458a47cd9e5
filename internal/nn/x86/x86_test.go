package x86

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// Whatever the bytes are, they come back, also where addresses need more than 25 bits and what
// looks like a call lies within another.
func TestRelativeUndoesAbsolute(t *testing.T) {
	random := rand.NewChaCha8([32]byte{})
	code := make([]byte, 1<<25+1<<16)
	_, _ = random.Read(code) // never fails
	for i, b := range code {
		if often := []byte{0xe8, 0xe9, 0, 0xff}; b < 0x80 {
			code[i] = often[b%4]
		}
	}
	got := bytes.Clone(code)
	Absolute(got)
	if bytes.Equal(got, code) {
		t.Error("nothing was changed")
	}
	Relative(got)
	if !bytes.Equal(got, code) {
		t.Error("other bytes came back")
	}
}

// Calls of one function become the same bytes, forwards and backwards.
func TestCallsOfOneFunctionBecomeAlike(t *testing.T) {
	code := make([]byte, 0x30)
	copy(code[0x10:], []byte{0xe8, 0x0b, 0, 0, 0})          // to 0x20
	copy(code[0x28:], []byte{0xe8, 0xf3, 0xff, 0xff, 0xff}) // to 0x20
	Absolute(code)
	if first, second := code[0x10:0x15], code[0x28:0x2d]; !bytes.Equal(first, second) {
		t.Errorf("% x and % x", first, second)
	}
}
