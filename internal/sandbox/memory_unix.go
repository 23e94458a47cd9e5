//go:build unix

package sandbox

import "syscall"

func reserve(n int) ([]byte, error) {
	return syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE)
}

func release(memory []byte) { _ = syscall.Munmap(memory) }
