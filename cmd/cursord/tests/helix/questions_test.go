//go:build unix

package helix

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// asking makes a workspace with a file, where the agent asks before it does what needs a permission.
func asking(t *testing.T) *world.World {
	w := world.New(t)
	w.Put(".git/HEAD", "")
	w.Put("../config.toml", "driver = \"acp\"\n")
	w.Put("notes.md", "# Notes\n")
	return w
}

// TestHelixQuestionWhileTyping: the popup of a question takes the next keys. It comes when nobody types, a letter closes it without an
// answer, and Tab and Enter allow nothing. A diagnostic tells of the question until it is answered, and "space i a" puts it again.
func TestHelixQuestionWhileTyping(t *testing.T) {
	t.Parallel()
	eachHelix(t, func(t *testing.T, bin string) {
		w := asking(t)
		wait := fmt.Sprintf(`{"fake":"wait","path":%q}`, w.Path("../go on"))
		w.Plays(wait, `{"fake":"shell","ask":true,"command":"touch first"}`, `{"fake":"shell","ask":true,"command":"touch second"}`, world.Done)
		w.Start()
		w.Opens()
		h := helix(w, t, bin, "notes.md")
		if !h.popups {
			return // it shows no questions
		}
		h.asks("do it")
		h.sawOne("cursord: agent ⋅ ", "[cursord-turn-1] ")
		h.Types("o")
		h.sees("INS")
		h.Types("-l", "words")
		w.Put("../go on", "")
		h.sees("The agent asks", "touch first", "Look again later", "Always here")
		h.Types("z")
		h.sees("wordsz", "The agent asks", "waits for your answer – space i a") // once more, after a pause
		h.Types("Tab", "Enter")                                                 // as a tab and a new line, typed before one has looked
		h.sees("touch second")
		h.Types("Escape")
		h.misses("The agent asks")
		h.Types("Escape")
		h.sees("NOR", "the agent waits for your answer (space i a")
		h.Types("Space", "a")
		h.sees("See what the agent asks: $ touch second", "Answer the agent: Allow once: $ touch second")
		h.escapes("Allow once")
		h.Types("Space", "i", "a")
		h.sees("The agent asks", "Look again later")
		h.Types("Down", "Down", "Enter")
		h.sees("cursord: done – 1 hunk to review in 1 file") // the file of the second command
		h.misses("the agent waits for your answer")
	})
}

// TestHelixLongQuestions: Helix ends, with all that is unsaved, if a popup does not fit its window. What is too long is cut there, and
// allowed only in the document that shows the whole of it.
func TestHelixLongQuestions(t *testing.T) {
	t.Parallel()
	eachHelix(t, func(t *testing.T, bin string) {
		w := asking(t)
		lines := func(line string, n int) string { return strings.Repeat(line+`\n`, n) }
		ran := w.Path("../ran")
		w.Plays(
			fmt.Sprintf(`{"fake":"wait","path":%q}`, w.Path("../go on")),
			fmt.Sprintf(`{"fake":"plan","text":"%s"}`, lines("1. a step of the plan", 60)),
			fmt.Sprintf(`{"fake":"shell","ask":true,"command":"%secho last >>%s"}`, lines("true one of many", 24), ran),
			fmt.Sprintf(`{"fake":"shell","ask":true,"command":"echo '%s'; echo tail >>%s"}`, strings.Repeat("words of several lengths ", 4), ran),
			world.Done,
		)
		w.Start()
		w.Opens()
		h := helix(w, t, bin, "notes.md")
		out, err := h.Command("resize-window", "-x", "80", "-y", "24").CombinedOutput()
		require.NoError(t, err, "%s", out)
		h.asks("do it")
		h.sawOne("cursord: agent ⋅ ", "[cursord-turn-1] ")
		h.Types("o")
		h.sees("INS")
		h.Types("-l", "unsaved words")
		h.Types("Escape")
		h.sees("NOR", "unsaved words")
		w.Put("../go on", "")
		if !h.popups {
			h.sees("waits for your answer")
			h.Types("Space", "a")
			h.sees("See what the agent asks:")
			h.misses("Accept the plan")
			h.Types("Enter")
			h.sees("The agent asks: ", "QUESTION.md")
			h.Types("g", "e", "Space", "a")
			h.sees("with space a (code actions)", "Answer the agent: Accept the plan")
			return
		}
		h.sees("The agent asks: ", "1. a step", `"Show the whole" has the rest`, "Look again later", "Reject", "Only remind me")
		h.misses("Accept")
		h.Types("Down", "Down", "Enter") // the reject of the plan
		h.sees("true one of many", `"Show the whole" has the rest`)
		require.NotContains(t, h.Screen(), "Allow")
		h.Types("Down", "Enter")
		h.sees("QUESTION.md", "The agent asks: ")
		h.Types("g", "e")
		h.sees("echo last >>", "with space a (code actions)")
		h.Types("Space", "a")
		h.sees("Answer the agent: Reject: $ true one", "Answer the agent: Allow once: $ true one")
		h.Types("Down", "Down", "Enter")
		h.Poll("the command has run", func() bool { return w.Get("../ran") == "last\n" })
		h.sees("words of several", "tail >>", "Allow once") // all of it is there, over several rows
		h.Types("Down", "Down", "Enter")
		h.Poll("the other has run", func() bool { return w.Get("../ran") == "last\ntail\n" })
		h.sees("cursord: done")
		h.ex("bc!")
		h.sees("unsaved words")
	})
}

// TestHelixQuestionInASmallWindow: in a window of few rows a question is as small as the window needs, and Helix goes on.
func TestHelixQuestionInASmallWindow(t *testing.T) {
	t.Parallel()
	eachHelix(t, func(t *testing.T, bin string) {
		if strings.Contains(bin, "25.01") {
			return // it shows no popups
		}
		w := asking(t)
		w.Plays(
			fmt.Sprintf(`{"fake":"wait","path":%q}`, w.Path("../go on")),
			fmt.Sprintf(`{"fake":"plan","text":"%s"}`, strings.Repeat(`1. a step of the plan\n`, 60)),
			world.Done,
		)
		w.Start()
		w.Opens()
		h := helix(w, t, bin, "notes.md")
		h.asks("do it")
		h.sawOne("cursord: agent ⋅ ", "[cursord-turn-1] ")
		for _, rows := range []string{"9", "7"} {
			out, err := h.Command("resize-window", "-x", "80", "-y", rows).CombinedOutput()
			require.NoError(t, err, "%s", out)
			h.sees("NOR")
			if rows == "9" {
				w.Put("../go on", "")
			} else {
				h.Types("Space", "a")
				h.sees("See what the agent asks:")
				h.Types("Enter")
				h.sees("QUESTION.md")
				return
			}
			h.sees("The agent asks: ", `"Show the whole" has the rest`, "Look again later", "Show the whole", "Only remind me")
			h.Types("Escape")
			h.misses("Look again later")
		}
	})
}

// TestHelixAnsweredElsewhere: Helix leaves the popup of a question open that a terminal has answered. The next one does not come above it,
// where it would take the keys, and an answer to the old one says that it comes too late.
func TestHelixAnsweredElsewhere(t *testing.T) {
	t.Parallel()
	eachHelix(t, func(t *testing.T, bin string) {
		w := asking(t)
		w.Plays(`{"fake":"shell","ask":true,"command":"touch first"}`, `{"fake":"question","text":"Which colour?","options":["Red","Blue"]}`, world.Done)
		w.Start()
		e := w.Opens()
		h := helix(w, t, bin, "notes.md")
		if !h.popups {
			return // it shows no questions
		}
		h.asks("do it")
		h.sees("The agent asks", "touch first")
		_, stderr, status := w.Cursord("deny")
		require.Zero(t, status, stderr)
		e.Until("the next question", func(n world.Notification) bool {
			return n.Approval != nil && n.Approval.Status == sessions.ApprovalPending && n.Approval.Kind == sessions.ApprovalQuestion
		})
		h.Types("Down", "Down", "Enter")
		h.sees(`cursord: too late for "Allow once": it was already answered with Reject`)
		h.sees("Which colour?", "No answer", "Red")
		h.Types("Down", "Enter")
		h.sees("cursord: done")
	})
}
