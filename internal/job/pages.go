package job

import (
	"fmt"
	"strconv"
	"strings"

	"unink/internal/misuse"
)

// Pages are pages that were asked for, such as 1,3,7-; none is all.
type Pages []pageRange

type pageRange struct{ first, last int } // from 1, both included; last 0 is the end

// ParsePages reads pages as --pages has them. The error is a [misuse.Error].
func ParsePages(s string) (Pages, error) {
	if s == "" {
		return nil, nil
	}
	var ranges Pages
	for part := range strings.SplitSeq(s, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "-")
		r := pageRange{1, 0}
		var errs [2]error
		if from != "" || !isRange {
			r.first, errs[0] = strconv.Atoi(from)
		}
		switch {
		case !isRange:
			r.last = r.first
		case to != "":
			r.last, errs[1] = strconv.Atoi(to)
		}
		endless := isRange && to == ""
		if errs != [2]error{} || r.first < 1 || !endless && r.last < r.first ||
			isRange && from == "" && to == "" {
			return nil, misuse.Errorf("--pages %q is not known; write such as 2-5 or 1,3,7-", s)
		}
		ranges = append(ranges, r)
	}
	return ranges, nil
}

// Of are the pages of n that were asked for, in their order, from 1.
func (p Pages) Of(n int) []int {
	var pages []int
	for page := 1; page <= n; page++ {
		if p.hold(page) {
			pages = append(pages, page)
		}
	}
	return pages
}

func noSuchPage(n int) error {
	return fmt.Errorf("none of the pages that --pages names is there; it has %d", n)
}

func (p Pages) hold(page int) bool {
	for _, r := range p {
		if page >= r.first && (r.last == 0 || page <= r.last) {
			return true
		}
	}
	return p == nil
}
