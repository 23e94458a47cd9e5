// Package raster is pixel arithmetic on plain slices: resizing, components, morphology, paper
// estimates and hole filling. Planes are row by row without padding. Nothing here does I/O.
package raster

import "sync"

// Rows splits h rows into bands and calls fn for each, on at most workers goroutines. It returns
// when all are done. A band is at least minBand rows so that small pictures stay on one goroutine.
func Rows(h, workers int, fn func(y0, y1 int)) {
	const minBand = 16
	n := max(1, min(workers, h/minBand))
	if n == 1 {
		fn(0, h)
		return
	}
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { fn(i*h/n, (i+1)*h/n) })
	}
	wg.Wait()
}

// Reflect maps an index outside 0..n-1 back inside by mirroring at the borders.
func Reflect(i, n int) int {
	if n == 1 {
		return 0
	}
	period := 2 * (n - 1)
	i %= period
	if i < 0 {
		i += period
	}
	if i >= n {
		i = period - i
	}
	return i
}
