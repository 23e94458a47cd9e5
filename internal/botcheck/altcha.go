package botcheck

import (
	"context"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"
)

const (
	// DefaultCost makes a phone of the middle class work for about a second, by estimate.
	DefaultCost = 2000
	// MostCost bounds what a challenge costs the service.
	MostCost = 1_000_000

	minTries  = 2000 // the solution is among the counters from here
	moreTries = 2000 // to here further
	lifetime  = 10 * time.Minute
	keyLength = 32
	algorithm = "PBKDF2/SHA-256"

	maxALTCHA = 8 << 10 // bytes of a token
)

// ALTCHAConfig is the settings of an [ALTCHA].
type ALTCHAConfig struct {
	// Key signs challenges: at least 32 secret bytes, the same in all instances.
	Key []byte
	// Cost is the rounds of PBKDF2 in a try, of which a visitor needs 3,000 on average, on all the
	// cores of the device. To make a challenge costs the service one try.
	Cost int
}

// Validate says which field is out of range.
func (c ALTCHAConfig) Validate() error {
	switch {
	case len(c.Key) < 32:
		return fmt.Errorf("key of the bot check must have at least 32 bytes, not %d", len(c.Key))
	case c.Cost < 1 || c.Cost > MostCost:
		return fmt.Errorf("cost of the bot check must be from 1 to %d, not %d", MostCost, c.Cost)
	}
	return nil
}

// ALTCHA is a proof of work in the protocol of the ALTCHA widget, version 2 of its challenges: the
// visitor looks for the counter from which a given key derives. It is a Checker.
//
// The service remembers no challenges: it knows them again by its signature, and the right answer
// by another one.
type ALTCHA struct {
	signing, answers []byte // keys
	cost             int
	replay           Replay
	now              func() time.Time
}

// NewALTCHA makes an ALTCHA.
func NewALTCHA(c ALTCHAConfig, replay Replay, now func() time.Time) (*ALTCHA, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &ALTCHA{
		signing: mac(c.Key, []byte("altcha challenge")),
		answers: mac(c.Key, []byte("altcha answer")),
		cost:    c.Cost,
		replay:  replay,
		now:     now,
	}, nil
}

// Challenge is what the widget fetches, as JSON.
type Challenge struct {
	Parameters Parameters `json:"parameters"`
	Signature  string     `json:"signature"`
}

// Parameters are the task of a [Challenge]; byte strings are in hexadecimal. The fields are in the
// order of their JSON names, in which they are signed.
type Parameters struct {
	Algorithm    string `json:"algorithm"`
	Cost         int    `json:"cost"`
	ExpiresAt    int64  `json:"expiresAt"` // seconds since 1970
	KeyLength    int    `json:"keyLength"`
	KeyPrefix    string `json:"keyPrefix"` // how the key that is looked for begins
	KeySignature string `json:"keySignature"`
	Nonce        string `json:"nonce"`
	Salt         string `json:"salt"`
}

// answer is what a token holds, as JSON in base64.
type answer struct {
	Challenge Challenge `json:"challenge"`
	Solution  solution  `json:"solution"`
}

type solution struct {
	Counter    uint32 `json:"counter"`
	DerivedKey string `json:"derivedKey"`
}

// Challenge makes a new task, to be solved within 10 minutes.
func (a *ALTCHA) Challenge() (Challenge, error) {
	var random [36]byte
	_, _ = rand.Read(random[:]) // never fails
	nonce, salt := random[:16], random[16:32]
	counter := minTries + binary.BigEndian.Uint32(random[32:])%moreTries
	key, err := derive(nonce, salt, counter, a.cost)
	if err != nil {
		return Challenge{}, err
	}
	p := Parameters{
		Algorithm:    algorithm,
		Cost:         a.cost,
		ExpiresAt:    a.now().Add(lifetime).Unix(),
		KeyLength:    keyLength,
		KeyPrefix:    hex.EncodeToString(key[:keyLength/2]),
		KeySignature: hex.EncodeToString(mac(a.answers, key)),
		Nonce:        hex.EncodeToString(nonce),
		Salt:         hex.EncodeToString(salt),
	}
	return Challenge{Parameters: p, Signature: a.sign(p)}, nil
}

// Check implements [Checker]. The address of the visitor makes no difference.
func (a *ALTCHA) Check(ctx context.Context, token, _ string) error {
	if err := bounded(token, maxALTCHA); err != nil {
		return err
	}
	got, err := parse(token)
	if err != nil {
		return err
	}
	p := got.Challenge.Parameters
	signature := a.sign(p)
	expires := time.Unix(p.ExpiresAt, 0)
	switch {
	case !hmac.Equal([]byte(got.Challenge.Signature), []byte(signature)):
		return invalid("the challenge is not from this service")
	case !a.now().Before(expires):
		return invalid("expired")
	case !a.solves(p, got.Solution):
		return invalid("the solution is wrong")
	}
	return useOnce(ctx, a.replay, "altcha:"+signature, expires)
}

// parse reads a token.
func parse(token string) (answer, error) {
	var a answer
	text, err := base64.StdEncoding.DecodeString(token)
	if err != nil {
		return a, invalid("the token is not base64")
	}
	if err := json.Unmarshal(text, &a); err != nil {
		return a, invalid("the token is not a solved challenge")
	}
	return a, nil
}

// solves reports whether the key is the one that the signed parameters ask for.
func (a *ALTCHA) solves(p Parameters, s solution) bool {
	key, err := hex.DecodeString(s.DerivedKey)
	return err == nil && hmac.Equal([]byte(p.KeySignature),
		[]byte(hex.EncodeToString(mac(a.answers, key))))
}

func (a *ALTCHA) sign(p Parameters) string {
	text, _ := json.Marshal(p) // strings and numbers: never fails
	return hex.EncodeToString(mac(a.signing, text))
}

// Solve works on a challenge as the widget does, and returns the token. It is for clients without a
// browser.
func Solve(ctx context.Context, c Challenge) (token string, err error) {
	p := c.Parameters
	if p.Algorithm != algorithm || p.KeyLength != keyLength {
		return "", fmt.Errorf("challenge: algorithm %s with keys of %d bytes is not known", p.Algorithm,
			p.KeyLength)
	}
	nonce, err1 := hex.DecodeString(p.Nonce)
	salt, err2 := hex.DecodeString(p.Salt)
	prefix, err3 := hex.DecodeString(p.KeyPrefix)
	if err := errors.Join(err1, err2, err3); err != nil {
		return "", fmt.Errorf("challenge: %w", err)
	}
	for counter := uint32(0); counter < math.MaxUint32; counter++ {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		key, err := derive(nonce, salt, counter, p.Cost)
		if err != nil {
			return "", err
		}
		if len(prefix) <= len(key) && string(key[:len(prefix)]) == string(prefix) {
			text, err := json.Marshal(answer{c, solution{counter, hex.EncodeToString(key)}})
			return base64.StdEncoding.EncodeToString(text), err
		}
	}
	return "", errors.New("challenge: no solution")
}

func derive(nonce, salt []byte, counter uint32, cost int) ([]byte, error) {
	password := binary.BigEndian.AppendUint32(append([]byte(nil), nonce...), counter)
	return pbkdf2.Key(sha256.New, string(password), salt, cost, keyLength)
}

func mac(key, text []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(text)
	return h.Sum(nil)
}
