package input

import (
	"strings"
	"testing"
)

// Keys mean what they are called: another case is another key, and none comes twice.
func TestKeysAreTakenAsTheyAreWritten(t *testing.T) {
	type answer struct {
		Email string `json:"email"`
	}
	for body, ok := range map[string]bool{
		`{"email":"a"}`: true, `{"Email":"a"}`: false, `{"email":"a","EMAIL":"b"}`: false,
		`{"email":"a","email":"b"}`: false,
	} {
		if err := JSON(strings.NewReader(body), &answer{}); (err == nil) != ok {
			t.Errorf("%s: %v", body, err)
		}
	}
}
