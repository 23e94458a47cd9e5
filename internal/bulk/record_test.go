package bulk

import (
	"testing"

	"unink"
)

// Records of earlier versions say what was asked for in these words. Other ones would have all
// pages cleaned again.
func TestRecordsSayWhatEarlierVersionsDid(t *testing.T) {
	for want, o := range map[string]unink.Options{
		"scan":   {},
		"colour": {Finish: unink.Colour},
		"scan, only blue,red, as png, orientation kept, distortion kept": {
			Remove: unink.Red | unink.Blue, Format: unink.PNG, KeepOrientation: true, KeepDistortion: true,
		},
		"colour, as webp, distortion kept": {
			Finish: unink.Colour, Format: unink.WebP, KeepDistortion: true, Layers: true, Before: true,
		},
	} {
		if got := described(o); got != want {
			t.Errorf("%+v is %q, want %q", o, got, want)
		}
	}
}
