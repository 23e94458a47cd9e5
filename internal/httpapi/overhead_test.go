package httpapi

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"unink/internal/credit"
	"unink/internal/httpapi/call"
)

// BenchmarkOverhead measures what the service adds to the engine's work for a page of the developer
// entry point: token, JSON, Base64, header, hold, settlement and log, on the embedded database. The
// engine here returns the picture as it is.
func BenchmarkOverhead(b *testing.B) {
	s := withAccounts(b)
	customer, _, err := s.Services.Accounts.CreateCustomer(
		b.Context(), "dev@example.com", "Dev", "dev-shop", "",
	)
	if err != nil {
		b.Fatal(err)
	}
	key, _, err := s.Services.Accounts.NewToken(b.Context(), customer.ID, 0)
	if err != nil {
		b.Fatal(err)
	}
	_, _, err = s.Services.Credits.Grant(b.Context(), credit.Grant{
		Owner: call.CustomerOwner(customer.ID), Plan: "bench", Credits: 1_000_000, Expires: credit.Never,
		Source: "bench",
	})
	if err != nil {
		b.Fatal(err)
	}
	for _, encoded := range [][]byte{picture(b, 1240, 1754), noise(b, 300)} {
		page := mediaJSON(encoded, "")
		b.Run(fmt.Sprintf("%dKiB", len(page)>>10), func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				r := httptest.NewRequest(http.MethodPost, "/cleanup", strings.NewReader(page))
				r.Host = customer.Slug + "." + s.Config.Domain
				r.Header.Set("Authorization", "Bearer "+key)
				r.Header.Set("Content-Type", contentType)
				rec := &deadlineRecorder{httptest.NewRecorder()}
				start := time.Now()
				s.Handler().ServeHTTP(rec, r)
				took = append(took, time.Since(start))
				if rec.Code != http.StatusOK {
					b.Fatalf("status %d: %.200s", rec.Code, rec.Body)
				}
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms/median")
		})
	}
}

// noise is a picture that PNG cannot make smaller than three bytes a pixel.
func noise(b *testing.B, side int) []byte {
	b.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, side, side))
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range m.Pix {
		m.Pix[i] = uint8(rng.Uint32()) | uint8(255*(i%4/3))
	}
	var out bytes.Buffer
	if err := png.Encode(&out, m); err != nil {
		b.Fatal(err)
	}
	return out.Bytes()
}
