//go:build unix

package scenarios

import (
	"fmt"
	"maps"
	"slices"

	"cursord/daemon/api"
	"cursord/sessions"
)

// maybeYours returns the hunks that only a decision by id may reject.
func maybeYours(d *sessions.Diff) map[string]bool {
	var ids []string
	for _, h := range d.Hunks {
		if slices.Contains(viasOf(h), string(sessions.ViaUnknown)) {
			ids = append(ids, h.ID)
		}
	}
	return closure(d, ids)
}

// withoutYours returns the skipped hunks that are not in yours. All of yours must have been skipped, for whatever reason.
func withoutYours(skipped []api.Skipped, yours map[string]bool) (others []api.Skipped, err error) {
	left, rest := map[string]bool{}, maps.Clone(yours)
	for _, sk := range skipped {
		if sk.Kind == api.KindMaybeYours {
			left[sk.Hunk] = true
		} else {
			others = append(others, sk)
			delete(rest, sk.Hunk)
		}
	}
	if !maps.Equal(left, rest) {
		return nil, fmt.Errorf("left as maybe the person's: %v, not %v", left, yours)
	}
	return others, nil
}

func fromTurn(h sessions.Hunk, turn string) bool {
	return slices.ContainsFunc(h.Sources, func(src sessions.Source) bool { return src.TurnID == turn })
}
