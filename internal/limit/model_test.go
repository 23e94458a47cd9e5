package limit_test

import (
	"fmt"
	"slices"
	"time"

	"unink/internal/limit"
)

// call is a request and its verdict, which was given at some time from begin to end.
type call struct {
	begin, end time.Time
	keys       []string
	v          limit.Verdict
}

// book is every call so far, in order. It judges verdicts by looking at all of them: where the time
// is known exactly, exactly.
type book struct {
	windows []limit.Window
	calls   []call
}

// add judges a new call that was made after the others.
func (b *book) add(c call) error {
	defer func() { b.calls = append(b.calls, c) }()
	if c.v.OK {
		return b.fits(c)
	}
	return b.justified(c)
}

// fits complains when a passed call is surely one too many in a window.
func (b *book) fits(c call) error {
	if c.v != (limit.Verdict{OK: true}) {
		return fmt.Errorf("passed with %+v", c.v)
	}
	for _, key := range c.keys {
		for _, w := range b.windows {
			passed := b.passed(key)
			if len(passed) < w.Limit {
				continue
			}
			if first := passed[len(passed)-w.Limit]; c.end.Sub(first.begin) < w.Every {
				return fmt.Errorf("%s: %d requests within %v of window %s", key, w.Limit+1,
					c.end.Sub(first.begin), w.Name)
			}
		}
	}
	return nil
}

// justified complains when a refused call would surely have passed, when the time to wait is surely
// wrong, or when another window makes the caller wait longer.
func (b *book) justified(c call) error {
	var least, most time.Duration // how long it is until the request passes
	mostOf := map[string]time.Duration{}
	for _, key := range c.keys {
		for _, w := range b.windows {
			passed := b.passed(key)
			if len(passed) < w.Limit {
				continue
			}
			nth := passed[len(passed)-w.Limit]
			least = max(least, nth.begin.Add(w.Every).Sub(c.end))
			here := nth.end.Add(w.Every).Sub(c.begin)
			mostOf[w.Name] = max(mostOf[w.Name], here)
			most = max(most, here)
		}
	}
	switch wait := c.v.RetryAfter; {
	case most <= 0:
		return fmt.Errorf("%v: refused too early: %+v", c.keys, c.v)
	case wait <= 0 || wait < least || wait > most:
		return fmt.Errorf("%v: told to wait %v, not %v to %v", c.keys, wait, least, most)
	case wait > mostOf[c.v.Window]:
		return fmt.Errorf("%v: window %q makes nobody wait %v", c.keys, c.v.Window, wait)
	}
	return nil
}

// passed is the calls with a key that passed, by time.
func (b *book) passed(key string) []call {
	var passed []call
	for _, c := range b.calls {
		if c.v.OK && slices.Contains(c.keys, key) {
			passed = append(passed, c)
		}
	}
	return passed
}
