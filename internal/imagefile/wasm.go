package imagefile

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"unink/internal/imagefile/codec"
	"unink/internal/sandbox"
)

// Decoders of the formats that Go does not read, or reads only in part.
var (
	heifDecoder = compileOnce("heif")
	avifDecoder = compileOnce("avif")
	tiffCodec   = compileOnce("tiff")
)

// decodeTime bounds a decoder that hostile data keeps busy; 50 megapixels take a tenth of it.
const decodeTime = 2 * time.Minute

var (
	errGuestFailed = problem("the decoder failed")
	errGuestMemory = problem("it does not fit into the memory that its size allows")
	errGuestTime   = problem(fmt.Sprintf("it is not decoded after %v", decodeTime))
)

// decoder is a compiled module.
type decoder struct{ sandbox.Module }

// compileOnce compiles a module when it is first needed: most programs never see such a picture.
func compileOnce(name string) func() (decoder, error) {
	return sync.OnceValues(func() (d decoder, err error) {
		wasm, err := codec.Module(name)
		if err != nil {
			return d, err
		}
		d.Module, err = sandbox.Compile(wasm, nil)
		return d, err
	})
}

// instance is one run of a decoder, for one picture.
type instance struct {
	*sandbox.Instance
	ctx    context.Context
	cancel context.CancelFunc
}

// start makes an instance that may use so many bytes of memory.
func (d decoder) start(ctx context.Context, memory int) (*instance, error) {
	in := &instance{}
	in.ctx, in.cancel = context.WithTimeout(ctx, decodeTime)
	var err error
	if in.Instance, err = d.Start(in.ctx, memory); err != nil {
		in.cancel()
		return nil, reason(err)
	}
	return in, nil
}

func (in *instance) close() {
	in.Close()
	in.cancel()
}

// call calls an exported function that has one result.
func (in *instance) call(name string, params ...uint32) (uint32, error) {
	wide := make([]uint64, len(params))
	for i, p := range params {
		wide[i] = uint64(p)
	}
	res, err := in.Call(in.ctx, name, wide...)
	return uint32(res), reason(err)
}

// reason is a failure in the words of a picture.
func reason(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sandbox.ErrMemory):
		return errGuestMemory
	case errors.Is(err, sandbox.ErrFailed):
		return errGuestFailed
	}
	return errGuestTime
}

// alloc reserves memory in the instance.
func (in *instance) alloc(n int) (uint32, error) {
	at, err := in.Alloc(in.ctx, n)
	return at, reason(err)
}

// put copies data into the instance.
func (in *instance) put(data []byte) (uint32, error) {
	at, err := in.Put(in.ctx, data)
	return at, reason(err)
}
