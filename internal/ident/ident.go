// Package ident makes identifiers: unique, not to be guessed, and in the order of their making.
package ident

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"strings"
	"time"
)

var letters = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// New returns prefix, an underscore and 26 letters and digits: 48 bits of the time in
// milliseconds, then 80 random bits (the layout of ULID). Later identifiers sort after earlier ones
// of another millisecond.
func New(prefix string) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(time.Now().UnixMilli())<<16)
	if _, err := rand.Read(b[6:]); err != nil {
		panic(err) // crypto/rand never fails on the systems that Go supports
	}
	return prefix + "_" + letters.EncodeToString(b[:])
}

// Secret returns 26 random letters and digits: 128 bits and more, for tokens.
func Secret() string { return strings.ToLower(rand.Text()) }
