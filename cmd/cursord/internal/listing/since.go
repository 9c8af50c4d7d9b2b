package listing

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"cursord/cmd/cursord/internal/term"
)

// Since reads a span such as 7d, 12h or 30m, or a day such as 2026-11-23, and returns the moment that it names.
func Since(text string, now time.Time) (time.Time, error) {
	if day, err := time.ParseInLocation(time.DateOnly, text, now.Location()); err == nil {
		return day, nil
	}
	if days, is := strings.CutSuffix(text, "d"); is {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n <= 36500 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, fmt.Errorf("%q is no span of time: say 7d, 12h or 30m, or a day, as 2026-11-23", term.Clean(text))
}
