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

// arithmetic are the numbers that belong to a formula or to how the machine counts, and the sizes
// of cells that others depend on. They are not tuned one by one.
var arithmetic = []string{
	"raster Connected.usual",
	"raster transpose.tile",
	"raster ResizePair.zero",
	"raster ResizePair.upper",
	"raster Rows.minBand",
	"raster Upright.px",
	"raster weightBits",
	"raster weightHalf",
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
	"restore/finish colourBinOf.drop",
	"restore/finish ratioOfBin.most",
	"restore/finish within.n",
}

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

// engineConstants are the constants of the packages that are looked at.
type engineConstants struct {
	fset     *token.FileSet
	importer types.Importer
	packages []*sources
	list     []*found
	byKey    map[string]*found
}

type sources struct {
	path  string // import path
	files map[string]*ast.File
	info  *types.Info
}

// found is a constant and where it is used.
type found struct {
	value tuned.Value
	fixed string // why it cannot be varied; empty if it can
	uses  []use
}

// use is an expression that names a constant.
type use struct {
	span
	whole span // the constant expression that it is a part of, if it is part of one
}

// span is a part of a source file, in bytes, and the type of Go that it has.
type span struct {
	file     string
	from, to int
	kind     string
}

// instrument rewrites packages so that each use of a tuned value asks package tuned for it.
func instrument(packages []string) (*instrumented, error) {
	lookup, err := exportData(packages)
	if err != nil {
		return nil, err
	}
	c := &engineConstants{fset: token.NewFileSet(), byKey: map[string]*found{}}
	c.importer = importer.ForCompiler(c.fset, "gc", lookup)
	for _, path := range packages {
		s, err := c.load(path)
		if err != nil {
			return nil, err
		}
		c.packages = append(c.packages, s)
		for _, name := range sorted(s.files) {
			c.findDeclared(s, s.files[name])
		}
	}
	for _, s := range c.packages {
		for _, name := range sorted(s.files) {
			c.findUses(s, name)
		}
	}
	return c.rewrite()
}

func sorted[V any](m map[string]V) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
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

// load parses a package and finds the type of every expression in it.
func (c *engineConstants) load(path string) (*sources, error) {
	dir := strings.TrimPrefix(path, module+"/")
	pkg, err := build.ImportDir(dir, 0)
	if err != nil {
		return nil, err
	}
	s := &sources{path: path, files: map[string]*ast.File{}, info: &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{},
		Uses: map[*ast.Ident]types.Object{},
	}}
	var files []*ast.File
	for _, name := range pkg.GoFiles {
		name = filepath.Join(dir, name)
		f, err := parser.ParseFile(c.fset, name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		s.files[name], files = f, append(files, f)
	}
	conf := types.Config{Importer: c.importer}
	_, err = conf.Check(path, c.fset, files, s.info)
	return s, err
}

// findDeclared collects the constants that a file declares.
func (c *engineConstants) findDeclared(s *sources, f *ast.File) {
	for _, top := range f.Decls {
		within := ""
		if fn, ok := top.(*ast.FuncDecl); ok {
			within = fn.Name.Name
		}
		ast.Inspect(top, func(n ast.Node) bool {
			if d, ok := n.(*ast.GenDecl); ok && d.Tok == token.CONST && !counts(d) {
				for _, spec := range d.Specs {
					c.add(s, d, spec.(*ast.ValueSpec), within)
				}
			}
			return true
		})
	}
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

// add takes in the constants of a line of a declaration.
func (c *engineConstants) add(s *sources, d *ast.GenDecl, spec *ast.ValueSpec, within string) {
	for i, id := range spec.Names {
		o, ok := s.info.Defs[id].(*types.Const)
		if !ok {
			continue
		}
		basic, ok := o.Type().(*types.Basic)
		if !ok || basic.Info()&types.IsNumeric == 0 {
			continue
		}
		number, _ := constant.Float64Val(constant.ToFloat(o.Val()))
		f := &found{value: tuned.Value{
			Package: strings.TrimPrefix(s.path, module+"/internal/"), Func: within, Name: id.Name,
			Comment: comment(d, spec, i), Number: number,
			Integer: basic.Info()&types.IsInteger != 0,
		}}
		c.list, c.byKey[c.key(o)] = append(c.list, f), f
	}
}

// comment is what is said of the i-th constant of a line: each may have its part, between
// semicolons.
func comment(d *ast.GenDecl, spec *ast.ValueSpec, i int) string {
	text := ""
	for _, g := range []*ast.CommentGroup{spec.Comment, spec.Doc, d.Doc} {
		if text == "" {
			text = strings.Join(strings.Fields(g.Text()), " ")
		}
	}
	parts := strings.Split(text, ";")
	if len(spec.Names) > 1 && len(parts) == len(spec.Names) {
		text = strings.TrimSpace(parts[i])
	}
	return text
}

// key names a constant alike in its own package and in those that import it.
func (c *engineConstants) key(o types.Object) string {
	if o.Parent() == o.Pkg().Scope() {
		return o.Pkg().Path() + "." + o.Name()
	}
	return fmt.Sprint(c.fset.Position(o.Pos()))
}

// findUses collects the uses of constants in a file, and notes which have to stay constant.
func (c *engineConstants) findUses(s *sources, path string) {
	var stack []ast.Node
	ast.Inspect(s.files[path], func(n ast.Node) bool {
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
		if !ok || o.Pkg() == nil || c.byKey[c.key(o)] == nil {
			return true
		}
		f, e := c.byKey[c.key(o)], ast.Expr(id)
		if sel, ok := stack[len(stack)-2].(*ast.SelectorExpr); ok && sel.Sel == id {
			e = sel
		}
		switch why := fixedBy(stack); why {
		case "":
			f.uses = append(f.uses, c.use(s, stack, e, path))
		case ofConstant: // which keeps it as it is; other uses may vary
			f.fixed = cmp.Or(f.fixed, why)
		default:
			f.fixed = why
		}
		return true
	})
}

const ofConstant = "part of another constant"

// fixedBy says why what is used there has to be a constant.
func fixedBy(stack []ast.Node) string {
	inFunc := false
	for i, n := range stack[:len(stack)-1] {
		switch p := n.(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			inFunc = true
		case *ast.ArrayType:
			if stack[i+1] == ast.Node(p.Len) {
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
			if stack[i+1] == ast.Node(p.Key) {
				return "index of a literal"
			}
		}
	}
	return ""
}

func (c *engineConstants) use(s *sources, stack []ast.Node, e ast.Expr, path string) (u use) {
	at := func(e ast.Expr) span {
		kind := types.Default(s.info.Types[e].Type).String()
		return span{path, c.fset.Position(e.Pos()).Offset, c.fset.Position(e.End()).Offset, kind}
	}
	u.span = at(e)
	if whole := s.constant(stack, e); whole != e {
		u.whole, u.kind = at(whole), "float64"
	}
	return u
}

// constant is the whole constant expression that e is a part of: only that has the type in which it
// is used.
func (s *sources) constant(stack []ast.Node, e ast.Expr) ast.Expr {
	for i := len(stack) - 1; i >= 0; i-- {
		switch p := stack[i].(type) {
		case *ast.BinaryExpr, *ast.UnaryExpr, *ast.ParenExpr:
			whole := p.(ast.Expr)
			if s.info.Types[whole].Value == nil {
				return e
			}
			e = whole
		case *ast.Ident, *ast.SelectorExpr:
		default:
			return e
		}
	}
	return e
}

// rewrite writes the uses anew.
func (c *engineConstants) rewrite() (*instrumented, error) {
	out := &instrumented{files: map[string][]byte{}}
	edits, wholes := map[string][]edit{}, map[span]bool{}
	for _, f := range c.list {
		switch {
		case slices.Contains(arithmetic, f.value.Label()):
			f.fixed = "arithmetic"
		case len(f.uses) == 0:
			f.fixed = cmp.Or(f.fixed, "not used")
		case f.fixed == ofConstant:
			f.fixed = ""
		}
		if f.fixed != "" {
			out.fixed = append(out.fixed, fixed{f.value, f.fixed})
			continue
		}
		for _, u := range f.uses {
			text := fmt.Sprintf("tuned.At[%s](%d)", u.kind, len(out.values))
			edits[u.file] = append(edits[u.file], edit{u.from, u.to, text})
			if u.whole.file != "" {
				wholes[u.whole] = true
			}
		}
		out.values = append(out.values, f.value)
	}
	for w := range wholes {
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

// edit puts a text in the place of another.
type edit struct {
	from, to int
	text     string
}

func apply(text []byte, edits []edit) []byte {
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Or(a.from-b.from, a.to-b.to) })
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
	at := bytes.Index(append([]byte("\n"), text...), []byte("\npackage "))
	end := at + bytes.IndexByte(text[at:], '\n')
	line := fmt.Sprintf("; import %q", module+"/bench/sensitivity/tuned")
	return slices.Concat(text[:end], []byte(line), text[end:])
}

// overlay writes the changed files and a list of them for the compiler, and returns its path.
func (m *instrumented) overlay(dir string) (string, error) {
	m.files[filepath.Join("bench", "sensitivity", "tuned", "values.go")] = m.table()
	replace := map[string]string{}
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
	fmt.Fprint(&out, "package tuned\n\nfunc init() {\n\tRegister([]Value{\n")
	for _, v := range m.values {
		fmt.Fprintf(&out, "\t\t%s,\n", strings.TrimPrefix(fmt.Sprintf("%#v", v), "tuned.Value"))
	}
	fmt.Fprint(&out, "\t})\n}\n")
	return out.Bytes()
}
