package nn

import "embed"

// The folder holds no library before "make deps": then one is named in [Config].
//
//go:embed library/darwin-arm64
var library embed.FS
