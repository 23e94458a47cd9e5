package cleaning

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"unink"
	"unink/internal/gate"
)

// metrics are what /metrics tells of pages.
type metrics struct {
	wait    prometheus.Histogram
	stages  *prometheus.HistogramVec
	holds   *prometheus.CounterVec
	limited *prometheus.CounterVec
}

// Buckets are those of all times that the metrics tell, in seconds.
var Buckets = prometheus.ExponentialBucketsRange(0.01, 60, 14)

func newMetrics(registry prometheus.Registerer, work *gate.Gate) *metrics {
	to := promauto.With(registry)
	to.NewGaugeFunc(prometheus.GaugeOpts{Name: "unink_pages_running",
		Help: "Pages being cleaned now."},
		func() float64 { return float64(work.Running()) })
	to.NewGaugeFunc(prometheus.GaugeOpts{Name: "unink_pages_waiting",
		Help: "Pages waiting for a worker now."},
		func() float64 { return float64(work.Waiting()) })
	return &metrics{
		wait: to.NewHistogram(prometheus.HistogramOpts{Name: "unink_queue_wait_seconds",
			Help: "Time a page waited for a worker.", Buckets: Buckets}),
		stages: to.NewHistogramVec(prometheus.HistogramOpts{Name: "unink_stage_seconds",
			Help: "Time a page spent in each stage.", Buckets: Buckets}, []string{"stage"}),
		holds: to.NewCounterVec(prometheus.CounterOpts{Name: "unink_holds_total",
			Help: "Credits held for a page, by how that ended: settled, released or failed."},
			[]string{"outcome"}),
		limited: to.NewCounterVec(prometheus.CounterOpts{Name: "unink_limited_total",
			Help: "Requests refused by a rolling window."}, []string{"window"}),
	}
}

func (m *metrics) page(t unink.Timings) {
	for stage, took := range t {
		m.stages.WithLabelValues(stage).Observe(took.Seconds())
	}
}
