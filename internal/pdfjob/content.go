package pdfjob

import (
	"context"
	"errors"
	"io"
	"iter"
)

// content reads a part of a job, of which one piece at a time is in memory.
type content struct {
	ctx    context.Context
	store  Store
	id     string
	part   int
	size   int64
	at     int64
	piece  []byte
	loaded int // the piece's number; -1 for none
}

func (c *content) Read(p []byte) (int, error) {
	if c.at >= c.size {
		return 0, io.EOF
	}
	if n := int(c.at / PieceBytes); n != c.loaded {
		var err error
		if c.piece, err = c.store.Piece(c.ctx, c.id, c.part, n); err != nil {
			return 0, err
		}
		c.loaded = n
	}
	within := int(c.at % PieceBytes)
	if within >= len(c.piece) {
		return 0, io.ErrUnexpectedEOF
	}
	n := copy(p, c.piece[within:])
	c.at += int64(n)
	return n, nil
}

func (c *content) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += c.at
	case io.SeekEnd:
		offset += c.size
	}
	if offset < 0 {
		return 0, errors.New("pdfjob: a place before the beginning")
	}
	c.at = offset
	return offset, nil
}

// whole reads a part that is bounded otherwise.
func (s *Service) whole(ctx context.Context, id string, part int) (data []byte, err error) {
	for n := 0; ; n++ {
		piece, err := s.store.Piece(ctx, id, part, n)
		if err != nil {
			return nil, err
		}
		data = append(data, piece...)
		if len(piece) < PieceBytes {
			return data, nil
		}
	}
}

// picture reads a page's picture when it is asked for.
type picture struct {
	load func() ([]byte, error)
	left []byte
	read bool
}

func (p *picture) Read(to []byte) (int, error) {
	if !p.read {
		var err error
		if p.left, err = p.load(); err != nil {
			return 0, err
		}
		p.read = true
	}
	if len(p.left) == 0 {
		p.left = nil
		return 0, io.EOF
	}
	n := copy(to, p.left)
	p.left = p.left[n:]
	return n, nil
}

// filer writes a part piece by piece.
type filer struct {
	ctx   context.Context
	store Store
	id    string
	buf   []byte
	next  int
	size  int64
}

func (f *filer) Write(p []byte) (int, error) {
	if f.size += int64(len(p)); f.size > MaxFile {
		return 0, ErrTooLong
	}
	f.buf = append(f.buf, p...)
	for len(f.buf) >= PieceBytes {
		if err := f.flush(f.buf[:PieceBytes]); err != nil {
			return 0, err
		}
		f.buf = append(f.buf[:0], f.buf[PieceBytes:]...)
	}
	return len(p), nil
}

func (f *filer) flush(piece []byte) error {
	err := f.store.AddPiece(f.ctx, f.id, File, f.next, piece)
	f.next++
	return err
}

// close writes the last piece, which is shorter than the others, and may be empty.
func (f *filer) close() error { return f.flush(f.buf) }

// Pieces are those in which content is kept. The last is shorter than the others, and may be empty.
func Pieces(data []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for n := 0; ; n++ {
			piece := data[:min(PieceBytes, len(data))]
			data = data[len(piece):]
			if !yield(n, piece) || len(piece) < PieceBytes {
				return
			}
		}
	}
}
