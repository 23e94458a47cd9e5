package call

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"

	"unink/internal/credit"
	"unink/internal/httpapi/failure"
	"unink/internal/httpapi/input"
)

// maxKeyBytes is the longest Idempotency-Key.
const maxKeyBytes = 255

// IdempotencyKey reads the header of that name; nil is none. The body is what must be the same with
// the same key.
func IdempotencyKey(r *http.Request, owner string, body ...[]byte) (*credit.Key, error) {
	values := r.Header.Values("Idempotency-Key")
	if len(values) == 0 || owner == "" {
		return nil, nil
	}
	if len(values) > 1 || values[0] == "" || len(values[0]) > maxKeyBytes {
		return nil, failure.New(failure.BadParameter, "send one Idempotency-Key of 1 to %d bytes",
			maxKeyBytes)
	}
	if err := input.CheckText("Idempotency-Key", values[0]); err != nil {
		return nil, err
	}
	sum := sha256.New()
	for _, part := range body {
		sum.Write(part)
	}
	return &credit.Key{Owner: owner, Key: values[0], BodyHash: hex.EncodeToString(sum.Sum(nil))}, nil
}
