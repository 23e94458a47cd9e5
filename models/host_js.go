package models

import "unink/internal/host"

// network is a network's ONNX file, which the program's host loads.
func network(name string) ([]byte, error) { return host.File(name + ".onnx") }
