package admission

import (
	"testing"
	"time"
)

// A body has to come at some rate: bytes that trickle in do not buy the whole time of an upload.
func TestUploadsHaveAMinimumRate(t *testing.T) {
	u := &Body{most: time.Minute, began: time.Now()}
	for n, want := range map[int64]time.Duration{
		0: patienceForBody, 5: patienceForBody, minUploadRate: patienceForBody + time.Second,
		10 * minUploadRate: patienceForBody + 10*time.Second, 1000 * minUploadRate: time.Minute,
	} {
		u.bytes = n
		if got := u.deadline().Sub(u.began).Round(10 * time.Millisecond); got != want {
			t.Errorf("%d bytes may take %v, want %v", n, got, want)
		}
	}
	u.most = time.Second
	if got := u.deadline().Sub(u.began); got != time.Second {
		t.Errorf("beyond the time of an upload: %v", got)
	}
}
