package pdf

import (
	"bytes"
	"context"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"unink/internal/sandbox"
)

// saved collects what PDFium writes while it saves a document.
type saved struct {
	instance *sandbox.Instance
	bytes.Buffer
}

type savedKey struct{}

// sink provides the function that PDFium calls with each block it saves, by the table's entry 0.
func sink(ctx context.Context, r wazero.Runtime) error {
	write := func(ctx context.Context, stack []uint64) {
		const data, size = 1, 2
		s, _ := ctx.Value(savedKey{}).(*saved)
		if s == nil || s.Len()+int(uint32(stack[size])) > maxSaved {
			stack[0] = 0
			return
		}
		s.Write(s.instance.View(uint32(stack[data]), int(uint32(stack[size]))))
		stack[0] = 1
	}
	_, err := r.NewHostModuleBuilder("sink").NewFunctionBuilder().
		WithGoFunction(api.GoFunc(write), []api.ValueType{i32, i32, i32},
			[]api.ValueType{i32}).Export("write").Instantiate(ctx)
	return err
}

// connectSink is a module that puts the sink's function into entry 0 of PDFium's table, which
// stands for the null pointer and is empty otherwise:
//
//	(module
//	  (type (func (param i32 i32 i32) (result i32)))
//	  (import "instance" "__indirect_function_table" (table 0 funcref))
//	  (import "sink" "write" (func (type 0)))
//	  (elem (i32.const 0) func 0))
var connectSink = []byte("\x00asm\x01\x00\x00\x00" +
	"\x01\x08\x01\x60\x03\x7f\x7f\x7f\x01\x7f" +
	"\x02\x35\x02" + "\x08instance" + "\x19__indirect_function_table" + "\x01\x70\x00\x00" +
	"\x04sink" + "\x05write" + "\x00\x00" +
	"\x09\x07\x01\x00\x41\x00\x0b\x01\x00")
