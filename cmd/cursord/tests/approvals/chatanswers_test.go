//go:build unix

package approvals

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestChatAnswerAfterTheEnd: nor is an answer that was begun when somebody else had just answered, unless the person sends it once more.
func TestChatAnswerAfterTheEnd(t *testing.T) {
	t.Parallel()
	w := asking(t, "", runs)
	e := w.Opens()
	tm := chats(t, w)
	tm.Types("do it", "Enter")
	a := asked(e)
	tm.Shows("  y Allow once")
	w.CursordOK("deny", a.ID)
	tm.Shows("answered: Reject")
	e.Ends(a.TurnID)
	tm.Types("y", "Enter")
	tm.Shows("that question has ended: y was not sent; as a prompt, send it again")
	require.NotContains(t, tm.Screen(), "\n> y\n")
	var typed time.Time
	tm.Poll("the prompt", func() bool {
		if time.Since(typed) > 1500*time.Millisecond {
			tm.Types("y", "Enter")
			typed = time.Now()
		}
		return strings.Contains(tm.Screen(), "\n> y\n")
	})
	tm.Types("/quit", "Enter")
}

// TestChatQuestionOfAnotherSession: a question that text of another session has moved off the screen says that it is there, and takes no answer
// before it is shown again. It is shown below the turn that begins next, too.
func TestChatQuestionOfAnotherSession(t *testing.T) {
	t.Parallel()
	w := asking(t, "", `{"fake":"script","path":"{{prompt}}.ndjson"}`)
	long := strings.Repeat("One more paragraph.\n\n", 14)
	for name, lines := range map[string][]string{
		"long": {`{"fake":"say","text":"I begin."}`, `{"fake":"wait","path":"../long"}`, fmt.Sprintf(`{"fake":"say","text":%q}`, long+"Shall I go on?"), `{"fake":"wait","path":"../end"}`},
		"asks": {runs, `{"fake":"say","text":"over"}`},
	} {
		require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(w.Script), name+".ndjson"), []byte(strings.Join(lines, "\n")+"\n"), 0o644))
	}
	e := w.Opens()
	tm := chats(t, w)
	tm.Types("long", "Enter")
	tm.Shows("I begin.")
	w.CursordOK("run", "--background", "--isolation", "copy", "asks")
	a := asked(e)
	tm.Shows("  e other answers")
	w.Put("../long", "")
	tm.Shows("Shall I go on?")
	tm.Shows("The agent asks you something: Enter shows it.")
	require.NotContains(t, tm.Screen(), "asks for permission")
	tm.Types("y", "Enter")
	tm.Shows("The question had left the screen. Here it is again:")
	tm.Shows("  echo ran >>ran")
	tm.Poll("the sign to go", func() bool { return !strings.Contains(tm.Screen(), "Enter shows it") })
	require.Len(t, pending(e), 1)
	w.Put("../end", "")
	tm.Poll("the question in its turn", func() bool {
		_, below, is := strings.Cut(tm.Screen(), "\n> asks\n")
		return is && strings.Contains(below, "  e other answers")
	})
	tm.Answers("y", "Enter")
	require.Equal(t, "allow-once", ended(e, a.ID).Answer.OptionID)
	tm.Shows("over")
	tm.Types("/quit", "Enter")
}

// TestChatOfAPipe: no line of a script answers a question. The chat says how a person answers it elsewhere.
func TestChatOfAPipe(t *testing.T) {
	t.Parallel()
	w := asking(t, "", runs, `{"fake":"say","text":"over"}`)
	e := w.Opens()
	cmd := w.Command("chat")
	cmd.Stdin = strings.NewReader("do it\n/approve\n")
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	a := asked(e)
	w.CursordOK("deny", a.ID)
	require.Error(t, cmd.Wait(), "the second line has no question to answer")
	require.Contains(t, out.String(), "answer with: cursord approve "+a.ID[:6]+", or cursord deny "+a.ID[:6])
	require.NotContains(t, out.String(), "Type a letter")
	require.Contains(t, out.String(), "no agent asks anything here")
	notRun(w)
}
