package resilience

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"unink/internal/browsertest"
)

// TestPDFByWorkers has workers clean a PDF while they are killed: it comes back whole, and each
// page is paid for once.
func TestPDFByWorkers(t *testing.T) {
	t.Parallel()
	const pages = 12
	s := start(t, patient)
	c := must(s.Customer(1000))(t)
	j := must(c.SendPDF(examOf(pages)))(t)
	killed := 0
	if err := until(context.Background(), func() (err error) {
		if j, err = c.PDF(j.ID); err != nil {
			return err
		}
		if done := pages - j.Pages.Waiting; killed < len(s.Workers) && done > 3*killed {
			if err := s.Replace(killed); err != nil {
				return err
			}
			killed++
		}
		if j.State == "waiting" || j.State == "working" {
			return fmt.Errorf("the PDF is %s: %+v", j.State, j.Pages)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if n := j.Pages; j.State != "done" || n.Cleaned != pages || n.Charged != pages || killed == 0 {
		t.Errorf("the PDF is %s after %d kills: %+v", j.State, killed, n)
	}
	if used := must(c.Used())(t); used != pages {
		t.Errorf("%d credits are gone for %d pages", used, pages)
	}
	if file := must(c.pdf(http.MethodGet, j.File, nil))(t); !bytes.HasPrefix(file, []byte("%PDF-")) {
		t.Errorf("the file is %.20q", file)
	}
}

// examOf is a PDF of small pages that were written on.
func examOf(pages int) []byte {
	var made []browsertest.PDFPage
	for i := range pages {
		made = append(made, browsertest.PDFPage{Width: 70 + i, Height: 40, Grey: 90, Written: true})
	}
	return browsertest.PDF(made...)
}

// pdfState is what the service tells of a PDF.
type pdfState struct {
	ID, State, File string
	Pages           struct{ Waiting, Cleaned, Charged int }
}

// SendPDF has a PDF cleaned.
func (c *Caller) SendPDF(document []byte) (pdfState, error) {
	body, err := json.Marshal(map[string][]byte{"media_id": document})
	if err != nil {
		return pdfState{}, err
	}
	return c.pdfState(http.MethodPost, "/pdf", body)
}

// PDF tells how far one is.
func (c *Caller) PDF(id string) (pdfState, error) {
	return c.pdfState(http.MethodGet, "/pdf/"+id, nil)
}

func (c *Caller) pdfState(method, path string, body []byte) (pdfState, error) {
	answer, err := c.pdf(method, path, body)
	if err != nil {
		return pdfState{}, err
	}
	var told struct{ Data pdfState }
	if err := json.Unmarshal(answer, &told); err != nil || told.Data.ID == "" {
		return pdfState{}, fmt.Errorf("%s %s: %.200s (%w)", method, path, answer, err)
	}
	return told.Data, nil
}

// pdf is what one service answers.
func (c *Caller) pdf(method, path string, body []byte) ([]byte, error) {
	scheme, _, _ := c.system.config.hosts()
	req, err := http.NewRequest(method, scheme+"://"+c.host+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+c.token)
	res, err := c.system.Services[0].client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	return io.ReadAll(res.Body)
}
