package httpapi

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// A guest is told what is left of the day's allowances, which an address shares.
func TestGuestsAreToldWhatIsLeft(t *testing.T) {
	s := withAccounts(t)
	const device, other = "device-of-the-tests", "another-device"
	left := func(device string) (got guestAnswer) {
		t.Helper()
		r := httptest.NewRequest(http.MethodGet, "/api/guest", nil)
		r.Header.Set("X-Device-Id", device)
		a := s.send(r)
		if a.status != http.StatusOK {
			t.Fatalf("%d %s", a.status, a.body)
		}
		s.read(a, &got)
		return got
	}
	got := left(device)
	want := guestAnswer{allowance{3, 3}, allowance{2, 2}, got.Renewed, 5}
	if now := s.Now(); got != want || !got.Renewed.After(now) || got.Renewed.Sub(now).Hours() > 24 {
		t.Errorf("at first %+v", got)
	}
	web := &service{t: t}
	r := web.webRequest("", field{name: "isPdfProcessing", value: "true"},
		field{name: "deviceId", value: device}, field{name: "image", data: picture(t, 20, 20)})
	r.RemoteAddr = "192.0.2.1:1234" // that of httptest.NewRequest
	if a := s.send(r); a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if got := left(device); got.PDFPages != (allowance{2, 1}) || got.Pictures != (allowance{3, 3}) {
		t.Errorf("after a page of a PDF %+v", got)
	}
	if got := left(other); got.PDFPages != (allowance{2, 2}) { // the address has 5
		t.Errorf("another device has %+v", got)
	}
	s.is(http.StatusBadRequest, http.MethodGet, "/api/guest", "", nil)
}
