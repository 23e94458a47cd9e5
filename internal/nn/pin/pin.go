// Package pin names the one version of ONNX Runtime that this program is built and tested with.
// It belongs together with the version of github.com/yalue/onnxruntime_go in go.mod.
package pin

// The package of PyPI whose wheels carry the libraries, under the MIT licence. In the npm package
// onnxruntime-node those for amd64 and macOS are a third to a half larger, for WebGPU.
const (
	Version = "1.30.0"
	Package = "onnxruntime"
)

// Library is the shared library for one platform.
type Library struct {
	Platform    string // as the wheel calls it
	WheelSHA256 string // in hex
	Path        string // in the wheel
	SHA256      string // of the library, in hex

	// AbsoluteSHA256 is of the library as it is embedded where that is not as it is, but smaller
	// when it is compressed, by x86.Absolute.
	AbsoluteSHA256 string
}

// Libraries are the supported platforms, by GOOS-GOARCH.
var Libraries = map[string]Library{
	"linux-amd64": {
		Platform:       "manylinux_2_28_x86_64",
		WheelSHA256:    "fd54b314ea385bcecac69ab431f020ba503e3878dad4ebb645fec5a24b041242",
		Path:           "onnxruntime/capi/libonnxruntime.so.1.30.0",
		SHA256:         "c902c70b3003c0e99fada202f37478c515ae9bba7944c2b2abd0017bae0c82ed",
		AbsoluteSHA256: "c7f3aa350fa1e62ac89def2968e205729b5bb07d46f0b3af822f31a2218b9b06",
	},
	"linux-arm64": {
		Platform:    "manylinux_2_28_aarch64",
		WheelSHA256: "bac3aee7b40acd805659fd81a2acd6096312d5b0f014c97ddfe75fb4c1644627",
		Path:        "onnxruntime/capi/libonnxruntime.so.1.30.0",
		SHA256:      "8a218e1e446880131115c368ec7005969a5022af9a15a26173de648fef0b7789",
	},
	"darwin-arm64": {
		Platform:    "macosx_14_0_arm64",
		WheelSHA256: "f36c87ec504f4f328e968ee322e4ba9682abe66280b3425625afcbed5333fed7",
		Path:        "onnxruntime/capi/libonnxruntime.1.30.0.dylib",
		SHA256:      "8f54aa3989f2d4b2f9fbe8af298b1c147978ec899a8c28e20d0d35edc0005027",
	},
}
