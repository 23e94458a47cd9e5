// Package tuned holds the engine's tuned values while they are measured: the instrumented build
// asks it for each of them, wherever it is used.
package tuned

import "math"

// Value is a named number of the engine.
type Value struct {
	Package string // of the engine, such as restore/ink
	Func    string // in which it is declared, if it is in one
	Name    string
	Comment string
	Number  float64
	Integer bool
}

// Label names a value as nothing else is named.
func (v Value) Label() string {
	if v.Func == "" {
		return v.Package + " " + v.Name
	}
	return v.Package + " " + v.Func + "." + v.Name
}

// Used are the values that were asked for since it was last cleared. Goroutines set the same
// elements to true and nothing else, so that it needs no lock.
var Used []bool

var (
	values  []Value
	numbers []float64
)

// Register sets the values up, each with its own number.
func Register(all []Value) {
	values, numbers, Used = all, make([]float64, len(all)), make([]bool, len(all))
	for i, v := range all {
		numbers[i] = v.Number
	}
}

// All are the values, by their index.
func All() []Value { return values }

// At is a value's number now.
func At[T ~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 |
	~float32 | ~float64](i int) T {
	Used[i] = true
	return T(numbers[i])
}

// Multiply changes a value by a factor, an integer by one at least. Nothing may be running.
func Multiply(i int, factor float64) {
	v := values[i]
	numbers[i] = v.Number * factor
	if v.Integer {
		up := math.Copysign(1, (factor-1)*v.Number)
		numbers[i] = math.Round(numbers[i])
		if numbers[i] == v.Number {
			numbers[i] += up
		}
	}
}

// Reset gives a value its own number again.
func Reset(i int) { numbers[i] = values[i].Number }
