package models

import (
	"fmt"
	"syscall/js"
)

// network asks the program's host for a network's ONNX file, which then loads it:
// unink.network(name, done, failed), see [unink/internal/browser].
func network(name string) ([]byte, error) {
	type answer struct {
		onnx []byte
		err  error
	}
	answered := make(chan answer, 1)
	done := js.FuncOf(func(_ js.Value, args []js.Value) any {
		onnx := make([]byte, args[0].Length())
		js.CopyBytesToGo(onnx, args[0])
		answered <- answer{onnx: onnx}
		return nil
	})
	defer done.Release()
	failed := js.FuncOf(func(_ js.Value, args []js.Value) any {
		answered <- answer{err: fmt.Errorf("loading %s.onnx: %s", name, args[0].String())}
		return nil
	})
	defer failed.Release()
	js.Global().Get("unink").Call("network", name, done, failed)
	a := <-answered
	return a.onnx, a.err
}
