package mail

import "crypto/x509"

// Trust makes a sender trust the certificates of a test's server.
func (s *SMTP) Trust(roots *x509.CertPool) { s.roots = roots }
