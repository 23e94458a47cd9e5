// Command generate writes the options and stages into what describes them to callers: openapi.json
// and unink.d.ts. It is run by go generate ./internal/option; its test says when it has to be.
package main

import (
	"fmt"
	"os"
)

// made are the files that it makes, from internal/option, and what makes them.
var made = map[string]func(old []byte) ([]byte, error){
	"../apiref/openapi.json":  describe,
	"../webui/npm/unink.d.ts": declare,
}

func main() {
	for path, with := range made {
		if err := update(path, with); err != nil {
			fmt.Fprintf(os.Stderr, "generate: %s: %v\n", path, err)
			os.Exit(1)
		}
	}
}

func update(path string, with func([]byte) ([]byte, error)) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text, err := with(old)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
