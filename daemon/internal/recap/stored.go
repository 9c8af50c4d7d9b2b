package recap

import (
	"encoding/json"

	"cursord/daemon/internal/decisionlog"
	"cursord/sessions"
)

// Stored is Text for a session of the store; root is its workspace, and said what the
// prompt says of the review beside it. What cannot be read of the review is left out.
func Stored(store *sessions.Store, root, session string, said []string, limit int) (text, remark string, err error) {
	pages := func(before string) ([]*sessions.Turn, []*sessions.Item, bool, error) {
		return store.Transcript(session, before, 0)
	}
	review := Review{Session: session, Said: said}
	review.Pending, _ = store.PendingDiffs(root)
	decisions, _ := store.Decisions(root)
	for _, d := range decisions {
		g := &decisionlog.Group{N: d.N}
		if json.Unmarshal(d.Data, g) == nil {
			review.Decisions = append(review.Decisions, g)
		}
	}
	return Text(pages, review, limit)
}
