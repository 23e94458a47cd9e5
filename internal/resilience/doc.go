// Package resilience runs the whole service as it is deployed (services, workers, PostgreSQL, Redis
// and NATS, each a process or a server of its own behind a proxy that can fail) and holds the tests
// that break it on purpose: faults, overload, soak, full disks and wrong clocks. bench/load
// measures with it.
package resilience
