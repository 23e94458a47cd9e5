package fleet

import "github.com/prometheus/client_golang/prometheus"

// counts are what the service's /metrics tells of the fleet.
type counts struct {
	pages   prometheus.Gauge
	retries prometheus.Counter
	losses  prometheus.Counter
	results *prometheus.CounterVec
	slots   prometheus.GaugeFunc
	waiting prometheus.GaugeFunc
}

var workersDesc = prometheus.NewDesc("unink_fleet_workers",
	"Workers that are known now, by what they are made of.", []string{"model", "version"}, nil)

func newCounts(c *Client) *counts {
	return &counts{
		pages: prometheus.NewGauge(prometheus.GaugeOpts{Name: "unink_fleet_pages",
			Help: "Pages that workers have now."}),
		retries: prometheus.NewCounter(prometheus.CounterOpts{Name: "unink_fleet_retries_total",
			Help: "Pages given to another worker because the first one lost them."}),
		losses: prometheus.NewCounter(prometheus.CounterOpts{Name: "unink_fleet_losses_total",
			Help: "Times that a worker failed or vanished with a page."}),
		results: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "unink_fleet_results_total",
			Help: "Pages that came back clean, by what their worker is made of."},
			[]string{"model", "version"}),
		slots: prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "unink_fleet_slots",
			Help: "Pages that the known workers can clean at once."}, func() float64 {
			return float64(c.workers.slots())
		}),
		waiting: prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "unink_fleet_pages_waiting",
			Help: "Pages past the queue that wait for a slot, all of which are busy."}, func() float64 {
			return float64(c.free.len())
		}),
	}
}

func (c *counts) all() []prometheus.Collector {
	return []prometheus.Collector{c.pages, c.retries, c.losses, c.results, c.slots, c.waiting}
}

// Describe makes a [Client] a prometheus.Collector.
func (c *Client) Describe(out chan<- *prometheus.Desc) {
	for _, metric := range c.counts.all() {
		metric.Describe(out)
	}
	out <- workersDesc
}

// Collect makes a [Client] a prometheus.Collector.
func (c *Client) Collect(out chan<- prometheus.Metric) {
	for _, metric := range c.counts.all() {
		metric.Collect(out)
	}
	builds := map[Build]int{}
	for b, n := range c.workers.builds() {
		b.Model = shortModel(b.Model)
		builds[b] += n
	}
	if len(builds) == 0 {
		builds[Build{}] = 0 // none is a number, too
	}
	for b, n := range builds {
		out <- prometheus.MustNewConstMetric(workersDesc, prometheus.GaugeValue, float64(n),
			b.Model, b.Version)
	}
}

// shortModel is enough of a model's hash to tell it from others.
func shortModel(hash string) string { return hash[:min(len(hash), 12)] }
