package cleaning

import "unink"

// Answer is the inner "data" that both entry points wrap an image in.
type Answer struct {
	Data imageAnswer `json:"data"`
}

type imageAnswer struct {
	MediaID []byte        `json:"mediaId"` // Base64 in JSON
	Layers  *layers       `json:"layers,omitempty"`
	Report  *unink.Report `json:"report,omitempty"` // beside the layers
	Before  []byte        `json:"before,omitempty"` // a JPEG
}

type layers struct {
	Handwriting []byte `json:"handwriting"` // transparent PNG of what was removed
	Mask        []byte `json:"mask"`        // grey PNG, white where something was removed
}

// AnswerOf is the answer with a result that was asked for with these options.
func AnswerOf(res *unink.Result, o unink.Options) Answer {
	answer := Answer{imageAnswer{MediaID: res.Data, Before: res.Before}}
	if o.Layers {
		answer.Data.Layers, answer.Data.Report = &layers{res.Handwriting, res.Mask}, &res.Report
	}
	return answer
}
