package unink_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"unink"
)

func TestAReportIsTheSameAfterJSON(t *testing.T) {
	want := unink.Report{
		Removed: 0.25, Turned: 90, Flattened: true, Skew: -1.25, Curl: 0.015625, Moire: 3,
		Corners:    &unink.Corners{{1, 2}, {3, 4}, {5, 6}, {-7, 8}},
		Confidence: unink.Confidence{Orient: 0.5, Flatten: 1, Segment: 0.125},
		Timings:    unink.Timings{"decode": 1, "orient": time.Millisecond, "total": time.Hour + 7},
	}
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got unink.Report
	if err := json.Unmarshal(data, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s came back as %+v (%v)", data, got, err)
	}
	var ms struct {
		MS struct{ Orient, Total float64 }
	}
	if err := json.Unmarshal(data, &ms); err != nil || ms.MS.Orient != 1 || ms.MS.Total < 3.6e6 {
		t.Errorf("the milliseconds of %s are %+v", data, ms)
	}
}
