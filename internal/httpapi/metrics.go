package httpapi

import (
	"net/http"
	"runtime"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"unink"
	"unink/internal/gate"
)

// metrics are what /metrics tells, in a registry of their own.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
	wait     prometheus.Histogram
	stages   *prometheus.HistogramVec
	failures *prometheus.CounterVec
	credits  *prometheus.CounterVec
	limited  *prometheus.CounterVec
}

func newMetrics(version string, work *gate.Gate) *metrics {
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	to := promauto.With(reg)
	buckets := prometheus.ExponentialBucketsRange(0.01, 60, 14)
	to.NewGaugeFunc(prometheus.GaugeOpts{Name: "unink_build_info", Help: "Always 1; the labels tell the build.",
		ConstLabels: prometheus.Labels{"version": version, "go": runtime.Version()}}, func() float64 { return 1 })
	to.NewGaugeFunc(prometheus.GaugeOpts{Name: "unink_pages_running", Help: "Pages being cleaned now."},
		func() float64 { return float64(work.Running()) })
	to.NewGaugeFunc(prometheus.GaugeOpts{Name: "unink_pages_waiting", Help: "Pages waiting for a worker now."},
		func() float64 { return float64(work.Waiting()) })
	return &metrics{
		registry: reg,
		requests: to.NewHistogramVec(prometheus.HistogramOpts{Name: "unink_http_request_seconds",
			Help: "Time from a request's header to the end of its answer.", Buckets: buckets}, []string{"route", "status"}),
		wait: to.NewHistogram(prometheus.HistogramOpts{Name: "unink_queue_wait_seconds",
			Help: "Time a page waited for a worker.", Buckets: buckets}),
		stages: to.NewHistogramVec(prometheus.HistogramOpts{Name: "unink_stage_seconds",
			Help: "Time a page spent in each stage.", Buckets: buckets}, []string{"stage"}),
		failures: to.NewCounterVec(prometheus.CounterOpts{Name: "unink_failures_total",
			Help: "Requests refused or failed, by entry point and its own code."}, []string{"entry", "code"}),
		credits: to.NewCounterVec(prometheus.CounterOpts{Name: "unink_holds_total",
			Help: "Credits held for a page, by how that ended: settled, released or failed."}, []string{"outcome"}),
		limited: to.NewCounterVec(prometheus.CounterOpts{Name: "unink_limited_total",
			Help: "Requests refused by a rolling window."}, []string{"window"}),
	}
}

func (m *metrics) request(route string, status int, took time.Duration) {
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Observe(took.Seconds())
}

func (m *metrics) page(t unink.Timings) {
	for stage, took := range map[string]time.Duration{
		"decode": t.Decode, "segment": t.Segment, "erase": t.Erase, "finish": t.Finish, "encode": t.Encode, "total": t.Total,
	} {
		m.stages.WithLabelValues(stage).Observe(took.Seconds())
	}
}

func (m *metrics) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry}))
	return mux
}
