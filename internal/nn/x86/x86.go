// Package x86 makes machine code of x86 smaller when it is compressed. A call or a jump names its
// target by the distance from itself, so that two calls of one function differ; by their targets'
// addresses they are alike.
package x86

import (
	"encoding/binary"
	"slices"
)

// Absolute replaces distances by addresses, in place. What only looks like a call or a jump is
// changed, too, which [Relative] undoes alike.
func Absolute(code []byte) {
	for i := range code {
		move(code[i:], int32(i)) //nolint:gosec // wraps
	}
}

// Relative undoes [Absolute]. It begins at the end: so it finds at each place what was left there,
// also where one change overlaps another.
func Relative(code []byte) {
	for i := range slices.Backward(code) {
		move(code[i:], -int32(i)) //nolint:gosec // wraps
	}
}

// move adds to the distance of a near call (E8) or jump (E9) at the beginning of code. Its highest
// byte, 0 or FF, tells such a distance from other bytes, and the sum wraps at 25 bits, so that it
// can still be told.
func move(code []byte, by int32) {
	if len(code) < 5 || code[0]&0xfe != 0xe8 || code[4] != 0 && code[4] != 0xff {
		return
	}
	distance := code[1:5]
	sum := int32(binary.LittleEndian.Uint32(distance)) + by    //nolint:gosec // a signed number
	binary.LittleEndian.PutUint32(distance, uint32(sum<<7>>7)) //nolint:gosec // its bits
}
