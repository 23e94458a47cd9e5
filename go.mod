module unink

go 1.26.8

require (
	github.com/HugoSmits86/nativewebp v0.9.3 // indirect
	github.com/alecthomas/kong v1.17.0 // indirect
	github.com/bep/imagemeta v1.0.1 // indirect
	github.com/getkin/kin-openapi v0.152.0 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/mitchellh/colorstring v0.0.0-20190213212951-d06e56a500db // indirect
	github.com/prometheus/client_golang v1.25.0 // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	github.com/rogpeppe/go-internal v1.16.0 // indirect
	github.com/schollz/progressbar/v3 v3.19.1 // indirect
	github.com/yalue/onnxruntime_go v1.27.0 // indirect
	go.uber.org/goleak v1.3.0 // indirect
	golang.org/x/image v0.47.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/term v0.47.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	pgregory.net/rapid v1.3.0 // indirect
)
