package restore

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// In the rooms of a page's stages no name inside a function hides one of its package or an import.
func TestNoNameHidesAnother(t *testing.T) {
	for _, root := range []string{".", "../raster", "../lsq"} {
		err := filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				checkNames(t, dir)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func checkNames(t *testing.T, dir string) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	var files []*ast.File
	ofPackage := map[string]bool{}
	for _, path := range paths {
		f, err := parser.ParseFile(fset, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
		for _, d := range f.Decls {
			for _, id := range declared(d) {
				ofPackage[id.Name] = id.Name != "_"
			}
		}
	}
	for _, f := range files {
		imported := map[string]bool{}
		for _, i := range f.Imports {
			path, _ := strconv.Unquote(i.Path.Value)
			imported[path[strings.LastIndex(path, "/")+1:]] = true
		}
		for _, d := range f.Decls {
			ast.Inspect(d, func(n ast.Node) bool {
				for _, id := range inner(n) {
					if ofPackage[id.Name] || imported[id.Name] {
						t.Errorf("%s: %s hides another %s", fset.Position(id.Pos()), id.Name,
							id.Name)
					}
				}
				return true
			})
		}
	}
}

// declared is the names that a declaration gives its package.
func declared(d ast.Decl) (names []*ast.Ident) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			names = append(names, d.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			names = append(names, specified(s)...)
		}
	}
	return names
}

func specified(s ast.Spec) []*ast.Ident {
	switch s := s.(type) {
	case *ast.ValueSpec:
		return s.Names
	case *ast.TypeSpec:
		return []*ast.Ident{s.Name}
	}
	return nil
}

// inner is the names that a node gives to what is within a function.
func inner(n ast.Node) (names []*ast.Ident) {
	var given []ast.Expr
	switch n := n.(type) {
	case *ast.FuncDecl:
		if n.Recv != nil {
			names = append(names, n.Recv.List[0].Names...)
		}
	case *ast.FuncType:
		for _, list := range []*ast.FieldList{n.Params, n.Results} {
			if list != nil {
				for _, f := range list.List {
					names = append(names, f.Names...)
				}
			}
		}
	case *ast.DeclStmt:
		for _, s := range n.Decl.(*ast.GenDecl).Specs {
			names = append(names, specified(s)...)
		}
	case *ast.AssignStmt:
		if n.Tok == token.DEFINE {
			given = n.Lhs
		}
	case *ast.RangeStmt:
		if n.Tok == token.DEFINE {
			given = []ast.Expr{n.Key, n.Value}
		}
	}
	for _, e := range given {
		if id, ok := e.(*ast.Ident); ok {
			names = append(names, id)
		}
	}
	return names
}
