//go:build !js

// Package sandbox runs WebAssembly modules that read hostile data: without files, without a
// network, in a memory of their own that is bounded and ends with them, and never for longer than
// their caller's context lasts.
//
// The modules have been through internal/imagefile/codec/meter, which lets them pause.
package sandbox

import (
	"context"
	"errors"
	"os"
	"runtime"
	"slices"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// Module is a compiled module. Its instances share nothing.
type Module struct {
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
}

// Compile compiles a module whose imports are WASI's, the pause of the meter, and what the hosts
// add. The cache keeps compiled code from run to run; it may be nil.
func Compile(wasm []byte, cache wazero.CompilationCache,
	hosts ...func(context.Context, wazero.Runtime) error) (m Module, err error) {
	ctx := context.Background()
	config := wazero.NewRuntimeConfig()
	if cache != nil {
		config = config.WithCompilationCache(cache)
	}
	m.runtime = wazero.NewRuntimeWithConfig(ctx, config)
	if _, err = wasi_snapshot_preview1.Instantiate(ctx, m.runtime); err != nil {
		return m, err
	}
	host := m.runtime.NewHostModuleBuilder("host").NewFunctionBuilder().WithGoFunction(
		api.GoFunc(pause), nil, nil,
	).Export("pause")
	if _, err = host.Instantiate(ctx); err != nil {
		return m, err
	}
	for _, add := range hosts {
		if err := add(ctx, m.runtime); err != nil {
			return m, err
		}
	}
	if m.compiled, err = m.runtime.CompileModule(ctx, wasm); err == nil && !m.pauses() {
		err = errors.New("the module does not pause: make it with internal/imagefile/codec/meter")
	}
	return m, err
}

// pauses says that the module lets others run: a garbage collection waits for every goroutine.
func (m Module) pauses() bool {
	return slices.ContainsFunc(m.compiled.ImportedFunctions(), func(f api.FunctionDefinition) bool {
		module, name, _ := f.Import()
		return module == "host" && name == "pause"
	})
}

// pause is called by the modules every millisecond or so.
func pause(ctx context.Context, _ []uint64) {
	if err := ctx.Err(); err != nil {
		panic(err)
	}
	runtime.Gosched()
}

// Instance is one run of a module, for one goroutine at a time. After a call that failed it may
// only be closed.
type Instance struct {
	runtime   wazero.Runtime
	module    api.Module
	functions map[string]api.Function // that were called, since each takes a stack of its own
	linked    []api.Module
	memory    *boundedMemory
}

// Start makes an instance that may use so many bytes of memory.
func (m Module) Start(ctx context.Context, memory int) (*Instance, error) {
	in := &Instance{runtime: m.runtime, functions: map[string]api.Function{},
		memory: &boundedMemory{limit: uint64(memory)}}
	allocator := experimental.MemoryAllocatorFunc(func(_, _ uint64) experimental.LinearMemory {
		return in.memory
	})
	var err error
	in.module, err = m.runtime.InstantiateModule(
		experimental.WithMemoryAllocator(ctx, allocator), m.compiled,
		wazero.NewModuleConfig().WithName(""),
	)
	if err != nil {
		err = in.reason(ctx)
		in.memory.Free()
		return nil, err
	}
	return in, nil
}

// Close gives the instance's memory back.
func (in *Instance) Close() {
	for _, m := range append(in.linked, in.module) {
		_ = m.Close(context.Background())
	}
}

// Link runs a small module that imports from this instance, as module "instance", and from the
// hosts. It can put functions of a host into the instance's table, which a host cannot do itself.
func (in *Instance) Link(ctx context.Context, wasm []byte) error {
	resolve := func(name string) api.Module {
		if name == "instance" {
			return in.module
		}
		return nil
	}
	m, err := in.runtime.InstantiateWithConfig(experimental.WithImportResolver(ctx, resolve), wasm,
		wazero.NewModuleConfig().WithName(""))
	if err == nil {
		in.linked = append(in.linked, m)
	}
	return err
}

// Call calls an exported function; the result is 0 when it has none.
func (in *Instance) Call(ctx context.Context, name string, params ...uint64) (uint64, error) {
	f := in.functions[name]
	if f == nil {
		f = in.module.ExportedFunction(name)
		in.functions[name] = f
	}
	res, err := f.Call(ctx, params...)
	switch {
	case err != nil:
		return 0, in.reason(ctx)
	case len(res) == 0:
		return 0, nil
	}
	return res[0], nil
}

func (in *Instance) reason(ctx context.Context) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case in.memory.refused:
		return ErrMemory
	}
	return ErrFailed // the cause is a list of addresses
}

// Write overwrites the instance's memory; it panics when data would lie outside.
func (in *Instance) Write(at uint32, data []byte) { copy(in.View(at, len(data)), data) }

// View is n bytes of the instance's memory; it panics when they lie outside. They end with
// the instance, and are not to be written to.
func (in *Instance) View(at uint32, n int) []byte {
	return in.memory.bytes[:in.module.Memory().Size()][at:][:n]
}

// Discard gives the pages that lie whole in n bytes of the instance's memory back to the system,
// and what they hold is lost: an instance itself keeps all that it frees.
func (in *Instance) Discard(at uint32, n int) {
	page := uint32(os.Getpagesize())
	from, to := (at+page-1)&^(page-1), (at+uint32(n))&^(page-1)
	if from < to {
		discard(in.View(from, int(to-from)))
	}
}

// boundedMemory is an instance's memory. Its addresses are reserved whole, so that it never
// moves; the system provides the pages that are touched, and has them back at once at the end.
type boundedMemory struct {
	limit   uint64
	bytes   []byte
	refused bool
}

// Reallocate gives the module size bytes, unless that is more than it may have.
func (m *boundedMemory) Reallocate(size uint64) []byte {
	if m.bytes == nil {
		var err error
		if m.bytes, err = reserve(int(m.limit)); err != nil {
			return nil
		}
	}
	if size > m.limit {
		m.refused = true
		return nil
	}
	return m.bytes[:size]
}

// Free gives all of it back.
func (m *boundedMemory) Free() {
	release(m.bytes)
	m.bytes = nil
}
