package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/build"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"unink/bench/sensitivity/tuned"
)

const module = "unink"

// instrumented is the engine with its tuned values made variable.
type instrumented struct {
	values []tuned.Value
	fixed  []fixed
	files  map[string][]byte // text of each source file that changes
}

// fixed is a value that cannot be varied.
type fixed struct {
	tuned.Value
	why string
}

// constants are those of the packages that are looked at.
type constants struct {
	fset    *token.FileSet
	exports types.Importer
	pkgs    []*sources
	found   map[string]*found // by declaration: package, file, line and name
}

type sources struct {
	path  string // import path
	files []*ast.File
	names []string // paths of the files
	info  *types.Info
}

type found struct {
	value  tuned.Value
	within bool   // another constant
	fixed  string // why it cannot be varied; empty if it can
	uses   []use
	order  int
}

// wrap is a constant expression with tuned values in it, which needs a conversion to its type.
type wrap struct {
	file     string
	from, to int
	kind     string
}

// use is an expression that names a constant.
type use struct {
	file     string
	from, to int    // bytes
	kind     string // Go type
	whole    wrap   // if it is a part of a larger constant
}

// instrument rewrites packages so that each use of a tuned value asks package tuned for it.
func instrument(packages []string) (*instrumented, error) {
	c := &constants{fset: token.NewFileSet(), found: map[string]*found{}}
	lookup, err := exportData(packages)
	if err != nil {
		return nil, err
	}
	c.exports = importer.ForCompiler(c.fset, "gc", lookup)
	for _, p := range packages {
		if err := c.load(p); err != nil {
			return nil, err
		}
	}
	for _, s := range c.pkgs {
		for _, f := range s.files {
			c.declared(s, f)
		}
	}
	for _, s := range c.pkgs {
		for i, f := range s.files {
			c.used(s, f, s.names[i])
		}
	}
	return c.rewrite()
}

// exportData finds what the compiler wrote of the packages that these import.
func exportData(packages []string) (importer.Lookup, error) {
	const format = "{{.ImportPath}} {{.Export}}"
	args := append([]string{"list", "-export", "-deps", "-f", format}, packages...)
	cmd := exec.Command("go", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[path] = file
	}
	return func(path string) (io.ReadCloser, error) { return os.Open(files[path]) }, nil
}

func (c *constants) load(path string) error {
	dir := strings.TrimPrefix(path, module+"/")
	pkg, err := build.ImportDir(dir, 0)
	if err != nil {
		return err
	}
	s := &sources{path: path, info: &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{},
		Uses: map[*ast.Ident]types.Object{},
	}}
	for _, name := range append(pkg.GoFiles, pkg.CgoFiles...) {
		name = filepath.Join(dir, name)
		f, err := parser.ParseFile(c.fset, name, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		s.files, s.names = append(s.files, f), append(s.names, name)
	}
	conf := types.Config{Importer: c.exports}
	if _, err := conf.Check(path, c.fset, s.files, s.info); err != nil {
		return err
	}
	c.pkgs = append(c.pkgs, s)
	return nil
}

// key names a constant alike in its own package and in those that import it.
func (c *constants) key(o types.Object) string {
	if o.Parent() == o.Pkg().Scope() {
		return o.Pkg().Path() + "." + o.Name()
	}
	return fmt.Sprint(c.fset.Position(o.Pos()))
}

// declared collects the constants of a file.
func (c *constants) declared(s *sources, f *ast.File) {
	within := ""
	ast.Inspect(f, func(n ast.Node) bool {
		switch d := n.(type) {
		case *ast.FuncDecl:
			within = d.Name.Name
		case *ast.GenDecl:
			if d.Tok == token.CONST && !counts(d) {
				for _, spec := range d.Specs {
					c.add(s, d, spec.(*ast.ValueSpec), within)
				}
			}
			if within != "" && s.isTop(f, d) {
				within = ""
			}
		}
		return true
	})
}

func (s *sources) isTop(f *ast.File, d *ast.GenDecl) bool {
	return slices.Contains(f.Decls, ast.Decl(d))
}

// counts says that a declaration counts with iota: its numbers are names, not amounts.
func counts(d *ast.GenDecl) (yes bool) {
	ast.Inspect(d, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		yes = yes || ok && id.Name == "iota"
		return true
	})
	return yes
}

func (c *constants) add(s *sources, d *ast.GenDecl, spec *ast.ValueSpec, within string) {
	for i, id := range spec.Names {
		o, ok := s.info.Defs[id].(*types.Const)
		if !ok || len(spec.Values) <= i {
			continue
		}
		basic, ok := o.Type().(*types.Basic)
		if !ok || basic.Info()&types.IsNumeric == 0 {
			continue
		}
		comment := spec.Comment.Text()
		for _, doc := range []*ast.CommentGroup{spec.Doc, d.Doc} {
			if comment == "" {
				comment = doc.Text()
			}
		}
		number, _ := constant.Float64Val(constant.ToFloat(o.Val()))
		v := tuned.Value{
			Package: strings.TrimPrefix(s.path, module+"/internal/"), Func: within, Name: id.Name,
			Comment: strings.Join(strings.Fields(comment), " "), Number: number,
			Integer: basic.Info()&types.IsInteger != 0,
		}
		if s.isTopDecl(o) {
			v.Func = ""
		}
		c.found[c.key(o)] = &found{value: v, order: len(c.found)}
	}
}

func (s *sources) isTopDecl(o types.Object) bool { return o.Parent() == o.Pkg().Scope() }

// used collects the uses of constants in a file, and marks constants that have to stay such.
func (c *constants) used(s *sources, f *ast.File, path string) {
	var stack []ast.Node
	ast.Inspect(f, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		stack = append(stack, n)
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		o, ok := s.info.Uses[id].(*types.Const)
		if !ok || o.Pkg() == nil {
			return true
		}
		v := c.found[c.key(o)]
		if v == nil {
			return true
		}
		var e ast.Expr = id
		if len(stack) > 1 {
			if sel, ok := stack[len(stack)-2].(*ast.SelectorExpr); ok && sel.Sel == id {
				e = sel
			}
		}
		switch why := fixedBy(stack); {
		case why == ofConstant: // which keeps it as it is
			v.within = true
			return true
		case why != "":
			v.fixed = why
			return true
		}
		whole := s.constant(stack, e)
		kind, ok := s.info.Types[whole].Type.(*types.Basic)
		if !ok {
			v.fixed = "used as a type of its own"
			return true
		}
		name := types.Default(kind).String()
		u := use{file: path, from: c.offset(e.Pos()), to: c.offset(e.End()), kind: name}
		if whole != e {
			u.kind = "float64"
			u.whole = wrap{path, c.offset(whole.Pos()), c.offset(whole.End()), name}
		}
		v.uses = append(v.uses, u)
		return true
	})
}

// constant is the whole constant expression that e is a part of: only that has the type in which it
// is used.
func (s *sources) constant(stack []ast.Node, e ast.Expr) ast.Expr {
	for i := len(stack) - 1; i >= 0; i-- {
		switch p := stack[i].(type) {
		case *ast.BinaryExpr, *ast.UnaryExpr, *ast.ParenExpr:
			if whole := p.(ast.Expr); s.info.Types[whole].Value != nil {
				e = whole
				continue
			}
			return e
		case *ast.Ident, *ast.SelectorExpr:
		default:
			return e
		}
	}
	return e
}

func (c *constants) offset(p token.Pos) int { return c.fset.Position(p).Offset }

const ofConstant = "part of another constant"

// fixedBy says why what is used there has to be a constant.
func fixedBy(stack []ast.Node) string {
	inFunc := false
	for i, n := range stack {
		switch p := n.(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			inFunc = true
		case *ast.ArrayType:
			if p.Len != nil && i+1 < len(stack) && stack[i+1] == ast.Node(p.Len) {
				return "size of an array"
			}
		case *ast.GenDecl:
			if p.Tok == token.CONST {
				return ofConstant
			}
			if p.Tok == token.VAR && !inFunc {
				return "in a table that is made once"
			}
		case *ast.KeyValueExpr:
			if i+1 < len(stack) && stack[i+1] == ast.Node(p.Key) {
				return "index of a literal"
			}
		}
	}
	return ""
}

// rewrite writes the uses anew.
func (c *constants) rewrite() (*instrumented, error) {
	all := make([]*found, 0, len(c.found))
	for _, v := range c.found {
		all = append(all, v)
	}
	slices.SortFunc(all, func(a, b *found) int { return a.order - b.order })
	out := &instrumented{files: map[string][]byte{}}
	edits, wraps := map[string][]edit{}, map[wrap]bool{}
	for _, v := range all {
		if v.fixed == "" && len(v.uses) == 0 {
			v.fixed = "not used"
			if v.within {
				v.fixed = ofConstant
			}
		}
		if v.fixed == "" && slices.Contains(arithmetic, v.value.Label()) {
			v.fixed = "arithmetic"
		}
		if v.fixed != "" {
			out.fixed = append(out.fixed, fixed{v.value, v.fixed})
			continue
		}
		for _, u := range v.uses {
			text := fmt.Sprintf("tuned.At[%s](%d)", u.kind, len(out.values))
			edits[u.file] = append(edits[u.file], edit{u.from, u.to, text})
			if u.whole.file != "" {
				wraps[u.whole] = true
			}
		}
		out.values = append(out.values, v.value)
	}
	for w := range wraps {
		edits[w.file] = append(edits[w.file], edit{w.from, w.from, w.kind + "("}, edit{w.to, w.to, ")"})
	}
	for file, list := range edits {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		out.files[file] = importing(apply(text, list))
	}
	return out, nil
}

type edit struct {
	from, to int
	text     string
}

func apply(text []byte, edits []edit) []byte {
	slices.SortFunc(edits, func(a, b edit) int {
		return cmp.Or(a.from-b.from, a.to-b.to)
	})
	var out bytes.Buffer
	at := 0
	for _, e := range edits {
		out.Write(text[at:e.from])
		out.WriteString(e.text)
		at = e.to
	}
	out.Write(text[at:])
	return out.Bytes()
}

// importing adds the import of package tuned behind the package clause, on its line, so that the
// compiler's messages name the lines of the source.
func importing(text []byte) []byte {
	at := bytes.Index(text, []byte("\npackage ")) + 1
	end := at + bytes.IndexByte(text[at:], '\n')
	line := fmt.Sprintf("; import %q", module+"/bench/sensitivity/tuned")
	return slices.Concat(text[:end], []byte(line), text[end:])
}

// overlay writes the changed files and a list of them for the compiler, and returns its path.
func (m *instrumented) overlay(dir string) (string, error) {
	replace := map[string]string{}
	m.files[filepath.Join("bench", "sensitivity", "tuned", "values.go")] = m.table()
	for file, text := range m.files {
		to := filepath.Join(dir, strings.ReplaceAll(file, string(filepath.Separator), "_"))
		if err := os.WriteFile(to, text, 0o644); err != nil {
			return "", err
		}
		from, err := filepath.Abs(file)
		if err != nil {
			return "", err
		}
		replace[from] = to
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, list, 0o644)
}

// table is a source file that has package tuned know the values.
func (m *instrumented) table() []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "package tuned\n\nfunc init() {\n\tRegister([]Value{\n")
	for _, v := range m.values {
		text := fmt.Sprintf("%#v", v)
		fmt.Fprintf(&out, "\t\t%s,\n", strings.TrimPrefix(text, "tuned.Value"))
	}
	fmt.Fprintf(&out, "\t})\n}\n")
	return out.Bytes()
}

// arithmetic are the numbers that belong to a formula or to how the machine counts, and are not
// tuned.
var arithmetic = []string{
	"raster Connected.usual",
	"raster Transpose.tile",
	"raster ResizePair.zero",
	"raster ResizePair.upper",
	"raster ResizePair.rounding",
	"raster shrinkSums.rounding",
	"raster shrinkRow.rounding",
	"raster Rows.minBand",
	"raster Upright.px",
	"raster weightBits",
	"raster phaseBits",
	"raster unitBits",
	"raster run.one",
	"raster pixel.rounding",
	"restore/measure sharpness.positive",
	"restore/orient sides",
	"restore/flatten shapes",
	"restore/flatten keys.a",
	"restore/flatten height.spans",
	"restore/flatten step.d",
	"restore/flatten size.d",
	"restore/flatten toSheet.d",
	"restore/flatten toSheet.near",
	"restore/flatten knots",
	"restore/flatten ripples",
	"restore/demoire waveCell",
	"restore/demoire ofJPEG.step",
	"restore/demoire power.windowed",
	"restore/demoire row.exact",
	"restore/segment Exposure.wanted",
	"restore/segment Unit",
	"restore/segment WorkingEm",
	"restore/highlight tintCell",
	"restore/highlight measure.all",
	"restore/strokes inkPixel",
	"restore/strokes outOfReach",
	"restore/strokes widestGap",
	"restore/strokes perStep",
	"restore/strokes onRule",
	"restore/finish paletteSize",
	"restore/finish fullLight",
	"restore/finish reach",
}
