// Package sandbox has the browser, or Node, run WebAssembly modules that read hostile data: without
// files, in bounded memory and time. The worker makes their instances, by unink.sandbox (see
// internal/webui/src/worker/sandbox.ts).
package sandbox

import (
	"context"
	"syscall/js"
	"time"

	"unink/internal/host"
)

// Module is a compiled module. Its instances share nothing.
type Module struct{ compiled js.Value }

// Compile compiles a module whose imports are WASI's and the pause of the meter. There is no cache.
func Compile(wasm []byte, _ *struct{}) (m Module, err error) {
	defer failed(&err)
	m.compiled = js.Global().Get("WebAssembly").Get("Module").New(array(wasm))
	return m, nil
}

// Instance is one run of a module, for one goroutine at a time. After a call that failed it may
// only be closed.
type Instance struct{ exports js.Value }

// Start makes an instance that may use so many bytes of memory, until the deadline that the context
// must have. While it runs nothing else does, so that a context cannot be canceled meanwhile.
func (m Module) Start(ctx context.Context, memory int) (in *Instance, err error) {
	defer failed(&err)
	deadline, _ := ctx.Deadline()
	exports := js.Global().Get(host.Name).Call("sandbox", m.compiled, memory,
		time.Until(deadline).Milliseconds())
	return &Instance{exports}, nil
}

// Close gives the instance's memory back.
func (in *Instance) Close() { in.exports = js.Undefined() }

// Call calls an exported function; the result is 0 when it has none.
func (in *Instance) Call(_ context.Context, name string, params ...uint64) (res uint64, err error) {
	defer failed(&err)
	numbers := make([]any, len(params))
	for i, p := range params {
		numbers[i] = p
	}
	if v := in.exports.Call(name, numbers...); v.Type() == js.TypeNumber {
		res = uint64(uint32(int32(v.Int())))
	}
	return res, nil
}

// failed makes an error of what JavaScript threw.
func failed(err *error) {
	switch thrown := recover().(type) {
	case nil:
	case js.Error:
		*err = reasonOf(thrown.Get("message").String())
	default:
		panic(thrown)
	}
}

// reasonOf takes the words of sandbox.ts.
func reasonOf(message string) error {
	switch message {
	case "memory":
		return ErrMemory
	case "time":
		return context.DeadlineExceeded
	}
	return ErrFailed // the cause is a list of addresses
}

// memory is n bytes of the instance's memory, in JavaScript.
func (in *Instance) memory(at uint32, n int) js.Value {
	return js.Global().Get("Uint8Array").New(in.exports.Get("memory").Get("buffer"), at, n)
}

// Write overwrites the instance's memory; it panics when data would lie outside.
func (in *Instance) Write(at uint32, data []byte) {
	js.CopyBytesToJS(in.memory(at, len(data)), data)
}

// View is n bytes of the instance's memory; it panics when they lie outside.
func (in *Instance) View(at uint32, n int) []byte {
	out := make([]byte, n)
	js.CopyBytesToGo(out, in.memory(at, n))
	return out
}

func array(data []byte) js.Value {
	out := js.Global().Get("Uint8Array").New(len(data))
	js.CopyBytesToJS(out, data)
	return out
}
