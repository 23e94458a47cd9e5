package contract

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"unink/internal/store/storetest"
)

// smallPage is a page with less work in it than [page].
var smallPage = string(encoded(drawn(120, 50, true)))

// blankPage is refused after its credit was held.
var blankPage = string(encoded(drawn(64, 64, false)))

// TestKilled ends the service again and again while it works. A credit is settled before the last
// byte of its answer: a kill before that charges nothing, and one at that very byte charges one
// page that did not arrive whole. A caller with an idempotency key asks until it has its page, and
// is charged for it once.
func TestKilled(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, address string) {
		t.Parallel()
		s := prepare(t, address, "--per-customer", "100", "--queue", "100", "--max-requests", "200",
			"--deadline", "15s", "--upload-timeout", "500ms")
		s.start(t)
		const keyed, plain, blank, credits = 12, 80, 108, 200
		b := &barrage{s: s, cleaned: map[string]int{}, answered: make(chan struct{}, 1000)}
		once, free, none := s.customerWith(t, credits), s.customerWith(t, credits),
			s.customerWith(t, credits)
		var jobs []func()
		for i := range keyed {
			r := once.cleanup(media(smallPage)).with("Idempotency-Key", fmt.Sprint(i))
			jobs = append(jobs, func() { b.insist(t, r) })
		}
		for range plain {
			jobs = append(jobs, func() { b.ask(t, "plain", free.cleanup(media(smallPage))) })
		}
		for range blank {
			jobs = append(jobs, func() { b.ask(t, "blank", none.cleanup(media(blankPage))) })
		}
		kills := b.run(t, jobs)
		if kills < 3 || b.cleaned["plain"] == 0 || b.cleaned["plain"] == plain {
			t.Fatalf("%d kills, %d of %d pages without a key came back", kills, b.cleaned["plain"], plain)
		}
		s.released(t, once, free, none)
		s.audit(t)

		settled := s.ledger(t, free.id).count("settle")
		if lost := settled - b.cleaned["plain"]; lost < 0 || lost > kills*barrageWidth {
			t.Errorf("%d pages came back and %d were charged, in %d kills", b.cleaned["plain"],
				settled, kills)
		}
		if n := s.ledger(t, none.id).count("settle"); n != 0 || b.cleaned["blank"] != 0 {
			t.Errorf("%d charged for blank pages, %d of which came back", n, b.cleaned["blank"])
		}
		before := s.ledger(t, once.id).count("settle")
		t.Logf("%d kills; without a key %d pages came back, %d of them charged; with one %d, %d charged",
			kills, b.cleaned["plain"], settled, b.cleaned["keyed"], before)

		// Asked again, each key gives its page, and charges nothing that was charged before.
		charged := 0
		for i := range keyed {
			a := s.send(t, once.cleanup(media(smallPage)).with("Idempotency-Key", fmt.Sprint(i)))
			a.code(t, 200, 0)
			n, err := strconv.Atoi(a.header.Get("X-Credits-Charged"))
			if err != nil {
				t.Fatal(err)
			}
			charged += n
		}
		if b.cleaned["keyed"] != keyed || before+charged != keyed {
			t.Errorf("of %d keys %d gave a page; %d were charged, %d when asked again", keyed,
				b.cleaned["keyed"], before, charged)
		}
		for c, settled := range map[customer]int{once: keyed, free: settled, none: 0} {
			l := s.ledger(t, c.id)
			left := 0
			for _, p := range l.Packages {
				left += p.Remaining
			}
			if l.count("settle") != settled || l.sum() != credits-settled || left != l.sum() {
				t.Errorf("%d settled of %d, %d left, the ledger's sum is %d", l.count("settle"), settled,
					left, l.sum())
			}
		}
		s.audit(t)
		s.stop(t)
	})
}

// barrageWidth is how many requests are under way at once.
const barrageWidth = 8

// barrageKills is how often the service is killed at most.
const barrageKills = 6

// barrage sends requests to a service that does not live long.
type barrage struct {
	s        *service
	up       sync.RWMutex // held for writing while the service is down
	answered chan struct{}
	mu       sync.Mutex
	cleaned  map[string]int // pages that came back, by the kind of request
}

// run does the jobs in any order and kills the service meanwhile; it returns how often.
func (b *barrage) run(t *testing.T, jobs []func()) (kills int) {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if given, err := strconv.ParseUint(os.Getenv("UNINK_TEST_SEED"), 10, 64); err == nil {
		seed = given
	}
	t.Logf("UNINK_TEST_SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	rng.Shuffle(len(jobs), func(i, j int) { jobs[i], jobs[j] = jobs[j], jobs[i] })
	queue := make(chan func())
	var workers sync.WaitGroup
	for range barrageWidth {
		workers.Go(func() {
			for job := range queue {
				job()
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		for _, job := range jobs {
			queue <- job
		}
		close(queue)
		workers.Wait()
		close(ended)
	}()
	for kills < barrageKills {
		for range 5 + rng.IntN(40) {
			select {
			case <-b.answered:
			case <-ended:
				return kills
			}
		}
		// half of the kills come right after an answer, the others at any moment of the next page
		select {
		case <-time.After(time.Duration(rng.IntN(2)*rng.IntN(200)) * time.Millisecond):
		case <-ended:
			return kills
		}
		b.up.Lock()
		b.s.kill()
		kills++
		b.s.start(t)
		b.up.Unlock()
	}
	<-ended
	return kills
}

// ask sends a request until the service does something about it or dies, and reports whether its
// page came back. A busy service says so, and so does one that holds the key for a request that
// died; both do nothing.
func (b *barrage) ask(t *testing.T, kind string, r request) bool {
	for late := time.After(patience); ; {
		b.up.RLock()   // requests begin while the service is there, and may see it go
		b.up.RUnlock() //nolint:staticcheck // nothing is guarded but the beginning
		a, err := b.s.try(r)
		if err != nil {
			return false
		}
		switch a.status {
		case http.StatusServiceUnavailable:
			select {
			case <-time.After(200 * time.Millisecond): // as Retry-After asks, but sooner
				continue
			case <-late:
				t.Errorf("%s: still busy: %.200s", kind, a.body)
				return false
			}
		case http.StatusOK:
			b.mu.Lock()
			b.cleaned[kind]++
			b.mu.Unlock()
		case http.StatusUnprocessableEntity, http.StatusGatewayTimeout:
		default:
			t.Errorf("%s: %d %.200s", kind, a.status, a.body)
		}
		b.answered <- struct{}{}
		return a.status == http.StatusOK
	}
}

// insist sends a request with an idempotency key until its page comes back.
func (b *barrage) insist(t *testing.T, r request) {
	for late := time.Now().Add(2 * patience); !b.ask(t, "keyed", r); {
		if time.Now().After(late) {
			t.Error("a page with a key never came back")
			return
		}
	}
}

// released waits until nobody's credits are held: at the start on SQLite, after their lease on
// PostgreSQL, where another service could be at work.
func (s *service) released(t *testing.T, customers ...customer) {
	t.Helper()
	for seen := 0; ; seen++ {
		open := 0
		for _, c := range customers {
			l := s.ledger(t, c.id)
			open += l.count("reserve") - l.count("settle") - l.count("release")
		}
		if open == 0 {
			return
		}
		if embedded := len(s.storage) == 2; embedded {
			t.Fatalf("%d credits are held after the start", open)
		}
		n := 0
		s.log.wait(t, "released", func(l line) bool {
			if l["msg"] == "credits were released whose work never ended" {
				n++
			}
			return n > seen
		})
	}
}
