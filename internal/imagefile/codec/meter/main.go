// Command meter makes a WebAssembly module interruptible: every turn of every loop uses up one
// unit of a budget, and when that is empty the module calls its host, as function "host.pause",
// which may let others run, or end it.
//
// Without it a goroutine that runs the module cannot be stopped by Go's scheduler: a garbage
// collection would hold up the whole program until the module returns, and forever when hostile
// data keeps it in a loop. wazero's own remedy, WithCloseOnContextDone, makes decoding four times
// slower.
//
//	go run ./internal/imagefile/codec/meter < module.wasm.gz > metered.wasm.gz
package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"os"
)

// budget is how many turns of loops there are between two pauses: about a millisecond's.
const budget = 1 << 19

func main() {
	log.SetFlags(0)
	z, err := gzip.NewReader(bufio.NewReader(os.Stdin))
	if err != nil {
		log.Fatal(err)
	}
	module, err := io.ReadAll(z)
	if err != nil {
		log.Fatal(err)
	}
	out, err := gzip.NewWriterLevel(os.Stdout, gzip.BestCompression)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := out.Write(meter(module)); err != nil {
		log.Fatal(err)
	}
	if err := out.Close(); err != nil {
		log.Fatal(err)
	}
}

// Sections of a module that matter here.
const (
	custom, types, imports, globals, exports, start, elements, code = 0, 1, 2, 6, 7, 8, 9, 10
)

// rewriter copies a module while it changes it. A module that is not understood ends the program.
type rewriter struct {
	in  *bytes.Reader
	out *bytes.Buffer

	types     uint64 // how many there were: the index of the one added
	functions uint64 // how many are imported: the index of the one added
	globals   uint64 // how many there were: the index of the one added
}

func meter(module []byte) []byte {
	if !bytes.HasPrefix(module, []byte("\x00asm\x01\x00\x00\x00")) {
		log.Fatal("this is not a WebAssembly module of version 1")
	}
	var out bytes.Buffer
	out.Write(module[:8])
	w := rewriter{in: bytes.NewReader(module[8:])}
	for w.in.Len() > 0 {
		id, body := w.byte(), w.bytes(w.uint())
		if id == custom { // names and the like
			continue
		}
		out.WriteByte(id)
		body = w.section(id, body)
		out.Write(binary.AppendUvarint(nil, uint64(len(body))))
		out.Write(body)
	}
	return out.Bytes()
}

func (w *rewriter) section(id byte, body []byte) []byte {
	outer := *w
	w.in, w.out = bytes.NewReader(body), &bytes.Buffer{}
	switch id {
	case types:
		w.types = w.count(1)
		w.rest()
		w.out.WriteString("\x60\x00\x00") // no parameters, no results
	case imports:
		n := w.count(1)
		for range n {
			w.copyBytes()
			w.copyBytes()
			if kind := w.copyByte(); kind != 0 {
				log.Fatalf("an import of kind %d; only functions are understood", kind)
			}
			w.copyUint()
		}
		w.functions = n
		w.out.WriteString("\x04host\x05pause\x00")
		w.putUint(w.types)
	case globals:
		w.globals = w.count(1)
		w.rest()
		w.out.Write([]byte{0x7f, 1, i32Const}) // a variable i32
		w.putInt(budget)
		w.out.WriteByte(end)
	case exports:
		for range w.count(0) {
			w.copyBytes()
			if w.copyByte() == 0 {
				w.copyFunction()
			} else {
				w.copyUint()
			}
		}
	case start:
		w.copyFunction()
	case elements:
		for range w.count(0) {
			if kind := w.copyUint(); kind != 0 {
				log.Fatalf("elements of kind %d; only tables of functions are understood", kind)
			}
			w.expression()
			for range w.count(0) {
				w.copyFunction()
			}
		}
	case code:
		for range w.count(0) {
			w.function(w.bytes(w.uint()))
		}
	default:
		w.rest()
	}
	if w.in.Len() > 0 {
		log.Fatalf("section %d is not understood", id)
	}
	changed := w.out.Bytes()
	w.in, w.out = outer.in, outer.out
	return changed
}

func (w *rewriter) function(body []byte) {
	outer := *w
	w.in, w.out = bytes.NewReader(body), &bytes.Buffer{}
	for range w.count(0) { // locals
		w.copyUint()
		w.copyByte()
	}
	w.expression()
	changed := w.out.Bytes()
	w.in, w.out = outer.in, outer.out
	w.putUint(uint64(len(changed)))
	w.out.Write(changed)
}

// operands says what follows each instruction: u and s are numbers without and with a sign, f is
// a function, b a byte, 4 and 8 so many bytes, t the targets of br_table, l a list of bytes, x an
// instruction of the second table. What is not there is not understood.
var operands = func() (o [256]string) {
	fill := func(first, last int, kinds string) {
		for op := first; op <= last; op++ {
			o[op] = kinds
		}
	}
	const none = "-"
	fill(0x00, 0x01, none)    // unreachable, nop
	fill(block, branch, "s")  // the type of a block
	fill(0x05, 0x05, none)    // else
	fill(end, end, none)      // itself
	fill(0x0c, 0x0d, "u")     // br, br_if
	fill(0x0e, 0x0e, "t")     // br_table
	fill(0x0f, 0x0f, none)    // return
	fill(call, call, "f")     // itself
	fill(0x11, 0x11, "uu")    // call_indirect
	fill(0x1a, 0x1b, none)    // drop, select
	fill(0x1c, 0x1c, "l")     // select with types
	fill(0x20, 0x26, "u")     // variables and tables
	fill(0x28, 0x3e, "uu")    // loads and stores
	fill(0x3f, 0x40, "u")     // memory.size, memory.grow
	fill(i32Const, 0x42, "s") // and i64.const
	fill(0x43, 0x43, "4")     // f32.const
	fill(0x44, 0x44, "8")     // f64.const
	fill(i32Eqz, 0xc4, none)  // arithmetic
	fill(0xd0, 0xd0, "b")     // ref.null
	fill(0xd1, 0xd1, none)    // ref.is_null
	fill(0xd2, 0xd2, "f")     // ref.func
	fill(0xfc, 0xfc, "x")     // see extended
	return o
}()

// Instructions that are looked at or written.
const (
	block, loop, branch  = 0x02, 0x03, 0x04
	end, call            = 0x0b, 0x10
	globalGet, globalSet = 0x23, 0x24
	i32Const             = 0x41
	i32Eqz, i32Sub       = 0x45, 0x6b
	noResult             = 0x40
)

// expression copies instructions up to the end that closes them.
func (w *rewriter) expression() {
	for depth := 1; depth > 0; {
		op := w.copyByte()
		if operands[op] == "" {
			log.Fatalf("instruction %#x is not understood", op)
		}
		for _, kind := range operands[op] {
			w.operand(kind)
		}
		switch op {
		case block, branch:
			depth++
		case loop:
			depth++
			w.pay()
		case end:
			depth--
		}
	}
}

func (w *rewriter) operand(kind rune) {
	switch kind {
	case 'u':
		w.copyUint()
	case 's':
		w.copyInt()
	case 'f':
		w.copyFunction()
	case 'b':
		w.copyByte()
	case '4', '8':
		w.out.Write(w.bytes(uint64(kind - '0')))
	case 't':
		for range w.count(0) + 1 {
			w.copyUint()
		}
	case 'l':
		w.copyBytes()
	case 'x':
		w.extended()
	}
}

// extended copies what follows the prefix 0xfc: saturating conversions, and work on whole stretches
// of memories and tables.
func (w *rewriter) extended() {
	counts := []int{0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 2, 1, 2, 1, 2, 1, 1, 1}
	op := w.copyUint()
	if op >= uint64(len(counts)) {
		log.Fatalf("instruction 0xfc %d is not understood", op)
	}
	for range counts[op] {
		w.copyUint()
	}
}

// pay writes: if budget == 0 { budget = full; pause() }; budget--
func (w *rewriter) pay() {
	write := func(op byte, index uint64) {
		w.out.WriteByte(op)
		w.putUint(index)
	}
	write(globalGet, w.globals)
	w.out.Write([]byte{i32Eqz, branch, noResult, i32Const})
	w.putInt(budget)
	write(globalSet, w.globals)
	write(call, w.functions)
	w.out.WriteByte(end)
	write(globalGet, w.globals)
	w.out.Write([]byte{i32Const, 1, i32Sub})
	write(globalSet, w.globals)
}

// copyFunction copies a function's index. The import that was added comes before all others
// that are no imports.
func (w *rewriter) copyFunction() {
	i := w.uint()
	if i >= w.functions {
		i++
	}
	w.putUint(i)
}

// count copies a count, increased by more, and returns it as it was.
func (w *rewriter) count(more uint64) uint64 {
	n := w.uint()
	w.putUint(n + more)
	return n
}

func (w *rewriter) rest() { w.out.Write(w.bytes(uint64(w.in.Len()))) }

func (w *rewriter) copyBytes() {
	n := w.uint()
	w.putUint(n)
	w.out.Write(w.bytes(n))
}

func (w *rewriter) copyByte() byte {
	b := w.byte()
	w.out.WriteByte(b)
	return b
}

func (w *rewriter) copyUint() uint64 {
	v := w.uint()
	w.putUint(v)
	return v
}

// copyInt copies a signed number, whose encoding is not changed.
func (w *rewriter) copyInt() {
	for w.copyByte()&0x80 != 0 {
	}
}

func (w *rewriter) putUint(v uint64) { w.out.Write(binary.AppendUvarint(nil, v)) }

// putInt writes a number that is not negative as a signed one.
func (w *rewriter) putInt(v uint64) {
	for ; v >= 0x40; v >>= 7 {
		w.out.WriteByte(byte(v) | 0x80)
	}
	w.out.WriteByte(byte(v))
}

func (w *rewriter) uint() uint64 {
	v, err := binary.ReadUvarint(w.in)
	if err != nil {
		log.Fatal(fmt.Errorf("the module is cut short: %w", err))
	}
	return v
}

func (w *rewriter) byte() byte { return w.bytes(1)[0] }

func (w *rewriter) bytes(n uint64) []byte {
	b := make([]byte, n)
	if _, err := io.ReadFull(w.in, b); err != nil {
		log.Fatal(fmt.Errorf("the module is cut short: %w", err))
	}
	return b
}
