package unink

import (
	"encoding/json"
	"math"
	"time"

	"unink/internal/restore"
)

// Report says what was done to a page, and how sure the stages were. As JSON it is what the API and
// the command line give.
type Report struct {
	Removed   float64 `json:"removed"`   // share of the page's pixels that were removed, 0 to 1
	Turned    int     `json:"turned"`    // degrees clockwise that the page was turned to stand upright: 0, 90, 180 or 270
	Flattened bool    `json:"flattened"` // perspective, skew or curl was undone
	Skew      float64 `json:"skew"`      // degrees clockwise by which the page was skewed at its middle, which was undone
	Curl      float64 `json:"curl"`      // how far lines of print bowed, which was undone, as a share of the page's longer side; 0 if it was not bent
	// where the result's corners were, if it was flattened
	Corners    *Corners   `json:"corners,omitempty"`
	Unfinished bool       `json:"unfinished,omitempty"` // the scan finish was left out: the page is light on dark, or would have lost print
	Moire      int        `json:"moire"`                // waves of a photographed screen's pattern that were taken away
	Confidence Confidence `json:"confidence"`
	Timings    Timings    `json:"ms"`
}

// Corners are places in the input as x and y in its pixels, EXIF orientation applied, 0,0 being its
// upper left corner: of the result's corners, clockwise from its upper left one. They are the
// sheet's corners where its edges were found, and may lie outside the picture.
type Corners [4][2]float64

// Confidence is how sure the stages were, each from 0 to 1. It is 0 of a stage that was left out.
type Confidence struct {
	Orient float64 `json:"orient"` // probability that the page now stands upright
	// share of the lines of print, rules and edges that agree with each other, or of the lines' bend
	// that was undone
	Flatten float64 `json:"flatten"`
	Segment float64 `json:"segment"` // share of the ink that is plainly writing or plainly print
}

// Timings are the wall times of the stages. As JSON they are milliseconds.
type Timings struct {
	Decode, Orient, Flatten, Demoire, Segment, Erase, Finish, Encode, Total time.Duration
}

// millis is a duration in milliseconds, exact to the nanosecond.
type millis time.Duration

func (d millis) MarshalJSON() ([]byte, error) {
	return json.Marshal(float64(d) / float64(time.Millisecond))
}

func (d *millis) UnmarshalJSON(b []byte) error {
	var ms float64
	err := json.Unmarshal(b, &ms)
	*d = millis(math.Round(ms * float64(time.Millisecond)))
	return err
}

// timings is Timings as JSON.
type timings struct {
	Decode  millis `json:"decode"`
	Orient  millis `json:"orient"`
	Flatten millis `json:"flatten"`
	Demoire millis `json:"demoire"`
	Segment millis `json:"segment"`
	Erase   millis `json:"erase"`
	Finish  millis `json:"finish"`
	Encode  millis `json:"encode"`
	Total   millis `json:"total"`
}

// MarshalJSON writes milliseconds.
func (t Timings) MarshalJSON() ([]byte, error) {
	return json.Marshal(timings{
		millis(t.Decode), millis(t.Orient), millis(t.Flatten), millis(t.Demoire), millis(t.Segment),
		millis(t.Erase), millis(t.Finish), millis(t.Encode), millis(t.Total),
	})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *Timings) UnmarshalJSON(b []byte) error {
	var m timings
	err := json.Unmarshal(b, &m)
	*t = Timings{
		time.Duration(m.Decode), time.Duration(m.Orient), time.Duration(m.Flatten),
		time.Duration(m.Demoire),
		time.Duration(m.Segment), time.Duration(m.Erase), time.Duration(m.Finish),
		time.Duration(m.Encode), time.Duration(m.Total),
	}
	return err
}

// reportOf is the report of a page before it is encoded.
func reportOf(p *restore.Page, total time.Duration) Report {
	took := p.Timings
	r := Report{
		Removed: p.Removed, Turned: p.Turned, Flattened: p.Flattened, Skew: p.Skew, Curl: p.Curl,
		Unfinished: p.Unfinished, Moire: p.Waves, Confidence: Confidence(p.Confidence),
		Timings: Timings{
			Orient: took["orient"], Flatten: took["flatten"], Demoire: took["demoire"],
			Segment: took["segment"], Erase: took["erase"], Finish: took["finish"], Total: total,
		},
	}
	if p.Flattened {
		corners := Corners(p.Corners)
		r.Corners = &corners
	}
	return r
}
