//go:build !js

package nn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"

	ort "github.com/yalue/onnxruntime_go"

	"unink/internal/nn/pin"
)

// ONNX runs a network with ONNX Runtime.
type ONNX struct {
	device  string
	session *ort.DynamicAdvancedSession
	slots   chan slot // free ones; all of them when no tile is being worked on
}

// slot is what one tile at a time needs. Its tensors are made once, so memory stays flat.
type slot map[Shape]*tensors

type tensors struct {
	in  []*ort.Tensor[float32]
	out *ort.Tensor[float32]
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
	session, err := newSession(cfg)
	if err != nil {
		return nil, err
	}
	n := max(1, runtime.NumCPU()/cfg.Threads)
	o := &ONNX{cfg.Device, session, make(chan slot, n)}
	for range n {
		s, err := newSlot(cfg.Jobs)
		o.slots <- s
		if err != nil {
			close(o.slots)
			for made := range o.slots {
				err = errors.Join(err, made.destroy())
			}
			return nil, errors.Join(err, session.Destroy())
		}
	}
	return o, nil
}

// Close waits for running tiles, then frees the network. Call it once.
func (o *ONNX) Close() error {
	var errs []error
	for range cap(o.slots) {
		errs = append(errs, (<-o.slots).destroy())
	}
	return errors.Join(append(errs, o.session.Destroy())...)
}

// Run implements [Runner].
func (o *ONNX) Run(ctx context.Context, shape Shape, in, out []float32) error {
	var s slot
	select {
	case <-ctx.Done():
		return ctx.Err()
	case s = <-o.slots:
	}
	defer func() { o.slots <- s }()
	if err := ctx.Err(); err != nil {
		return err
	}
	t, ok := s[shape]
	if !ok {
		return fmt.Errorf("pictures of %d×%d are not known", shape.W, shape.H)
	}
	inputs := make([]ort.Value, len(t.in))
	for i, tensor := range t.in {
		inputs[i] = tensor
		in = in[copy(tensor.GetData(), in):]
	}
	if err := o.session.Run(inputs, []ort.Value{t.out}); err != nil {
		return fmt.Errorf("running the network: %w", err)
	}
	copy(out, t.out.GetData())
	return nil
}

// Device is "cpu" or "cuda".
func (o *ONNX) Device() string { return o.device }

// LibraryVersion is the version of ONNX Runtime in use.
func LibraryVersion() string { return ort.GetVersion() }

func newSession(cfg Config) (*ort.DynamicAdvancedSession, error) {
	options, err := sessionOptions(cfg)
	if err != nil {
		return nil, err
	}
	defer func() { _ = options.Destroy() }()
	session, err := ort.NewDynamicAdvancedSessionWithONNXData(
		cfg.Model, cfg.Inputs, []string{cfg.Output}, options,
	)
	if err != nil {
		return nil, fmt.Errorf("%w: loading the network: %w", ErrDevice, err)
	}
	return session, nil
}

// newSlot makes the tensors of one tile. With an error it is what was made so far.
func newSlot(jobs []Job) (slot, error) {
	s := slot{}
	for _, job := range jobs {
		t := &tensors{}
		s[job.Shape] = t
		var err error
		for _, dimensions := range job.In {
			tensor, err := ort.NewEmptyTensor[float32](dimensions)
			if err != nil {
				return s, err
			}
			t.in = append(t.in, tensor)
		}
		if t.out, err = ort.NewEmptyTensor[float32](job.Out); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (s slot) destroy() error {
	var errs []error
	for _, t := range s {
		for _, tensor := range t.in {
			errs = append(errs, tensor.Destroy())
		}
		if t.out != nil {
			errs = append(errs, t.out.Destroy())
		}
	}
	return errors.Join(errs...)
}

func sessionOptions(cfg Config) (*ort.SessionOptions, error) {
	options, err := ort.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	err = errors.Join(
		options.SetIntraOpNumThreads(cfg.Threads),
		options.SetInterOpNumThreads(1),
		options.SetExecutionMode(ort.ExecutionModeSequential),
		options.SetCpuMemArena(true),
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
		return ort.InitializeEnvironment(ort.WithLogLevelFatal())
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
