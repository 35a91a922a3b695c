package config

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Statuses is a set of HTTP statuses, written as a range or a list of them: 500-599 or "500-599,429".
type Statuses []StatusRange

// StatusRange is the statuses from First to Last, both included.
type StatusRange struct{ First, Last int }

var statusForm = regexp.MustCompile(`^([0-9]{3})(?:-([0-9]{3}))?$`)

// UnmarshalText accepts statuses and ranges of them, separated by commas.
func (s *Statuses) UnmarshalText(text []byte) error {
	var ranges Statuses
	for part := range strings.SplitSeq(string(text), ",") {
		match := statusForm.FindStringSubmatch(strings.TrimSpace(part))
		if match == nil {
			return errors.New("not a range of statuses: write 500-599 or 500-599,429")
		}
		first, _ := strconv.Atoi(match[1])
		last := first
		if match[2] != "" {
			last, _ = strconv.Atoi(match[2])
		}
		if first < 100 || last > 599 || first > last {
			return errors.New("not a range of statuses from 100 to 599: write 500-599 or 500-599,429")
		}
		ranges = append(ranges, StatusRange{first, last})
	}
	*s = ranges
	return nil
}

// MarshalText is the form of the file.
func (s Statuses) MarshalText() ([]byte, error) {
	parts := make([]string, len(s))
	for i, r := range s {
		parts[i] = strconv.Itoa(r.First)
		if r.Last != r.First {
			parts[i] = fmt.Sprintf("%d-%d", r.First, r.Last)
		}
	}
	return []byte(strings.Join(parts, ",")), nil
}

// Contains tells whether status is in one of the ranges.
func (s Statuses) Contains(status int) bool {
	for _, r := range s {
		if r.First <= status && status <= r.Last {
			return true
		}
	}
	return false
}
