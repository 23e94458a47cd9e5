package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"unink/bench/sensitivity/result"
	"unink/bench/sensitivity/tuned"
)

// notable is the least change of a figure that is told: of a per cent, a decibel or a pixel.
const notable = 0.05

// figures in the order in which they are told.
var figures = []string{"left", "seen", "lost", "hurt", "rules", "psnr", "shift", "upright"}

// effect is what a value does.
type effect struct {
	tuned.Value
	lines [2]result.Line // for each of the factors
	plain map[string]float64
}

// print prints a table for each package, of the values that change a figure by as much as is told,
// and names the others.
func (m *instrumented) print(lines []result.Line) {
	effects := make([]effect, len(m.values))
	var plain map[string]float64
	for _, l := range lines {
		if l.Value == "" {
			plain = l.Figures
		}
	}
	for i, v := range m.values {
		effects[i] = effect{Value: v, plain: plain}
		for _, l := range lines {
			if l.Value == v.Label() {
				effects[i].lines[slices.Index(result.Factors, l.Factor)] = l
			}
		}
	}
	fmt.Println("As it is:", told(plain, nil))
	for _, name := range engine {
		name = strings.TrimPrefix(name, module+"/internal/")
		printPackage(name, effects)
	}
}

func printPackage(name string, effects []effect) {
	var large []effect
	var little, nothing, unused []string
	for _, e := range effects {
		switch {
		case e.Package != name:
		case e.largest() >= notable || e.failed():
			large = append(large, e)
		case e.moved():
			little = append(little, e.short())
		case e.lines[0].Used > 0:
			nothing = append(nothing, e.short())
		default:
			unused = append(unused, e.short())
		}
	}
	n := len(large) + len(little) + len(nothing) + len(unused)
	if n == 0 {
		return
	}
	fmt.Printf("\n### %s\n\n", name)
	if len(large) > 0 {
		fmt.Printf("| Value | | What it is | ×0.8 | ×1.2 |\n|---|---|---|---|---|\n")
	}
	slices.SortStableFunc(large, func(a, b effect) int {
		return cmp.Compare(b.largest(), a.largest())
	})
	for _, e := range large {
		fmt.Printf("| `%s` | %.4g | %s | %s | %s |\n", e.short(), e.Number, e.Comment,
			e.tell(0), e.tell(1))
	}
	if len(large) > 0 {
		fmt.Println()
	}
	fmt.Printf("%d values, of which %d change a figure by %v or more.", n, len(large), notable)
	for _, rest := range []struct {
		which string
		names []string
	}{{"By less", little}, {"Used, and no page changes", nothing}, {"Not used", unused}} {
		if len(rest.names) > 0 {
			fmt.Printf(" %s: %s.", rest.which, strings.Join(rest.names, ", "))
		}
	}
	fmt.Println()
}

func (e effect) short() string {
	return strings.TrimPrefix(e.Label(), e.Package+" ")
}

func (e effect) moved() bool { return e.lines[0].Moved+e.lines[1].Moved > 0 }

func (e effect) failed() bool { return e.lines[0].Failed+e.lines[1].Failed != "" }

func (e effect) largest() (most float64) {
	for _, l := range e.lines {
		for name, v := range l.Figures {
			most = max(most, math.Abs(v-e.plain[name]))
		}
	}
	return most
}

// tell says what one of the factors does.
func (e effect) tell(i int) string {
	if e.lines[i].Failed != "" {
		return "fails"
	}
	return told(e.lines[i].Figures, e.plain)
}

// told are figures, or how far they are from others.
func told(values, from map[string]float64) string {
	var out []string
	for _, name := range figures {
		switch v, ok := values[name]; {
		case !ok:
		case from == nil:
			out = append(out, fmt.Sprintf("%s %.2f", name, v))
		case math.Abs(v-from[name]) >= notable/10:
			out = append(out, strings.ReplaceAll(fmt.Sprintf("%s %+.2f", name, v-from[name]), "-", "−"))
		}
	}
	return strings.Join(out, ", ")
}
