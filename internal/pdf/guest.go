package pdf

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental/table"

	"unink/internal/sandbox"
)

// PDFium, compiled to WebAssembly, which "make deps" (go run ./internal/pdf/fetch) brings;
// pdfium.md is there without it, so that the rest can be built.
//
//go:embed pdfium.*
var fetched embed.FS

// pdfium is compiled when it is first needed, which takes seconds the first time on a machine.
var pdfium = sync.OnceValues(func() (m sandbox.Module, err error) {
	packed, err := fetched.ReadFile("pdfium.wasm.zst")
	if err != nil {
		return m, errors.New("this build has no PDFium: run make deps, and build again")
	}
	z, err := zstd.NewReader(nil)
	if err != nil {
		return m, err
	}
	defer z.Close()
	wasm, err := z.DecodeAll(packed, nil)
	if err != nil {
		return m, err
	}
	return sandbox.Compile(wasm, compiledCode(), emscripten, sink)
})

// compiledCode keeps compiled code in the user's cache folder; nil where there is none.
func compiledCode() wazero.CompilationCache {
	folder, err := os.UserCacheDir()
	if err != nil {
		return nil
	}
	cache, err := wazero.NewCompilationCacheWithDir(filepath.Join(folder, "unink", "wasm"))
	if err != nil {
		return nil
	}
	return cache
}

const (
	i32 = api.ValueTypeI32
	i64 = api.ValueTypeI64
	f64 = api.ValueTypeF64
)

// emscripten provides what PDFium's build imports. There are no files and there is no time.
func emscripten(ctx context.Context, r wazero.Runtime) error {
	b := r.NewHostModuleBuilder("env")
	add := func(name string, params, results []api.ValueType, f api.GoModuleFunc) {
		b.NewFunctionBuilder().WithGoModuleFunction(f, params, results).Export(name)
	}
	ints := func(n int) []api.ValueType { return bytes.Repeat([]api.ValueType{i32}, n) }
	const noSuchFile = ^uint64(43) & 0xffffffff // -44, as musl's for WASI numbers it
	fail := func(_ context.Context, _ api.Module, stack []uint64) { stack[0] = noSuchFile }
	for name, params := range map[string][]api.ValueType{
		"__syscall_openat": ints(4), "__syscall_fcntl64": ints(3), "__syscall_ioctl": ints(3),
		"__syscall_fstat64": ints(2), "__syscall_stat64": ints(2), "__syscall_lstat64": ints(2),
		"__syscall_newfstatat": ints(4), "__syscall_ftruncate64": {i32, i64},
		"__syscall_getdents64": ints(3),
		"__syscall_unlinkat":   ints(3), "__syscall_rmdir": ints(1),
	} {
		add(name, params, ints(1), fail)
	}
	nothing := func(context.Context, api.Module, []uint64) {}
	add("_tzset_js", ints(4), nil, nothing)
	add("_localtime_js", []api.ValueType{i64, i32}, nil, nothing)
	add("_gmtime_js", []api.ValueType{i64, i32}, nil, nothing)
	add("emscripten_date_now", nil, []api.ValueType{f64},
		func(_ context.Context, _ api.Module, stack []uint64) { stack[0] = 0 })
	add("_abort_js", nil, nil, func(context.Context, api.Module, []uint64) { panic(errAbort) })
	add("emscripten_resize_heap", ints(1), ints(1), resizeHeap)
	add("_emscripten_throw_longjmp", nil, nil, func(context.Context, api.Module, []uint64) {
		panic(errLongjmp)
	})
	for name, signature := range map[string]struct{ params, results int }{
		"invoke_viii": {3, 0}, "invoke_ii": {1, 1}, "invoke_iii": {2, 1}, "invoke_iiii": {3, 1}, "invoke_iiiii": {4, 1},
	} {
		params, results := ints(signature.params), ints(signature.results)
		add(name, ints(1+signature.params), results,
			func(ctx context.Context, m api.Module, stack []uint64) {
				invoke(ctx, m, stack, params, results)
			})
	}
	_, err := b.Instantiate(ctx)
	return err
}

var (
	errAbort   = errors.New("the module gave up")
	errLongjmp = errors.New("longjmp")
)

// resizeHeap makes the memory at least as large as asked, and a fifth larger than it was, so that
// it is not asked often.
func resizeHeap(_ context.Context, m api.Module, stack []uint64) {
	const wasmPage = 64 << 10
	have := uint64(m.Memory().Size())
	want := uint64(uint32(stack[0]))
	stack[0] = 0
	for _, size := range []uint64{max(want, have+have/5), want} {
		if _, ok := m.Memory().Grow(uint32((size - have + wasmPage - 1) / wasmPage)); ok {
			stack[0] = 1
			return
		}
	}
}

// invoke calls a function of the module's table and catches its longjmp, which is how C code in
// PDFium (its decoders of JPEG and the like) leaves an error.
func invoke(ctx context.Context, m api.Module, stack []uint64, params, results []api.ValueType) {
	must := func(name string, args ...uint64) []uint64 {
		res, err := m.ExportedFunction(name).Call(ctx, args...)
		if err != nil {
			panic(err)
		}
		return res
	}
	sp := must("emscripten_stack_get_current")
	res, err := table.LookupFunction(m, 0, uint32(stack[0]), params, results).Call(
		ctx, stack[1:1+len(params)]...,
	)
	switch {
	case errors.Is(err, errLongjmp):
		must("_emscripten_stack_restore", sp...)
		must("setThrew", 1, 0)
		if len(results) > 0 {
			stack[0] = 0
		}
	case err != nil:
		panic(err)
	case len(results) > 0:
		stack[0] = res[0]
	}
}
