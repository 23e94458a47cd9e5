//go:build js

// Package host asks the worker that runs the engine for what it has: see [unink/internal/browser].
package host

import (
	"fmt"
	"syscall/js"
)

// Name is the global variable that holds what the worker has.
const Name = "unink"

// File loads one of the engine's files, by unink.file(name, done, failed).
func File(name string) ([]byte, error) {
	type answer struct {
		content []byte
		err     error
	}
	answered := make(chan answer, 1)
	done := js.FuncOf(func(_ js.Value, args []js.Value) any {
		content := make([]byte, args[0].Length())
		js.CopyBytesToGo(content, args[0])
		answered <- answer{content: content}
		return nil
	})
	defer done.Release()
	failed := js.FuncOf(func(_ js.Value, args []js.Value) any {
		answered <- answer{err: fmt.Errorf("loading %s: %s", name, args[0].String())}
		return nil
	})
	defer failed.Release()
	js.Global().Get(Name).Call("file", name, done, failed)
	a := <-answered
	return a.content, a.err
}
