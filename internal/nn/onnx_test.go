package nn

import (
	"context"
	"testing"

	"unink/models"
)

func BenchmarkTile(b *testing.B) {
	data, m, err := models.Segment()
	if err != nil {
		b.Fatal(err)
	}
	o, err := Open(Config{Model: data, Input: m.Input, Output: m.Output})
	if err != nil {
		b.Fatal(err)
	}
	in, out := make([]float32, 3*Tile*Tile), make([]float32, Classes*Tile*Tile)
	for b.Loop() {
		if err := o.Run(context.Background(), in, out); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N)/(Tile*Tile/1e6), "ms/MP")
}
