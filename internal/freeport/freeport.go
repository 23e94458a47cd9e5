// Package freeport finds ports for servers that tests start.
package freeport

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports that systems give to outgoing connections begin at 32768 (Linux) or later: one of those may
// be taken again before the server listens.
const first, end = 10000, 32768

const tries = 100

// Find is a TCP port of 127.0.0.1 that nobody listens on now.
func Find() (port int, err error) {
	for range tries {
		port = first + rand.IntN(end-first)
		l, failed := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if failed == nil {
			return port, l.Close()
		}
		err = failed
	}
	return 0, errors.Join(errors.New("freeport: no port is free"), err)
}
