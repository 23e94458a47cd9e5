package nn

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall/js"
	"unsafe"
)

// ONNX runs a network with onnxruntime-web or, in Node, onnxruntime-node: with what the page has
// put where [runtimeName] says.
type ONNX struct {
	session js.Value
	inputs  []string
	outputs []string
}

// runtimeName is the global variable that holds the runtime's module.
const runtimeName = "ort"

// busy lets one network run at a time: the module's memory is one.
var busy sync.Mutex

// Open has the runtime load the network. An error wraps [ErrDevice]. Threads are the page's affair,
// who sets them for the whole runtime.
func Open(cfg Config) (*ONNX, error) {
	if cfg.Device != "" && cfg.Device != "cpu" || cfg.Library != "" {
		return nil, fmt.Errorf("%w: in a browser there is the cpu device and the page's own library",
			ErrDevice)
	}
	ort := js.Global().Get(runtimeName)
	if !ort.Truthy() {
		return nil, fmt.Errorf("%w: the page has not loaded onnxruntime-web as %s", ErrDevice,
			runtimeName)
	}
	onnx, err := cfg.Network.ONNX()
	if err != nil {
		return nil, err
	}
	model := js.Global().Get("Uint8Array").New(len(onnx))
	js.CopyBytesToJS(model, onnx)
	session, err := await(ort.Get("InferenceSession").Call("create", model))
	if err != nil {
		return nil, fmt.Errorf("%w: loading the network: %w", ErrDevice, err)
	}
	return &ONNX{session, cfg.Network.Inputs, cfg.Network.Outputs}, nil
}

// newTensor makes a tensor as the runtime has it.
func newTensor(t Tensor) js.Value {
	dims := make([]any, len(t.Dimensions))
	for i, d := range t.Dimensions {
		dims[i] = int(d)
	}
	kind, array := "float32", "Float32Array"
	if t.Bytes != nil {
		kind, array = "uint8", "Uint8Array"
	}
	data := js.Global().Get(array).New(len(t.Bytes) + len(t.Floats))
	js.CopyBytesToJS(js.Global().Get("Uint8Array").New(data.Get("buffer")), t.raw())
	return js.Global().Get(runtimeName).Get("Tensor").New(kind, data, dims)
}

// raw is what lies under a tensor's values; WebAssembly and typed arrays both have the low byte
// first.
func (t Tensor) raw() []byte {
	if t.Bytes != nil {
		return t.Bytes
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(t.Floats))), 4*len(t.Floats))
}

// free gives a typed array's memory back at once, where the browser can: else it waits for the
// collector, which does not see how much it is.
func free(array js.Value) {
	if buffer := array.Get("buffer"); buffer.Get("transfer").Truthy() {
		buffer.Call("transfer", 0)
	}
}

// Close frees the network. Call it once, when nothing runs.
func (o *ONNX) Close() error {
	_, err := await(o.session.Call("release"))
	return err
}

// Run implements [Runner].
func (o *ONNX) Run(ctx context.Context, in, out []Tensor) error {
	busy.Lock()
	defer busy.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	named := js.Global().Get("Object").New()
	for i, t := range in {
		tensor := newTensor(t)
		defer free(tensor.Get("data"))
		named.Set(o.inputs[i], tensor)
	}
	answer, err := await(o.session.Call("run", named))
	if err != nil {
		return fmt.Errorf("running the network: %w", err)
	}
	for i, t := range out {
		data := answer.Get(o.outputs[i]).Get("data")
		defer free(data)
		js.CopyBytesToGo(t.raw(), js.Global().Get("Uint8Array").New(
			data.Get("buffer"), data.Get("byteOffset"), data.Get("byteLength")))
	}
	return nil
}

// Device is "cpu".
func (o *ONNX) Device() string { return "cpu" }

// LibraryVersion is the version of ONNX Runtime in use.
func LibraryVersion() string {
	versions := js.Global().Get(runtimeName).Get("env").Get("versions")
	for _, kind := range []string{"web", "node"} {
		if version := versions.Get(kind); version.Truthy() {
			return version.String()
		}
	}
	return ""
}

// await waits for a promise.
func await(promise js.Value) (js.Value, error) {
	type settled struct {
		value js.Value
		err   error
	}
	done := make(chan settled, 1)
	kept := js.FuncOf(func(_ js.Value, args []js.Value) any {
		done <- settled{value: args[0]}
		return nil
	})
	defer kept.Release()
	broken := js.FuncOf(func(_ js.Value, args []js.Value) any {
		done <- settled{err: errors.New(js.Global().Get("String").Invoke(args[0]).String())}
		return nil
	})
	defer broken.Release()
	promise.Call("then", kept, broken)
	s := <-done
	return s.value, s.err
}
