//go:build !js

package nn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	ort "github.com/yalue/onnxruntime_go"

	"unink/internal/nn/pin"
)

// ONNX runs a network with ONNX Runtime.
type ONNX struct {
	device  string
	session *ort.DynamicAdvancedSession
	running chan struct{} // a place for each run at once
}

// Open loads the library, once for the process, and the network. An error about the device or the
// library wraps [ErrDevice].
func Open(cfg Config) (*ONNX, error) {
	cfg.Threads = max(1, cfg.Threads)
	if cfg.Device == "" {
		cfg.Device = "cpu"
	}
	if err := initialize(cfg.Library); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDevice, err)
	}
	session, err := openSession(cfg)
	if err != nil {
		return nil, err
	}
	return &ONNX{cfg.Device, session,
		make(chan struct{}, max(1, runtime.NumCPU()/cfg.Threads))}, nil
}

// Close waits for what is running, then frees the network. Call it once.
func (o *ONNX) Close() error {
	for range cap(o.running) {
		o.running <- struct{}{}
	}
	return o.session.Destroy()
}

// Run implements [Runner].
func (o *ONNX) Run(ctx context.Context, in, out []Tensor) (err error) {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case o.running <- struct{}{}:
	}
	defer func() { <-o.running }()
	if err := ctx.Err(); err != nil {
		return err
	}
	values, err := ortValues(slices.Concat(in, out))
	defer func() {
		for _, v := range values {
			err = errors.Join(err, v.Destroy())
		}
	}()
	if err != nil {
		return err
	}
	if err := o.session.Run(values[:len(in)], values[len(in):]); err != nil {
		return fmt.Errorf("running the network: %w", err)
	}
	return nil
}

// ortValues are tensors as the library has them, on the caller's memory. With an error they are
// those made so far.
func ortValues(tensors []Tensor) (values []ort.Value, err error) {
	for _, t := range tensors {
		var value ort.Value
		if t.Bytes != nil {
			value, err = ort.NewTensor(t.Dimensions, t.Bytes)
		} else {
			value, err = ort.NewTensor(t.Dimensions, t.Floats)
		}
		if err != nil {
			return values, err
		}
		values = append(values, value)
	}
	return values, nil
}

// Device is "cpu" or "cuda".
func (o *ONNX) Device() string { return o.device }

// LibraryVersion is the version of ONNX Runtime in use.
func LibraryVersion() string { return ort.GetVersion() }

// newSession opens a network. What the library makes of it goes to a file, if one is named.
func newSession(cfg Config, model []byte, made string) (*ort.DynamicAdvancedSession, error) {
	options, err := sessionOptions(cfg)
	if err != nil {
		return nil, err
	}
	defer func() { _ = options.Destroy() }()
	if made != "" {
		if err := options.SetOptimizedModelFilePath(made); err != nil {
			return nil, err
		}
	}
	session, err := ort.NewDynamicAdvancedSessionWithONNXData(
		model, cfg.Network.Inputs, cfg.Network.Outputs, options,
	)
	if err != nil {
		return nil, fmt.Errorf("%w: loading the network: %w", ErrDevice, err)
	}
	return session, nil
}

func sessionOptions(cfg Config) (*ort.SessionOptions, error) {
	options, err := ort.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	err = errors.Join(
		options.SetIntraOpNumThreads(cfg.Threads),
		options.SetInterOpNumThreads(1),
		options.SetMemPattern(false), // which takes a block for each shape and keeps it
		options.SetExecutionMode(ort.ExecutionModeSequential),
		options.AddSessionConfigEntry("session.use_env_allocators", "1"),      // see shareArena
		options.AddSessionConfigEntry("session.intra_op.allow_spinning", "0"), // idle threads sleep
	)
	switch cfg.Device {
	case "cpu":
	case "cuda":
		err = errors.Join(err, useCUDA(options))
	default:
		err = fmt.Errorf("%w: device %q is not known; use cpu or cuda", ErrDevice, cfg.Device)
	}
	if err != nil {
		return nil, errors.Join(err, options.Destroy())
	}
	return options, nil
}

func useCUDA(options *ort.SessionOptions) error {
	cuda, err := ort.NewCUDAProviderOptions()
	if err == nil {
		err = options.AppendExecutionProviderCUDA(cuda)
		err = errors.Join(err, cuda.Destroy())
	}
	if err != nil {
		return fmt.Errorf("%w: CUDA was asked for but this ONNX Runtime cannot use it here; "+
			"name a library built for CUDA, or use the cpu device: %w", ErrDevice, err)
	}
	return nil
}

var environment struct {
	sync.Mutex
	library string
	ready   bool
}

// shareArena gives all networks one arena, which takes no more from the system than is asked for:
// one of each network's own would grow to twice what it needs, and keep that for good.
func shareArena() error {
	const sameAsRequested = 1
	arena, err := ort.NewArenaCfg(0, sameAsRequested, -1, -1)
	if err != nil {
		return err
	}
	defer arena.Destroy()
	memory, err := ort.GetMemoryInfo()
	if err != nil {
		return err
	}
	return ort.CreateAndRegisterAllocator(memory, arena)
}

// initialize loads the library for the life of the process.
func initialize(library string) error {
	environment.Lock()
	defer environment.Unlock()
	if environment.ready {
		if environment.library != library {
			return errors.New("another ONNX Runtime library is already loaded in this process")
		}
		return nil
	}
	load := func(path string) error {
		// The library reports its use to its maker unless it is told not to before it starts.
		if err := os.Setenv("ORT_DISABLE_TELEMETRY", "1"); err != nil {
			return err
		}
		ort.SetSharedLibraryPath(path)
		if err := ort.InitializeEnvironment(ort.WithLogLevelFatal()); err != nil {
			return err
		}
		return shareArena()
	}
	var err error
	if library != "" {
		err = load(library)
	} else {
		err = withLibrary(load)
	}
	if err != nil {
		return fmt.Errorf("loading ONNX Runtime: %w", err)
	}
	if release(ort.GetVersion()) != release(pin.Version) {
		return errors.Join(
			fmt.Errorf("the ONNX Runtime library is version %s, this program needs %s.x", ort.GetVersion(),
				release(pin.Version)),
			ort.DestroyEnvironment())
	}
	environment.library, environment.ready = library, true
	return nil
}

// release is a version without its last part.
func release(version string) string {
	if i := strings.LastIndexByte(version, '.'); i > 0 {
		return version[:i]
	}
	return version
}
