// Package certstest has a certificate authority for tests.
package certstest

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/letsencrypt/challtestsrv"
	"github.com/letsencrypt/pebble/v2/ca"
	"github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"

	"unink/internal/freeport"
)

// Authority is an ACME authority that finds every host at 127.0.0.1, on the ports of one service.
type Authority struct {
	Directory string
	Trust     string         // file with what the directory's own certificate is checked with
	Roots     *x509.CertPool // of the certificates it gives
	HTTP, TLS string         // ports at which it looks for hosts

	orders atomic.Int64
	log    lockedWriter
}

// Orders is how many orders were made.
func (a *Authority) Orders() int64 { return a.orders.Load() }

// Log is what it said.
func (a *Authority) Log() string { return a.log.String() }

type lockedWriter struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (w *lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

func (w *lockedWriter) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

// New starts one whose certificates are good for a time.
func New(t *testing.T, validity time.Duration) *Authority {
	t.Helper()
	t.Setenv("PEBBLE_VA_NOSLEEP", "1")
	t.Setenv("PEBBLE_WFE_NONCEREJECT", "0") // or some requests count twice
	a := &Authority{HTTP: freePort(t), TLS: freePort(t)}
	logger := log.New(&a.log, "", 0)
	resolver := net.JoinHostPort("127.0.0.1", freePort(t))
	names, err := challtestsrv.New(challtestsrv.Config{Log: logger, DNSAddrs: []string{resolver}})
	if err != nil {
		t.Fatal(err)
	}
	names.SetDefaultDNSIPv4("127.0.0.1")
	names.SetDefaultDNSIPv6("")
	names.Run()
	t.Cleanup(names.Shutdown)

	memory := db.NewMemoryStore()
	signer := ca.New(logger, memory, "", "ecdsa", 0, 1,
		map[string]ca.Profile{"default": {ValidityPeriod: uint64(validity / time.Second)}})
	validator := va.New(logger, number(t, a.HTTP), number(t, a.TLS), false, resolver, memory)
	frontend := wfe.New(logger, memory, validator, signer, []string{"pebble.letsencrypt.org"}, false,
		false, 1, 1)
	handler := frontend.Handler()
	directory := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/order-plz" {
			a.orders.Add(1)
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(directory.Close)
	a.Directory = directory.URL + wfe.DirectoryPath
	a.Trust = filepath.Join(t.TempDir(), "authority.pem")
	own := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: directory.Certificate().Raw})
	if err := os.WriteFile(a.Trust, own, 0o600); err != nil {
		t.Fatal(err)
	}
	a.Roots = x509.NewCertPool()
	a.Roots.AppendCertsFromPEM(signer.GetRootCert(0).PEM())
	return a
}

func freePort(t *testing.T) string {
	t.Helper()
	n, err := freeport.Find()
	if err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(n)
}

func number(t *testing.T, port string) int {
	t.Helper()
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
