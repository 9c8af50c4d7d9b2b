package lsp

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/editors/lsp/protocol"
)

// TestTheListIsEditedOnce: the open list of hunks gets an edit only when the editor has reported the change of the one before. Else
// Helix would say, over a message, that the edit is for an older text.
func TestTheListIsEditedOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "helix")
	d.client.ApplyEdit, d.client.DocumentChanges = true, true
	hunk := func(path string) {
		d.heard("diff/changed", fmt.Appendf(nil, `{"workspace":%q,"seq":1,"diff":{"workspace":%[1]q,"path":%q,"kind":"created","state":"pending","baseline":"known","rev":1,
			"seq":1,"hunks":[{"id":"%[2]s.1","kind":"file","newStart":1,"newLines":1,"lines":["+one"],"isolated":true,"sources":[]}]}}`, d.w.path, path))
		d.syncReview(d.w)
	}
	var open protocol.DidOpenParams
	open.TextDocument.URI = d.reviewURI(d.w)
	d.didOpen(&open)
	none := len(d.asked)
	hunk("a")
	require.Len(t, d.asked, none+1)
	first := fmt.Sprintf("%q", fmt.Sprintf("cursord-%d", d.askedID))
	text := d.reviewText(d.w)
	hunk("b")
	d.replies(first, `{"applied":true}`)
	hunk("c")
	require.Len(t, d.asked, none, "its change has not come")
	var change protocol.DidChangeParams
	raw, err := json.Marshal(text)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(fmt.Appendf(nil, `{"textDocument":{"uri":%q,"version":1},"contentChanges":[{"text":%s}]}`, d.reviewURI(d.w), raw), &change))
	d.didChange(&change)
	require.Len(t, d.asked, none+1)
}
