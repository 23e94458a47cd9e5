// Command bilinear has the AVIF decoder interpolate chroma of half the width or height, as other
// programs do: its author leaves the way to libavif, which then takes the nearest sample, since
// this build of libyuv lacks the functions that interpolate. One instruction of "decode" changes,
// which sets avifRGBImage.chromaUpsampling to AVIF_CHROMA_UPSAMPLING_AUTOMATIC.
//
//	go run ./internal/imagefile/codec/bilinear < decode.wasm.gz > bilinear.wasm.gz
package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"log"
	"os"
)

// What sets the two fields at offset 16 at once, chromaUpsampling the lower, and the address of
// those after them: local.get 0; i64.const 0; i64.store; local.get 0; i32.const 24; i32.add.
const (
	automatic = "\x20\x00\x42\x00\x37\x02\x10\x20\x00\x41\x18\x6a"
	bilinear  = "\x20\x00\x42\x04\x37\x02\x10\x20\x00\x41\x18\x6a"
)

func main() {
	log.SetFlags(0)
	z, err := gzip.NewReader(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	module, err := io.ReadAll(z)
	if err != nil {
		log.Fatal(err)
	}
	if n := bytes.Count(module, []byte(automatic)); n != 1 {
		log.Fatalf("the instruction is there %d times, not once: this is another decoder", n)
	}
	out := gzip.NewWriter(os.Stdout)
	_, err = out.Write(bytes.Replace(module, []byte(automatic), []byte(bilinear), 1))
	if err != nil {
		log.Fatal(err)
	}
	if err := out.Close(); err != nil {
		log.Fatal(err)
	}
}
