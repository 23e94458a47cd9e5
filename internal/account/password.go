package account

import (
	"context"
	"errors"
	"fmt"
	"net/mail"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"
)

// Argon is the cost of one computation of argon2id, by which passwords are stored and compared.
type Argon struct {
	Memory uint32 // KiB; at least 8 for each lane
	Passes uint32 // at least 1
	Lanes  uint8  // at least 1
}

func (a Argon) validate() error {
	if a.Passes < 1 || a.Lanes < 1 || a.Memory < 8*uint32(a.Lanes) || a.Memory > 4<<20 {
		return errors.New("argon2id needs at least 1 pass, 1 lane, and 8 KiB of memory for each lane, " +
			"at most 4 GiB")
	}
	return nil
}

// passwords computes and compares passwords' hashes.
type passwords interface {
	hash(ctx context.Context, password string) (string, error)
	matches(ctx context.Context, password, hash string) (bool, error)
}

// argon is argon2id, as many computations at once as there are processors: more would only take
// more memory.
type argon struct {
	params argon2id.Params
	places chan struct{}
}

func newArgon(a Argon) *argon {
	return &argon{
		params: argon2id.Params{Memory: a.Memory, Iterations: a.Passes, Parallelism: a.Lanes,
			SaltLength: 16, KeyLength: 32},
		places: make(chan struct{}, runtime.GOMAXPROCS(0)),
	}
}

func (a *argon) hash(ctx context.Context, password string) (hash string, err error) {
	if err := a.enter(ctx); err != nil {
		return "", err
	}
	defer a.leave()
	return argon2id.CreateHash(password, &a.params)
}

func (a *argon) matches(ctx context.Context, password, hash string) (bool, error) {
	if err := a.enter(ctx); err != nil {
		return false, err
	}
	defer a.leave()
	return argon2id.ComparePasswordAndHash(password, hash)
}

func (a *argon) enter(ctx context.Context) error {
	select {
	case a.places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (a *argon) leave() { <-a.places }

const (
	minPassword = 10 // characters
	maxPassword = 200
)

// obvious are passwords that are long enough and yet tried first.
var obvious = []string{
	"1234567890", "12345678910", "123456789012", "0123456789", "0987654321", "9876543210",
	"1111111111", "0000000000",
	"1q2w3e4r5t", "1qaz2wsx3edc", "qwertyuiop", "qwerty12345", "qwerty123456", "qwertzuiop",
	"asdfghjkl;", "azertyuiop",
	"password12", "password123", "password1234", "passwordpassword", "mypassword", "changeme123",
	"letmein123",
	"iloveyou123", "administrator", "admin12345", "welcome123", "abcdefghij", "abc1234567",
	"abcd123456", "a123456789",
	"football123", "basketball", "christopher",
}

// checkPassword refuses passwords that are too short, too long or too easily guessed.
func checkPassword(password, email string) error {
	n := utf8.RuneCountInString(password)
	folded := strings.ToLower(strings.TrimSpace(password))
	_, first := utf8.DecodeRuneInString(folded)
	switch {
	case !utf8.ValidString(password):
		return &InputError{"password", "must be text in UTF-8"}
	case n < minPassword || n > maxPassword:
		return &InputError{"password", fmt.Sprintf(
			"must have %d to %d characters, not %d", minPassword, maxPassword, n,
		)}
	case folded == email:
		return &InputError{"password", "must not be the e-mail address"}
	case slices.Contains(obvious, folded), strings.Trim(folded, folded[:first]) == "":
		return &InputError{"password", "is one that everybody tries first; take another"}
	}
	return nil
}

const maxEmail = 254 // bytes (RFC 5321, 4.5.3.1.3)

func foldEmail(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

// checkEmail returns an e-mail address as it is stored, or an [InputError].
func checkEmail(email string) (string, error) {
	email = foldEmail(email)
	if len(email) > maxEmail {
		return "", &InputError{"e-mail address",
			fmt.Sprintf("must have at most %d bytes, not %d", maxEmail, len(email))}
	}
	parsed, err := mail.ParseAddress(email)
	if err != nil || parsed.Name != "" || parsed.Address != email || strings.Contains(email, "[") {
		return "", &InputError{"e-mail address", "must be such as name@example.com"}
	}
	return email, nil
}
