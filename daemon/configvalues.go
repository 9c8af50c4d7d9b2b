package daemon

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// parseAge reads a duration, also one in days.
func parseAge(s string) (time.Duration, error) {
	const day = 24 * time.Hour
	digits, days := strings.CutSuffix(s, "d")
	if !days {
		return time.ParseDuration(s)
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > int64(math.MaxInt64/day) {
		return 0, errors.New("not a number of days")
	}
	return time.Duration(n) * day, nil
}

// parseSize reads a number of bytes, such as "500MB"; a K is 1024.
func parseSize(s string) (int64, error) {
	s = strings.TrimSpace(s)
	digits := strings.TrimRight(s, "KMGTiBb ")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 {
		return 0, errors.New("not a size")
	}
	unit := strings.TrimSpace(s[len(digits):])
	for i, units := range [][]string{{"", "B"}, {"K", "KB", "KiB"}, {"M", "MB", "MiB"}, {"G", "GB", "GiB"}, {"T", "TB", "TiB"}} {
		if slices.Contains(units, unit) {
			if n > math.MaxInt64>>(10*i) {
				return 0, errors.New("too large")
			}
			return n << (10 * i), nil
		}
	}
	return 0, errors.New("unknown unit")
}
