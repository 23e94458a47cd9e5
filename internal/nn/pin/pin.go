// Package pin names the one version of ONNX Runtime that this program is built and tested with.
// It belongs together with the version of github.com/yalue/onnxruntime_go in go.mod.
package pin

// The npm package that carries the libraries, under the MIT licence.
const (
	Version       = "1.30.0"
	Package       = "onnxruntime-node"
	PackageSHA256 = "6e3390d6b783e7be946fad629292799da28d0b42f84856e50d2c1b0383291e75"
)

// Library is the shared library for one platform.
type Library struct {
	Path   string // in the npm package's archive
	SHA256 string // of the library, in hex
}

// Libraries are the supported platforms, by GOOS-GOARCH.
var Libraries = map[string]Library{
	"linux-amd64": {
		"package/bin/napi-v6/linux/x64/libonnxruntime.so.1",
		"ffb75a925ba05e47b235bb66e3e3911714a80b328a9c9425539feb204aa32a23",
	},
	"linux-arm64": {
		"package/bin/napi-v6/linux/arm64/libonnxruntime.so.1",
		"1f549d46250b005580b597f4164984aaf75b3bcb9f3aeb07c7f8a8fe60b23c76",
	},
	"darwin-arm64": {
		"package/bin/napi-v6/darwin/arm64/libonnxruntime.1.dylib",
		"685d2be5dba1309c89d3a5324b7fd06a5c42f1a61bfea32d14c4cc28d072121d",
	},
}
