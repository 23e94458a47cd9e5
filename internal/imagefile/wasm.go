package imagefile

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// The decoders that Go has none of, compiled to WebAssembly; THIRD_PARTY.md says what they are.
var (
	//go:embed codec/heif.wasm.gz
	heifWasm []byte
	//go:embed codec/avif.wasm.gz
	avifWasm []byte

	heifDecoder = compileOnce(heifWasm)
	avifDecoder = compileOnce(avifWasm)
)

// decodeTime bounds a decoder that hostile data keeps busy; 50 megapixels take a tenth of it.
const decodeTime = 2 * time.Minute

var (
	errGuestFailed = errors.New("the decoder failed")
	errGuestMemory = errors.New("it does not fit into the memory that its size allows")
	errGuestTime   = fmt.Errorf("it is not decoded after %v", decodeTime)
)

// decoder is a compiled module. Its instances share nothing.
type decoder struct {
	runtime wazero.Runtime
	module  wazero.CompiledModule
}

// compileOnce compiles a module when it is first needed: most programs never see such a picture.
func compileOnce(gz []byte) func() (decoder, error) {
	return sync.OnceValues(func() (d decoder, err error) {
		z, err := gzip.NewReader(bytes.NewReader(gz))
		if err != nil {
			return d, err
		}
		wasm, err := io.ReadAll(z)
		if err != nil {
			return d, err
		}
		ctx := context.Background()
		d.runtime = wazero.NewRuntime(ctx)
		if _, err = wasi_snapshot_preview1.Instantiate(ctx, d.runtime); err != nil {
			return d, err
		}
		host := d.runtime.NewHostModuleBuilder("host").NewFunctionBuilder().WithGoFunction(api.GoFunc(pause), nil, nil).Export("pause")
		if _, err = host.Instantiate(ctx); err != nil {
			return d, err
		}
		d.module, err = d.runtime.CompileModule(ctx, wasm)
		return d, err
	})
}

// pause is called by the modules every millisecond or so, see codec/meter.
func pause(ctx context.Context, _ []uint64) {
	if err := ctx.Err(); err != nil {
		panic(err)
	}
	runtime.Gosched()
}

// instance is one run of a decoder, for one picture, with no files, no network and a memory of
// its own that ends with it.
type instance struct {
	ctx    context.Context
	cancel context.CancelFunc
	module api.Module
	memory *boundedMemory
}

// start makes an instance that may use so many bytes of memory.
func (d decoder) start(memory int) (*instance, error) {
	in := &instance{memory: &boundedMemory{limit: uint64(memory)}}
	in.ctx, in.cancel = context.WithTimeout(context.Background(), decodeTime)
	allocator := experimental.MemoryAllocatorFunc(func(_, _ uint64) experimental.LinearMemory { return in.memory })
	var err error
	in.module, err = d.runtime.InstantiateModule(experimental.WithMemoryAllocator(in.ctx, allocator), d.module, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		err = in.reason()
		in.memory.Free()
		in.cancel()
		return nil, err
	}
	return in, nil
}

func (in *instance) close() {
	_ = in.module.Close(in.ctx)
	in.cancel()
}

// call calls an exported function that has one result.
func (in *instance) call(name string, params ...uint32) (uint32, error) {
	stack := make([]uint64, len(params))
	for i, p := range params {
		stack[i] = uint64(p)
	}
	res, err := in.module.ExportedFunction(name).Call(in.ctx, stack...)
	if err != nil {
		return 0, in.reason()
	}
	return uint32(res[0]), nil
}

func (in *instance) reason() error {
	switch {
	case in.ctx.Err() != nil:
		return errGuestTime
	case in.memory.refused:
		return errGuestMemory
	}
	return errGuestFailed // the cause is a list of addresses
}

// alloc reserves memory in the instance.
func (in *instance) alloc(n int) (uint32, error) {
	at, err := in.call("malloc", uint32(n))
	if err == nil && at == 0 {
		err = errGuestMemory
	}
	return at, err
}

// put copies data into the instance.
func (in *instance) put(data []byte) (uint32, error) {
	at, err := in.alloc(len(data))
	if err == nil {
		copy(in.view(at, len(data)), data)
	}
	return at, err
}

// view is n bytes of the instance's memory; it panics when they lie outside. It ends with the
// instance.
func (in *instance) view(at uint32, n int) []byte {
	return in.memory.bytes[:in.module.Memory().Size()][at:][:n]
}

func (in *instance) word(at uint32) uint32 { return binary.LittleEndian.Uint32(in.view(at, 4)) }

// boundedMemory is an instance's memory. Its addresses are reserved whole, so that it never
// moves; the system provides the pages that are touched, and has them back at once at the end.
type boundedMemory struct {
	limit   uint64
	bytes   []byte
	refused bool
}

func (m *boundedMemory) Reallocate(size uint64) []byte {
	if m.bytes == nil {
		var err error
		if m.bytes, err = syscall.Mmap(-1, 0, int(m.limit), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE); err != nil {
			return nil
		}
	}
	if size > m.limit {
		m.refused = true
		return nil
	}
	return m.bytes[:size]
}

func (m *boundedMemory) Free() {
	_ = syscall.Munmap(m.bytes)
	m.bytes = nil
}
