package daemon

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// TestNothingIsToldAcrossAGap has a client take nothing for a moment, just when text that was held back is due: the item
// that comes behind that text must wait for it.
func TestNothingIsToldAcrossAGap(t *testing.T) {
	full := true
	var told []*Notification
	s := &Subscription{
		w:     &workspace{texts: map[string]*liveText{}},
		every: time.Hour,
		texts: map[string]int{}, held: map[string]*Notification{},
		sink: func(n *Notification) bool {
			if full {
				full = false
				return false
			}
			told = append(told, n)
			return true
		},
	}
	s.push(&Notification{Kind: sessions.KindItem, ID: "i", Delta: &Delta{ItemID: "i", Text: "text"}})
	s.push(&Notification{Kind: sessions.KindItem, ID: "i", Seq: 7})
	require.Empty(t, told)
	require.True(t, s.Behind())
	require.Zero(t, s.cursor)
	s.timer.Stop()
}
