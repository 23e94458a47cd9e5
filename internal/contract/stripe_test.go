package contract

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"
)

const webhookSecret = "whsec_of_the_tests"

// sellingFlags let a service sell.
var sellingFlags = []string{"--stripe-key", "sk_test_of_the_tests", "--stripe-webhook-secret",
	webhookSecret}

// paidEvent is what Stripe tells of a user's payment.
func paidEvent(t *testing.T, id string, u user, plan string, cents int) []byte {
	t.Helper()
	return marshal(t, map[string]any{
		"id": id, "object": "event", "type": "checkout.session.completed", "api_version": "2020-08-27",
		"created": time.Now().Unix(),
		"data": map[string]any{"object": map[string]any{
			"id": "cs_" + id, "object": "checkout.session", "mode": "payment", "payment_status": "paid",
			"payment_intent": "pi_" + id,
			"amount_total":   cents, "currency": "usd",
			"metadata":         map[string]string{"plan": plan, "user": u.id},
			"customer_details": map[string]string{"email": u.email},
		}},
	})
}

// tell sends an event as Stripe does, signed with a secret.
func (s *service) tell(t *testing.T, event []byte, secret string) answer {
	t.Helper()
	at := fmt.Sprint(time.Now().Unix())
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%s.%s", at, event)
	signature := "t=" + at + ",v1=" + hex.EncodeToString(mac.Sum(nil))
	return s.send(t, request{path: "/api/stripe/webhook", content: "application/json", body: event,
		header: map[string]string{"Stripe-Signature": signature}})
}

const stripeHost = "api.stripe.com"

// standInForStripe lets the service reach a stand-in for Stripe's API under its own name. What is
// asked of it comes on the channel; its page of payment is the one that buyers come back to.
func (s *service) standInForStripe(t *testing.T) <-chan url.Values {
	t.Helper()
	asked := make(chan url.Values, 8)
	api := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil || r.URL.Path != "/v1/checkout/sessions" {
			t.Errorf("%s %v", r.URL, err)
		}
		asked <- r.PostForm
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id":"cs_1","object":"checkout.session","url":%q}`,
			r.PostForm.Get("success_url"))
	}))
	certificate := certificateOf(t, stripeHost)
	api.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	api.StartTLS()
	t.Cleanup(api.Close)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || r.Host != stripeHost+":443" {
			t.Errorf("the service asks for %s %s", r.Method, r.Host)
			return
		}
		w.WriteHeader(http.StatusOK)
		tunnel(t, w, api.Listener.Addr().String())
	}))
	t.Cleanup(proxy.Close)
	roots := filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(roots, pem.EncodeToMemory(
		&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]},
	), 0o600); err != nil {
		t.Fatal(err)
	}
	s.extra = append(s.extra, "HTTPS_PROXY="+proxy.URL, "SSL_CERT_FILE="+roots)
	return asked
}

// tunnel joins a client of a proxy with whom it asked for, until either ends.
func tunnel(t *testing.T, w http.ResponseWriter, address string) {
	client, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = client.Close() }()
	server, err := net.Dial("tcp", address)
	if err != nil {
		t.Error(err)
		return
	}
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	}()
	_, _ = io.Copy(client, server)
}

// certificateOf is a host's certificate, signed by itself.
func certificateOf(t *testing.T, host string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{host}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
