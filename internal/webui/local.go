package webui

import "regexp"

// localForm is that of [Local]; src/local.ts has the same.
var localForm = regexp.MustCompile(
	`^/(?:[\w-][\w.-]*(?:/[\w-][\w.-]*)*)?(?:\?[\w.~%&=+-]*)?$`,
)

// Local reports whether an address is one of this site's pages, to which a visitor may be sent:
// names between single slashes, none of which begins with a dot, and perhaps a query. Browsers read
// many other addresses as another site's, such as //evil.example, /\evil.example and, once they
// have resolved the dot, /.//evil.example.
func Local(address string) bool { return localForm.MatchString(address) }
