package httpapi

import (
	"context"
	"math"
	"net/http"
	"runtime"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"unink/internal/httpapi/cleaning"
	"unink/internal/httpapi/setup"
	"unink/internal/limit"
	"unink/internal/mail"
)

// metrics are what /metrics tells, in a registry of their own.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
	failures *prometheus.CounterVec
}

func newMetrics(version string) *metrics {
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	to := promauto.With(reg)
	to.NewGaugeFunc(prometheus.GaugeOpts{Name: "unink_build_info",
		Help:        "Always 1; the labels tell the build.",
		ConstLabels: prometheus.Labels{"version": version, "go": runtime.Version()}}, func() float64 {
		return 1
	})
	return &metrics{
		registry: reg,
		requests: to.NewHistogramVec(prometheus.HistogramOpts{Name: "unink_http_request_seconds",
			Help: "Time from a request's header to the end of its answer.", Buckets: cleaning.Buckets},
			[]string{"route", "status"}),
		failures: to.NewCounterVec(prometheus.CounterOpts{Name: "unink_failures_total",
			Help: "Requests refused or failed, by entry point and its own code."},
			[]string{"entry", "code"}),
	}
}

// scrapeTime bounds what a scrape asks the database.
const scrapeTime = 2 * time.Second

// watch adds what the services behind the entry points tell at each scrape. A value that cannot
// be had is NaN.
func (m *metrics) watch(s *setup.Services) {
	to := promauto.With(m.registry)
	gauge := func(name, help string, value func() float64) {
		to.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
	}
	gauge("unink_mail_oldest_seconds",
		"Age of the oldest mail that waits to be sent; alarm well before 7200.",
		mailGauge(s, func(m mail.Status) float64 { return m.OldestUnsent.Seconds() }))
	gauge("unink_mail_waiting", "Mails that wait to be sent.",
		mailGauge(s, func(m mail.Status) float64 { return float64(m.Waiting) }))
	gauge("unink_mail_dead", "Mails given up; alarm above 0.",
		mailGauge(s, func(m mail.Status) float64 { return float64(m.Dead) }))
	gauge("unink_credits_held", "Credits held for pages that are worked on.", func() float64 {
		ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
		defer cancel()
		open, err := s.Credits.Outstanding(ctx)
		if err != nil {
			return math.NaN()
		}
		return float64(open.Held)
	})
	to.NewCounterFunc(prometheus.CounterOpts{Name: "unink_uses_dropped_total",
		Help: "Uses missing in the statistics because the database was too slow or away."},
		func() float64 { return float64(s.Uses.Dropped()) })
	if f, shared := s.Limits.(*limit.Fallback); shared {
		gauge("unink_limits_degraded", "1 while Redis is away and each process counts for itself.",
			func() float64 {
				if f.Degraded() {
					return 1
				}
				return 0
			})
	}
}

func mailGauge(s *setup.Services, of func(mail.Status) float64) func() float64 {
	return func() float64 {
		ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
		defer cancel()
		status, err := s.Mail(ctx)
		if err != nil {
			return math.NaN()
		}
		return of(status)
	}
}

func (m *metrics) request(route string, status int, took time.Duration) {
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Observe(took.Seconds())
}

func (m *metrics) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(
		m.registry, promhttp.HandlerOpts{Registry: m.registry},
	))
	return mux
}
