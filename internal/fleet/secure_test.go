package fleet

import (
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

// both is a fleet whose two sides connect in the same way, and that has to clean a page.
func both(t *testing.T, c Config) {
	t.Helper()
	c.pace = brisk
	w := &world{t: t, Config: c, log: newLog(t)}
	w.Client = w.client()
	w.worker(1, echo)
	w.clean("page")
}

func file(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTLS(t *testing.T) {
	issuer := httptest.NewTLSServer(nil) // for its certificate, which is for 127.0.0.1
	issuer.Close()
	s := natsServer(t, func(o *server.Options) {
		o.TLS, o.TLSConfig, o.TLSTimeout = true, issuer.TLS.Clone(), bounded.Seconds()
		o.TLSConfig.NextProtos = nil
	})
	url := "tls://" + strings.TrimPrefix(strings.TrimPrefix(s.ClientURL(), "nats://"), "tls://")
	ca := file(t, "ca.pem", pem.EncodeToMemory(
		&pem.Block{Type: "CERTIFICATE", Bytes: issuer.Certificate().Raw},
	))
	both(t, Config{URL: url, CA: ca})
	if c, err := Open(Config{URL: url}, newLog(t)); err == nil {
		_ = c.Close()
		t.Error("a certificate of nobody known was trusted")
	}
	plain := natsServer(t, nil)
	if c, err := Open(Config{URL: strings.Replace(plain.ClientURL(), "nats://", "tls://", 1)},
		newLog(t)); err == nil {
		_ = c.Close()
		t.Error("tls:// was content with no TLS")
	}
}

func TestCredentialsFile(t *testing.T) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	pair := func(make func() (nkeys.KeyPair, error)) (nkeys.KeyPair, string) {
		key, err := make()
		must(err)
		public, err := key.PublicKey()
		must(err)
		return key, public
	}
	operator, operatorID := pair(nkeys.CreateOperator)
	account, accountID := pair(nkeys.CreateAccount)
	user, userID := pair(nkeys.CreateUser)
	accountToken, err := jwt.NewAccountClaims(accountID).Encode(operator)
	must(err)
	userToken, err := jwt.NewUserClaims(userID).Encode(account)
	must(err)
	seed, err := user.Seed()
	must(err)
	credentials, err := jwt.FormatUserConfig(userToken, seed)
	must(err)
	resolver := &server.MemAccResolver{}
	must(resolver.Store(accountID, accountToken))
	s := natsServer(t, func(o *server.Options) {
		o.TrustedOperators, o.AccountResolver = []*jwt.OperatorClaims{jwt.NewOperatorClaims(operatorID)},
			resolver
	})
	both(t, Config{URL: s.ClientURL(), Credentials: file(t, "unink.creds", credentials)})
	if c, err := Open(Config{URL: s.ClientURL()}, newLog(t)); err == nil {
		_ = c.Close()
		t.Error("no credentials were enough")
	}
}
