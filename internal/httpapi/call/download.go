package call

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// Download is an answer that is a file, of which a piece at a time is in memory.
type Download struct {
	Content io.ReadSeeker
	Piece   int // bytes
	Made    time.Time
	Header  map[string]string
}

// hand writes a download, whole or the part that was asked for.
func (e *Entry) hand(w http.ResponseWriter, r *http.Request, d Download) error {
	c := Of(r.Context())
	if err := c.Ticket.Answer(d.Piece); err != nil {
		return err
	}
	for name, value := range d.Header {
		w.Header().Set(name, value)
	}
	content := &granting{d.Content, func() { e.grantTime(w) }, nil}
	http.ServeContent(w, r, "", d.Made, content)
	if content.broken != nil && r.Context().Err() == nil { // the answer's end is missing
		e.Setup.Log.Error("a file could not be read", "request_id", c.ID, "cause", content.broken)
	}
	return nil
}

// granting gives the client its time for each part that is read.
type granting struct {
	io.ReadSeeker
	grant  func()
	broken error
}

func (g *granting) Read(p []byte) (int, error) {
	g.grant()
	n, err := g.ReadSeeker.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		g.broken = err
	}
	return n, err
}
