package resilience

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// load is callers who have one page after the other cleaned.
type load struct {
	t       *testing.T
	system  *System
	callers []*Caller
	stop    chan struct{}
	running sync.WaitGroup

	mu      sync.Mutex
	answers []Answer        // since the last look
	cleaned map[*Caller]int // pages that came back, ever
	lost    map[*Caller]int // requests whose answer never came, ever
	asked   map[*Caller]int // answers, ever
}

// begin has every caller pause after each page for a time, or for a part of what the page took.
func begin(t *testing.T, s *System, callers []*Caller,
	pause func(took time.Duration) time.Duration) *load {
	t.Helper()
	l := &load{t: t, system: s, callers: callers, stop: make(chan struct{}),
		cleaned: map[*Caller]int{}, lost: map[*Caller]int{}, asked: map[*Caller]int{}}
	for _, c := range callers {
		l.running.Go(func() {
			for {
				a := c.Clean(Page)
				l.note(c, a)
				select {
				case <-time.After(pause(a.Took)):
				case <-l.stop:
					return
				}
			}
		})
	}
	return l
}

func (l *load) note(c *Caller, a Answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answers = append(l.answers, a)
	l.asked[c]++
	if a.Cleaned() {
		l.cleaned[c]++
	}
	if a.Err != nil { // the page may have been paid for, and its answer lost
		l.lost[c]++
	}
	if refused := a.Status == 503 || a.Status == 429; refused && !a.RetryAfter {
		l.t.Errorf("%v without Retry-After", a)
	}
}

// pass waits until every caller has asked once more and was answered.
func (l *load) pass() {
	l.t.Helper()
	l.mu.Lock()
	before := maps.Clone(l.asked)
	l.mu.Unlock()
	passed := func(c *Caller) bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.asked[c] >= before[c]+2 // the first may have been asked before
	}
	for _, c := range l.callers {
		for late := time.Now().Add(patience); !passed(c); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(late) {
				l.t.Fatalf("%s hangs", c.Owner)
			}
		}
	}
}

// look is the answers since the last look.
func (l *load) look() []Answer {
	l.mu.Lock()
	defer l.mu.Unlock()
	answers := l.answers
	l.answers = nil
	return answers
}

// end stops the callers, waits for their last answers, and returns those since the last look.
func (l *load) end() []Answer {
	close(l.stop)
	l.running.Wait()
	return l.look()
}

// kinds counts answers by status and code.
func kinds(answers []Answer) map[string]int {
	n := map[string]int{}
	for _, a := range answers {
		n[a.String()]++
	}
	return n
}

// only wants no other answers than these, and none late.
func only(t *testing.T, when string, answers []Answer, longest time.Duration, want ...string) {
	t.Helper()
	told := map[string]bool{}
	for _, a := range answers {
		if kind := a.String(); !slices.Contains(want, kind) && !told[kind] {
			told[kind] = true
			t.Errorf("%s: %s after %v: %s %v", when, kind, a.Took, a.Text, a.Err)
		}
		if a.Took > longest {
			t.Errorf("%s: %v took %v, longer than %v", when, a, a.Took, longest)
		}
	}
	if len(answers) == 0 {
		return
	}
	all := kinds(answers)
	var text []string
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		text = append(text, strings.TrimSpace(kind)+" ×"+strconv.Itoa(all[kind]))
	}
	t.Logf("%s: %s", when, strings.Join(text, ", "))
}

// audit wants that nobody paid for more pages than came back or were lost on their way, that at
// most so many came back for nothing, and that every balance is its ledger's sum.
func (l *load) audit(free int) {
	l.t.Helper()
	deadline := time.Now().Add(patience)
	for { // what was held when the database went comes back when its lease ends
		held, err := l.system.Metric(l.system.Services[0], "unink_credits_held")
		if err == nil && held == 0 {
			break
		}
		if time.Now().After(deadline) {
			l.t.Fatalf("%v credits are still held (%v)", held, err)
		}
		time.Sleep(100 * time.Millisecond)
	}
	away := 0
	for _, c := range l.callers {
		used := must(c.Used())(l.t)
		if used > l.cleaned[c]+l.lost[c] {
			l.t.Errorf("%s paid for %d pages, got %d, and %d answers were lost", c.Owner, used,
				l.cleaned[c], l.lost[c])
		}
		away += l.cleaned[c] - used
	}
	if away > free {
		l.t.Errorf("%d pages were given away, more than %d", away, free)
	}
	l.t.Logf("%d pages given away, at most %d may be", away, free)
}
