# The two commands that matter: `make run` starts the service, `make test` sets up and passes the
# tests. Both need Go, a C compiler, pip and npm (which fetch ONNX Runtime and what the web pages are made with, once).

# The race detector slows the arithmetic some ten times and finds nothing in one goroutine's
# loops; it watches the packages where goroutines meet.
RACE := ./internal/gate ./internal/fleet ./internal/bulk ./internal/httpapi/... ./internal/cli ./internal/job ./internal/limit ./internal/mail ./internal/usage ./internal/certs
FUZZTIME ?= 10s
LINT := go tool -modfile=tools.mod golangci-lint

.PHONY: deps build npm run services services-stop test race lint test-training bench bench-device bench-quality bench-finish bench-real bench-labelled picture train fuzz vuln soak resilience bench-load

# ONNX Runtime for this platform and PDFium, verified by checksum, and the bundle of the web pages; each is left alone when it is up to date.
deps:
	go run ./internal/nn/fetch
	go run ./internal/pdf/fetch
	go run ./internal/webui/bundle

build: deps
	go build -trimpath -ldflags '-s -w' -o bin/unink ./cmd/unink

# The library for browsers and Node as an npm package, build/unink-VERSION.tgz.
npm: deps
	rm -rf build/npm
	go run ./internal/webui/bundle -npm build/npm
	npm pack --pack-destination build ./build/npm

run: build
	./bin/unink serve

# PostgreSQL and Redis on spare ports, for the tests; installed from Debian where they are missing.
# They stay for the next run, until make services-stop.
services:
	sh deploy/test/services.sh

services-stop:
	sh deploy/test/services.sh stop

test: deps services
	go test -timeout 60m ./...

race: deps services
	go test -race -timeout 30m $(RACE)

# Ten minutes at four fifths of the load that the workers can bear; SOAK=1h for an hour.
SOAK ?= 10m
soak: deps services
	go test -count=1 -timeout 90m -v -run TestSoak ./internal/resilience -whole -soak $(SOAK)

# Everything that can fail fails, for seconds; with LONG=-long, for as long as it takes to matter.
resilience: deps services
	go test -count=1 -timeout 90m -v ./internal/resilience -whole $(LONG)

lint: deps
	$(LINT) run
	GOOS=js GOARCH=wasm go build -o /dev/null ./internal/browser ./internal/restore/...
	internal/webui/node_modules/.bin/tsc -p internal/webui
	internal/webui/node_modules/.bin/tsc -p internal/webui/src/worker
	internal/webui/node_modules/.bin/tsc -p internal/webui/npm
	$(MAKE) -C training lint

# The tests of training/, in an environment of 6 GB.
test-training:
	$(MAKE) -C training deps test

# The figures of docs/benchmarks.md: speed and memory; synthetic pages; the scan finish; real pages, with DIR=path.
bench: deps
	go run ./bench/speed
	go test -run '^$$' -bench PDF -benchtime 1x ./internal/cli
	go test -run '^$$' -bench Overhead ./internal/httpapi

# The engine in a browser and in Node, where the figures of docs/benchmarks.md for it come from.
bench-device: npm services
	go run ./bench/device

# The figures of docs/scaling.md about overload.
bench-load: build
	go run ./bench/load

bench-quality: deps
	go run ./bench/quality $(if $(DIR),-data '$(DIR)')

bench-finish: deps
	go run ./bench/finish

bench-real: deps
	@test -n '$(DIR)' || { echo 'usage: make bench-real DIR=path, a folder with pages/ and ann/'; exit 2; }
	go run ./bench/real -dir '$(DIR)' -finish colour
	go run ./bench/real -dir '$(DIR)' -finish scan

# Pages labelled by pixel, which tells more than boxes.
bench-labelled: deps
	@test -n '$(DIR)' || { echo 'usage: make bench-labelled DIR=path, a folder with pages/ and labels/'; exit 2; }
	go run ./bench/labelled -dir '$(DIR)'

# The picture of the front page in the README.
picture: deps services
	mkdir -p build/page
	go test -count=1 -run TestPageLooks ./internal/contract -shots '$(CURDIR)/build/page'
	cp build/page/front-desktop-light-en-page.png docs/page.png

# A small training run, which proves the way from pages to a model in minutes.
train:
	$(MAKE) -C training small

# Every fuzz target for a short while.
fuzz: deps
	@set -e; for package in $$(go list ./...); do \
	  for target in $$(go test -list '^Fuzz' $$package | grep '^Fuzz' || true); do \
	    echo "$$package $$target"; \
	    go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$package; \
	  done; \
	done

# Known vulnerabilities in the modules and in what is called of them; asks https://vuln.go.dev.
vuln: deps
	go tool -modfile=tools.mod govulncheck ./...
