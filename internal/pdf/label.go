package pdf

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
)

// Labels are the pages' names as viewers show them, such as iv; nil where the document has none.
func (d *Document) Labels(ctx context.Context) (labels []string, err error) {
	err = d.with(ctx, func(ctx context.Context, g *guest) error {
		for n := range d.pages {
			label, ok, err := g.label(ctx, n)
			if err != nil || !ok {
				return err
			}
			labels = append(labels, label)
		}
		return nil
	})
	return labels, err
}

func (d *Document) labelsOf(ctx context.Context, pages []Page) ([]string, error) {
	all, err := d.Labels(ctx)
	if err != nil || all == nil {
		return nil, err
	}
	labels := make([]string, len(pages))
	for i, p := range pages {
		labels[i] = all[p.Original]
	}
	return labels, nil
}

// label is a page's; it is not ok in a document without labels.
func (g *guest) label(ctx context.Context, n int) (label string, ok bool, err error) {
	size, err := g.Call(ctx, "FPDF_GetPageLabel", g.document, uint64(n), 0, 0)
	if err != nil || size < 2 {
		return "", false, err
	}
	out, err := g.Alloc(ctx, int(size))
	if err != nil {
		return "", false, err
	}
	if _, err := g.Call(ctx, "FPDF_GetPageLabel", g.document, uint64(n), uint64(out),
		size); err != nil {
		return "", false, err
	}
	units := make([]uint16, size/2-1) // without the zero at the end
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(g.View(out+2*uint32(i), 2))
	}
	_, err = g.Call(ctx, "free", uint64(out))
	return string(utf16.Decode(units)), true, err
}

var (
	rootPattern = regexp.MustCompile(`/Root (\d+) 0 R`)
	// tokenPattern is a string, a name, an end of a dictionary or an array, or a byte of what else
	// there is.
	tokenPattern = regexp.MustCompile(
		`(?s)\((?:\\.|[^\\()])*\)|<<|>>|<[^<>]*>|/[^\s/<>\[\]()]*|\S`,
	)
)

// relabel writes the catalog anew, with these labels of the pages: each begins a range. A catalog
// that it cannot read stays as it is: wrong labels are better than no document.
func (w *writer) relabel(file []byte, t trailer, labels []string) {
	number, catalog := t.catalog(file)
	before, after, ok := around(catalog, "/PageLabels")
	if !ok {
		return
	}
	w.objects = append(w.objects, object{number, w.at})
	w.print("%d 0 obj\n%s/PageLabels << /Nums [", number, before)
	for i, label := range labels {
		w.print(" %d << /P %s >>", i, textString(label))
	}
	w.print(" ] >> %s\nendobj\n", after)
}

// textString is text as PDF writes it: as it is where it is plain, since some viewers show nothing
// else rightly, and otherwise in UTF-16.
func textString(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
		return "(" + strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`).Replace(text) + ")"
	}
	out := "<FEFF"
	for _, unit := range utf16.Encode([]rune(text)) {
		out += fmt.Sprintf("%04X", unit)
	}
	return out + ">"
}

// catalog is the number of the document's catalog, and the file from where that begins; nil where
// it is not found.
func (t trailer) catalog(file []byte) (number int, content []byte) {
	root := rootPattern.FindSubmatch(t.entries)
	if root == nil {
		return 0, nil
	}
	number, _ = strconv.Atoi(string(root[1])) // of digits
	head := fmt.Appendf(nil, "\n%d 0 obj", number)
	for rest := file; ; {
		_, after, found := bytes.Cut(rest, head)
		if !found {
			return 0, nil
		}
		// What a stream holds may look like it.
		at := len(file) - len(after) - len(head) + len("\n")
		if bytes.Contains(t.table, fmt.Appendf(nil, "\n%010d 00000 n", at)) {
			return number, after
		}
		rest = after
	}
}

// around is what stands in a dictionary before and after an entry. It is not ok without one.
func around(dictionary []byte, key string) (before, after []byte, ok bool) {
	depth, from, to := 0, 0, 0
	for i := 0; ; {
		at := tokenPattern.FindIndex(dictionary[i:])
		if at == nil {
			return nil, nil, false
		}
		start := i + at[0]
		i += at[1]
		token := string(dictionary[start:i])
		if depth == 1 && from > 0 && to == 0 && (token[0] == '/' || token == ">>") {
			to = start
		}
		switch {
		case depth == 1 && token == key:
			from = start
		case token == "<<" || token == "[":
			depth++
		case token == ">>" || token == "]":
			depth--
		}
		if depth == 0 {
			return dictionary[:from], dictionary[to:i], from > 0
		}
	}
}
