package unink

import (
	"encoding/json"
	"math"
	"slices"
	"time"

	"unink/internal/restore"
)

// Report says what was done to a page, and how sure the stages were. As JSON it is the report of
// the API; the command line's JSON has these values among those of the file.
type Report struct {
	Removed float64 `json:"removed"` // share of the page's pixels that were removed, 0 to 1
	// degrees clockwise that the page was turned to stand upright: 0, 90, 180 or 270
	Turned    int  `json:"turned"`
	Flattened bool `json:"flattened"` // perspective, skew or curl was undone
	// degrees clockwise by which the page was skewed at its middle, which was undone
	Skew float64 `json:"skew"`
	// how far lines of print bowed, which was undone, as a share of the page's longer side; 0 if it
	// was not bent
	Curl float64 `json:"curl"`
	// where the result's corners were, if it was flattened
	Corners *Corners `json:"corners,omitempty"`
	// the scan finish was left out: the page is light on dark, or would have lost print
	Unfinished bool       `json:"unfinished,omitempty"`
	Moire      int        `json:"moire"` // waves of a photographed screen's pattern, taken away
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

// Timings are the wall times of a page's stages, by the names of [Stages], and of all of it, which
// is "total". As JSON they are milliseconds, exact to the nanosecond.
type Timings map[string]time.Duration

// total is the time from a page's bytes to those of the result, without waiting.
const total = "total"

// Stages are the names of what a page goes through, in this order.
func Stages() []string {
	return slices.Concat([]string{"decode"}, restore.Stages(), []string{"encode"})
}

// Pictures are the names of the pictures that [Config.Show] is given of a page, in this order.
func Pictures() []string { return restore.Pictures() }

// Note keeps how long a stage took.
func (t *Timings) Note(stage string, took time.Duration) {
	if *t == nil {
		*t = Timings{}
	}
	(*t)[stage] = took
}

// Total is the time of all stages together.
func (t Timings) Total() time.Duration { return t[total] }

// MarshalJSON writes milliseconds.
func (t Timings) MarshalJSON() ([]byte, error) {
	ms := make(map[string]float64, len(t))
	for stage, took := range t {
		ms[stage] = float64(took) / float64(time.Millisecond)
	}
	return json.Marshal(ms)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *Timings) UnmarshalJSON(b []byte) error {
	var ms map[string]float64
	if err := json.Unmarshal(b, &ms); err != nil {
		return err
	}
	*t = make(Timings, len(ms))
	for stage, took := range ms {
		(*t)[stage] = time.Duration(math.Round(took * float64(time.Millisecond)))
	}
	return nil
}

// reportOf is the report of a page before it is encoded.
func reportOf(p *restore.Page, took time.Duration) Report {
	r := Report{
		Removed: p.Removed, Turned: p.Turned, Flattened: p.Flattened, Skew: p.Skew, Curl: p.Curl,
		Unfinished: p.Unfinished, Moire: p.Waves, Confidence: Confidence(p.Confidence),
		Timings: Timings(p.Timings),
	}
	r.Timings.Note(total, took)
	if p.Flattened {
		corners := Corners(p.Corners)
		r.Corners = &corners
	}
	return r
}
