package sandbox

import (
	"context"
	"encoding/binary"
	"errors"
)

// Why a call failed, besides its context's error.
var (
	ErrFailed = errors.New("the module failed")
	ErrMemory = errors.New("the module needs more memory than it may have")
)

// Alloc reserves memory in the instance.
func (in *Instance) Alloc(ctx context.Context, n int) (uint32, error) {
	at, err := in.Call(ctx, "malloc", uint64(n))
	if err == nil && at == 0 {
		err = ErrMemory
	}
	return uint32(at), err
}

// Put copies data into the instance.
func (in *Instance) Put(ctx context.Context, data []byte) (uint32, error) {
	at, err := in.Alloc(ctx, len(data))
	if err == nil {
		in.Write(at, data)
	}
	return at, err
}

// Word reads 32 bits of the instance's memory.
func (in *Instance) Word(at uint32) uint32 { return binary.LittleEndian.Uint32(in.View(at, 4)) }
