package pdfjob

import "time"

// Status is what a customer is told of a job.
type Status struct {
	ID       string       `json:"id"`
	State    State        `json:"state"`
	Error    *Problem     `json:"error,omitempty"`
	Pages    Counts       `json:"pages"`
	Page     []PageStatus `json:"page"`
	Created  time.Time    `json:"created"`
	Finished time.Time    `json:"finished,omitzero"`
	Expires  time.Time    `json:"expires,omitzero"` // once it has finished
	File     string       `json:"file,omitempty"`   // path of the finished file
	Bytes    int64        `json:"bytes,omitempty"`
}

// Counts are how many pages are how far, and what they cost. Total is 0 until the document was
// looked at.
type Counts struct {
	Total   int `json:"total"`
	Waiting int `json:"waiting"`
	Cleaned int `json:"cleaned"`
	Kept    int `json:"kept"`
	Failed  int `json:"failed"`
	Charged int `json:"charged"`
}

// PageStatus is one page.
type PageStatus struct {
	Number  int      `json:"number"`
	State   State    `json:"state"`
	Charged int      `json:"charged"`
	Marks   int      `json:"marks"`
	Error   *Problem `json:"error,omitempty"`
}

// Counts counts the job's pages.
func (j Job) Counts() (c Counts) {
	c.Total = len(j.Pages)
	for _, p := range j.Pages {
		switch p.State {
		case Waiting:
			c.Waiting++
		case Cleaned:
			c.Cleaned++
		case Kept:
			c.Kept++
		case Failed:
			c.Failed++
		}
		c.Charged += p.Charged
	}
	return c
}

// Status tells of a job.
func (j Job) Status() Status {
	s := Status{ID: j.ID, State: j.State, Error: j.Problem.told(), Pages: j.Counts(),
		Page: []PageStatus{}, Created: j.Created.UTC(), Bytes: j.Bytes}
	for _, p := range j.Pages {
		s.Page = append(s.Page, PageStatus{p.Number, p.State, p.Charged, p.Marks, p.Problem.told()})
	}
	if j.State.Ended() {
		s.Finished, s.Expires = j.Finished.UTC(), j.Expires.UTC()
	}
	if j.Bytes > 0 {
		s.File = "/pdf/" + j.ID + "/file"
	}
	return s
}

func (p Problem) told() *Problem {
	if p == (Problem{}) {
		return nil
	}
	return &p
}
