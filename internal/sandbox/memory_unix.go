//go:build unix

package sandbox

import "golang.org/x/sys/unix"

func reserve(n int) ([]byte, error) {
	return unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
}

func release(memory []byte) { _ = unix.Munmap(memory) }

// discard is of whole pages. They are provided anew when they are touched.
func discard(memory []byte) { _ = unix.Madvise(memory, unix.MADV_DONTNEED) }
