package updates

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/paths"
	"cursord/editors/acp/protocol"
	"cursord/rpc"
	"cursord/sessions"
)

// A told is what a client has been told.
type told struct {
	Update     string `json:"sessionUpdate"`
	MessageID  string `json:"messageId"`
	ToolCallID string `json:"toolCallId"`
	Status     string
	Title      string
	Content    json.RawMessage
}

func listening() (*Session, *[]told) {
	all := &[]told{}
	return NewSession("/ws", func(update json.RawMessage) {
		var one told
		if err := json.Unmarshal(update, &one); err != nil {
			panic(err)
		}
		*all = append(*all, one)
	}), all
}

func joined(all []told) string {
	var b strings.Builder
	for _, one := range all {
		var block struct{ Text string }
		_ = json.Unmarshal(one.Content, &block)
		b.WriteString("[" + one.MessageID + "]" + block.Text)
	}
	return b.String()
}

func message(id string, status sessions.ItemStatus, text string) *sessions.Item {
	return &sessions.Item{ID: id, TurnID: "t", Kind: sessions.ItemAssistant, Status: status, Text: text}
}

// TestText: each piece of a text is told once, whatever comes again or is missing.
func TestText(t *testing.T) {
	const running, done = sessions.ItemRunning, sessions.ItemCompleted
	delta := func(offset int, text string) any {
		return &rpc.DeltaParams{TurnID: "t", ItemID: "a", Offset: offset, Text: text}
	}
	for name, one := range map[string]struct {
		come []any
		want string
	}{
		"pieces":                 {[]any{message("a", running, ""), delta(0, "one "), delta(4, "two"), message("a", done, "one two")}, "[a]one [a]two"},
		"whole":                  {[]any{message("a", done, "one two")}, "[a]one two"},
		"caught up":              {[]any{message("a", running, "one "), message("a", running, "one two"), delta(7, " three"), message("a", done, "one two three")}, "[a]one [a]two[a] three"},
		"a piece again":          {[]any{message("a", running, ""), delta(0, "one "), delta(0, "one "), delta(2, "e two")}, "[a]one [a]two"},
		"a gap":                  {[]any{message("a", running, ""), delta(0, "one "), delta(8, "three"), message("a", done, "one two three")}, "[a]one [a]two three"},
		"taken back":             {[]any{message("a", running, ""), delta(0, "wrong"), message("a", running, ""), delta(0, "right"), message("a", done, "right")}, "[a]wrong[a~2]right"},
		"taken back twice":       {[]any{message("a", running, "x"), message("a", running, ""), message("a", running, "y"), message("a", running, "z"), message("a", done, "z")}, "[a]x[a~2]y[a~3]z"},
		"another text":           {[]any{message("a", running, "wrong"), message("a", done, "right answer")}, "[a]wrong[a~2]right answer"},
		"lost in a crash":        {[]any{message("a", running, ""), delta(0, "one two"), message("a", sessions.ItemCancelled, "one")}, "[a]one two"},
		"a piece too early":      {[]any{delta(0, "one"), message("a", done, "one")}, "[a]one"},
		"characters of bytes":    {[]any{message("a", running, ""), delta(0, "é"), delta(2, "ß"), message("a", done, "éß€")}, "[a]é[a]ß[a]€"},
		"two messages":           {[]any{message("a", done, "one"), message("b", done, "two")}, "[a]one[b]two"},
		"an empty message":       {[]any{message("a", running, ""), message("a", done, "")}, ""},
		"a plan":                 {[]any{&sessions.Item{ID: "a", TurnID: "t", Kind: sessions.ItemPlan, Status: done, Text: "# Plan"}}, "[a]# Plan"},
		"a notice":               {[]any{&sessions.Item{ID: "a", TurnID: "t", Kind: sessions.ItemNotice, Status: done, Text: "two\nlines"}}, "[a]\n\n> **cursord:** two\n> lines\n\n"},
		"after it was forgotten": {[]any{message("a", running, "one"), &sessions.Turn{ID: "t", Status: sessions.TurnCompleted}, delta(3, "two")}, "[a]one"},
	} {
		t.Run(name, func(t *testing.T) {
			s, all := listening()
			s.Asked("t")
			for _, c := range one.come {
				switch c := c.(type) {
				case *sessions.Item:
					s.Item(c, false)
				case *rpc.DeltaParams:
					s.Delta(c)
				case *sessions.Turn:
					s.Turn(c)
				}
			}
			require.Equal(t, one.want, joined(*all))
		})
	}
}

// TestTurnsOfOthers: the prompt of a turn that the client did not send comes once, when the turn runs.
func TestTurnsOfOthers(t *testing.T) {
	s, all := listening()
	for _, status := range []sessions.TurnStatus{sessions.TurnQueued, sessions.TurnRunning, sessions.TurnRunning, sessions.TurnCompleted} {
		s.Turn(&sessions.Turn{ID: "t", Status: status, Prompt: "Do it", Images: []string{"/a.png"}})
	}
	require.Equal(t, "[t]Do it\n\n[image: /a.png]", joined(*all))
	require.False(t, s.Knows("t"))

	// Who has sent an image alone has said nothing.
	s, all = listening()
	s.Turn(&sessions.Turn{ID: "t", Status: sessions.TurnRunning, Prompt: NoWords, Images: []string{"/a.png"}})
	require.Equal(t, "[t][image: /a.png]", joined(*all))
}

// TestImages: an image that went with a prompt comes as one. One that cannot be read any more, or is too large, is named.
func TestImages(t *testing.T) {
	dir := t.TempDir()
	put := func(name string, size int) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, size)...), 0o644))
		return path
	}
	small, large, gone := put("small.png", 1), put("large.png", maxImage), filepath.Join(dir, "gone.png")
	s, all := listening()
	s.Turn(&sessions.Turn{ID: "t", Status: sessions.TurnRunning, Prompt: "Look", Images: []string{small, large, gone}})
	require.Len(t, *all, 2)
	require.Equal(t, "[t]Look\n\n[image: "+large+"]\n[image: "+gone+"]", joined((*all)[:1]))
	require.Equal(t, []string{"user_message_chunk", "t"}, []string{(*all)[1].Update, (*all)[1].MessageID})
	require.JSONEq(t, `{"type":"image","mimeType":"image/png","data":"iVBORw0KGgoA","uri":"`+paths.URI(small)+`"}`, string((*all)[1].Content))

	most := put("most.png", maxImage-8)
	s, all = listening()
	s.Turn(&sessions.Turn{ID: "t", Status: sessions.TurnRunning, Prompt: NoWords, Images: slices.Repeat([]string{most}, maxImages/maxImage+1)})
	require.Len(t, *all, 1+maxImages/maxImage)
	require.Equal(t, "[t][image: "+most+"]", joined((*all)[:1]))
}

// TestHintsAreForThisEditor: what the daemon says of its other clients is said for an editor with ACP.
func TestHintsAreForThisEditor(t *testing.T) {
	s, all := listening()
	s.Remark("r", `mode "agent" lets it do more (cursord run --mode agent; in cursord chat: /mode agent)`)
	require.Equal(t, "[r]\n\n> **cursord:** mode \"agent\" lets it do more (choose it in the editor)\n\n", joined(*all))

	s, all = listening()
	s.Item(&sessions.Item{ID: "i", TurnID: "t", Kind: sessions.ItemNotice, Text: `The plan was accepted. This turn only plans: start one in mode "agent" to have the plan carried out.`}, false)
	require.Equal(t, "[i]\n\n> **cursord:** The plan was accepted. This turn only plans: choose the mode Agent, and send a prompt such as \"Carry out the plan\".\n\n", joined(*all))
}

// TestFailedTurns: a client that has no other word of it is told why a turn failed.
func TestFailedTurns(t *testing.T) {
	failed := &sessions.Turn{ID: "t", Status: sessions.TurnFailed, Prompt: "x", Error: &sessions.TurnError{Message: "no network", Hint: "try again"}}
	for _, one := range []struct {
		turn *sessions.Turn
		told bool
		want string
	}{
		{failed, false, "[t]x[t:end]\n\n> **cursord:** no network – try again\n\n"},
		{failed, true, "[t]x"},
		{&sessions.Turn{ID: "t", Status: sessions.TurnFailed, Prompt: "x", Error: &sessions.TurnError{Message: "no"}}, false, "[t]x[t:end]\n\n> **cursord:** no\n\n"},
		{&sessions.Turn{ID: "t", Status: sessions.TurnCancelled, Prompt: "x"}, false, "[t]x"},
		{&sessions.Turn{ID: "t", Status: sessions.TurnInterrupted, Prompt: "x"}, false,
			"[t]x[t:end]\n\n> **cursord:** the turn was interrupted, because the daemon ended – send the prompt again\n\n"},
	} {
		s, all := listening()
		s.Turn(&sessions.Turn{ID: "t", Status: sessions.TurnRunning, Prompt: "x"})
		if one.told {
			s.Told("t")
		}
		s.Turn(one.turn)
		require.Equal(t, one.want, joined(*all))
	}
}

// TestPass: of an item that had ended before a client came, it is told nothing.
func TestPass(t *testing.T) {
	s, all := listening()
	s.Asked("t")
	ended := []*sessions.Item{
		message("a", sessions.ItemCompleted, "one "),
		{ID: "b", TurnID: "t", Kind: sessions.ItemTool, Status: sessions.ItemCompleted, Tool: &sessions.Tool{Name: "shell", Title: "make"}},
	}
	for _, i := range ended {
		s.Pass(i)
		s.Item(i, true)
	}
	require.Empty(t, *all)
	s.Item(message("c", sessions.ItemRunning, "two"), true)
	require.Equal(t, "[c]two", joined(*all))
}

// TestEnds: how a call ended, and why.
func TestEnds(t *testing.T) {
	for status, want := range map[sessions.ItemStatus]struct{ status, word string }{
		sessions.ItemCompleted: {protocol.Completed, ""},
		sessions.ItemFailed:    {protocol.Failed, ""},
		sessions.ItemRejected:  {protocol.Failed, "not allowed"},
		sessions.ItemCancelled: {protocol.Failed, "turn ended"},
	} {
		s, all := listening()
		s.Asked("t")
		s.Item(&sessions.Item{ID: "a", TurnID: "t", Kind: sessions.ItemTool, Status: status, Tool: &sessions.Tool{Name: "fetch", RawName: "webFetch"}}, true)
		require.Len(t, *all, 1)
		require.Equal(t, []string{"tool_call", want.status, "webFetch"}, []string{(*all)[0].Update, (*all)[0].Status, (*all)[0].Title})
		require.Contains(t, string((*all)[0].Content), want.word)
	}
	for output, want := range map[string]int{"it is denied\n": 1, "half of it": 2} { // the same words once came twice
		s, all := listening()
		s.Asked("t")
		denied := &sessions.Tool{Name: "shell", Title: "x", Output: output, Error: "it is denied"}
		s.Item(&sessions.Item{ID: "a", TurnID: "t", Kind: sessions.ItemTool, Status: sessions.ItemFailed, Tool: denied}, true)
		require.Equal(t, want, strings.Count(string((*all)[0].Content), `"text":`), output)
	}
	s, all := listening()
	s.Asked("t")
	s.Item(&sessions.Item{ID: "a", TurnID: "t", Kind: sessions.ItemTool, Status: sessions.ItemRunning, Tool: &sessions.Tool{Name: "shell", Title: "x"}}, true)
	s.Turn(&sessions.Turn{ID: "t", Status: sessions.TurnInterrupted})
	require.Equal(t, protocol.Failed, (*all)[1].Status, "no call is open behind its turn")
}

// TestPlanStays: once the answer to a plan took the place of the plan.
func TestPlanStays(t *testing.T) {
	s, all := listening()
	s.Asked("t")
	plan := func(status sessions.ItemStatus, output string) *sessions.Item {
		return &sessions.Item{
			ID: "a", TurnID: "t", Kind: sessions.ItemPlan, Status: status, Text: "1. do it", Tool: &sessions.Tool{Name: "other", RawName: "createPlan", Output: output},
		}
	}
	s.Item(plan(sessions.ItemRunning, ""), true)
	s.Item(plan(sessions.ItemCompleted, "The plan was accepted."), true)
	require.Len(t, *all, 2)
	require.Contains(t, string((*all)[0].Content), "1. do it")
	require.Regexp(t, `1\. do it.*The plan was accepted\.`, string((*all)[1].Content))
}

// TestShortened: of large texts, the lines that differ come, with some around.
func TestShortened(t *testing.T) {
	lines := func(n int, changed ...string) string {
		all := strings.Split(strings.Repeat("the same words on each line\n", n), "\n")
		for i, line := range changed {
			all[n/2+i] = line
		}
		return strings.Join(all, "\n")
	}
	old, now := lines(40_000), lines(40_000, "new", "and new")
	short := shortened(&protocol.Diff{Type: "diff", Path: "/f", OldText: &old, NewText: now})
	require.Equal(t, strings.Repeat("the same words on each line\n", 8), *short.OldText)
	require.Equal(t, strings.Repeat("the same words on each line\n", 3)+"new\nand new\n"+strings.Repeat("the same words on each line\n", 3), short.NewText)

}

// TestChangesOfCalls: what a call has changed comes as its hunks, each with its two sides, and in words where these do not show it.
func TestChangesOfCalls(t *testing.T) {
	s, all := listening()
	s.Asked("t")
	call := func(changes ...sessions.Change) *sessions.Item {
		return &sessions.Item{
			ID: "a", TurnID: "t", Kind: sessions.ItemTool, Status: sessions.ItemCompleted, Changes: changes, MoreChanges: len(changes) / 5,
			Tool: &sessions.Tool{Name: "shell", Title: "make", Output: "done", Paths: []string{}},
		}
	}
	s.Item(call(), false)
	changed := call(
		sessions.Change{Path: "f", Kind: sessions.DiffModified, Added: 2, Removed: 1, Patch: "@@ -1,2 +1,2 @@\n a\n-b\n+c\n@@ -9 +9,2 @@\n x\n+--y\n\\ No newline at end of file\n", Cut: true},
		sessions.Change{Path: "new", Kind: sessions.DiffCreated, Added: 1, Patch: "@@ -0,0 +1 @@\n+n\n"},
		sessions.Change{Path: "gone", Kind: sessions.DiffDeleted, Removed: 1, Patch: "@@ -1 +0,0 @@\n-g\n\\ No newline at end of file\n"},
		sessions.Change{Path: "to", OldPath: "from", Kind: sessions.DiffRenamed},
		sessions.Change{Path: "pic", Kind: sessions.DiffBinary},
	)
	s.Item(changed, false)
	s.Item(changed, false)
	require.Len(t, *all, 2, "once")
	require.Equal(t, []string{"tool_call_update", protocol.Completed, "make"}, []string{(*all)[1].Update, (*all)[1].Status, (*all)[1].Title})
	require.JSONEq(t, `[
		{"type":"diff","path":"/ws/f","oldText":"a\nb\n","newText":"a\nc\n"},
		{"type":"diff","path":"/ws/f","oldText":"x\n","newText":"x\n--y"},
		{"type":"content","content":{"type":"text","text":"f: modified, +2 −1; not all of it is shown"}},
		{"type":"diff","path":"/ws/new","oldText":null,"newText":"n\n"},
		{"type":"diff","path":"/ws/gone","oldText":"g","newText":""},
		{"type":"content","content":{"type":"text","text":"from → to: renamed"}},
		{"type":"content","content":{"type":"text","text":"pic: binary"}},
		{"type":"content","content":{"type":"text","text":"… and more changes of 1 file"}},
		{"type":"content","content":{"type":"text","text":"`+"```\\ndone\\n```"+`"}}
	]`, string((*all)[1].Content))

	// A change that turns out to be another call's is taken back, also from a call that has nothing else to show.
	s.Item(call(), false)
	require.Len(t, *all, 3)
	require.JSONEq(t, `[{"type":"content","content":{"type":"text","text":"`+"```\\ndone\\n```"+`"}}]`, string((*all)[2].Content))
	require.Equal(t, "make", (*all)[2].Title)
	silent := call()
	silent.Tool.Output = ""
	s.Item(changed, false)
	s.Item(silent, false)
	s.Item(silent, false)
	require.Len(t, *all, 5)
	require.JSONEq(t, "[]", string((*all)[4].Content))
	*all = (*all)[:2]

	// Of a hunk that was cut off nothing is shown, of many hunks the first, and a file without room for any is counted.
	other, seen := listening()
	other.Asked("t")
	many := sessions.Change{Path: "many", Kind: sessions.DiffModified, Added: 201, Removed: 201, Patch: strings.Repeat("@@ -1 +1 @@\n-a\n+b\n", 201)}
	other.Item(call(
		sessions.Change{Path: "cut", Kind: sessions.DiffModified, Added: 9, Removed: 9, Patch: "@@ -1,9 +1,9 @@\n-a\n-b\n", Cut: true}, many,
		sessions.Change{Path: "f", Kind: sessions.DiffModified, Added: 1, Removed: 1, Patch: "@@ -1 +1 @@\n-a\n+b\n"},
	), false)
	content := string((*seen)[0].Content)
	require.Equal(t, 199, strings.Count(content, `"newText":"b\n"`))
	require.NotContains(t, content, `"path":"/ws/cut"`)
	for _, said := range []string{"cut: modified, +9 −9; not all of it is shown", "many: modified, +201 −201; not all of it is shown", "… and more changes of 1 file"} {
		require.Contains(t, content, said)
	}

	for patch, line := range map[string]int{
		"": 0, "@@ -0,0 +1 @@\n+a\n": 1, "@@ -1 +0,0 @@\n-a\n": 1, "@@ -4,3 +5,3 @@\n a\n-b\n+c\n d\n": 6, "?\n": 1,
	} {
		require.Equal(t, line, changedLine(&sessions.Change{Patch: patch}), patch)
	}

	// What an older daemon has stored has no changes: the agent's report stands for them, once the turn has ended.
	old := call()
	old.ID, old.Tool.Name, old.Tool.Paths = "b", "edit", []string{"f"}
	old.Tool.Result = json.RawMessage(`{"success":{"beforeFullFileContent":"a\n","afterFullFileContent":"b\n"}}`)
	s.Item(old, true)
	require.Contains(t, string((*all)[2].Content), `{"type":"diff","path":"/ws/f","oldText":"a\n","newText":"b\n"}`)
	old.ID = "c"
	s.Item(old, false)
	require.NotContains(t, string((*all)[3].Content), "diff")
}

// TestFenced: a block of Markdown ends at no fence of its text.
func TestFenced(t *testing.T) {
	require.Equal(t, "````sh\na\n```\nb\n````", protocol.Fenced("sh", "a\n```\nb\n"))
}

// TestOutputWithoutItsMiddle: two halves of lines do not become one.
func TestOutputWithoutItsMiddle(t *testing.T) {
	require.Equal(t, "18\n1860\n", outputOf(&sessions.Tool{Output: "18\n1860\n"}))
	require.Equal(t, "1\n22\n… (the middle is not shown)\n444\n5", outputOf(&sessions.Tool{Output: "1\n22\n18" + "3\n444\n5", OutputTruncated: true}))
	require.Equal(t, "xx\n… (the middle is not shown)\nyy", outputOf(&sessions.Tool{Output: "xxyy", OutputTruncated: true}))
}

// TestWaits: a call that waits for a person is pending, and the client is told when it goes on.
func TestWaits(t *testing.T) {
	s, all := listening()
	require.Empty(t, s.Waits("t:0"), "it is not known yet")
	call := sessions.Item{ID: "t:0", TurnID: "t", Kind: sessions.ItemTool, Status: sessions.ItemRunning, Seq: 1, Tool: &sessions.Tool{CallID: "c", Name: "shell", Title: "make"}}
	takes := func(seq uint64, status sessions.ItemStatus) {
		now := call
		now.Seq, now.Status = seq, status
		s.Item(&now, false)
	}
	takes(1, sessions.ItemRunning)
	require.Equal(t, "t:0", s.Waits("t:0"))
	takes(2, sessions.ItemRunning)
	takes(3, sessions.ItemCompleted)
	require.Equal(t, "t:0", s.Waits("t:0"))
	takes(3, sessions.ItemCompleted)
	var statuses []string
	for _, one := range *all {
		statuses = append(statuses, one.Update+" "+one.Status)
	}
	require.Equal(t, []string{"tool_call in_progress", "tool_call_update in_progress", "tool_call_update completed"}, statuses)
}
