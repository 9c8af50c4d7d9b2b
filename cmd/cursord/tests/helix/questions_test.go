//go:build unix

package helix

import (
	"fmt"
	"testing"

	"cursord/cmd/cursord/tests/world"
)

// TestHelixQuestionWhileTyping: the popup of a question takes the next keys. It comes when nobody types, a letter closes it without an
// answer, and Tab and Enter allow nothing. A diagnostic tells of the question until it is answered, and "space i a" puts it again.
func TestHelixQuestionWhileTyping(t *testing.T) {
	t.Parallel()
	eachHelix(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put(".git/HEAD", "")
		w.Put("../config.toml", "driver = \"acp\"\n")
		w.Put("notes.md", "# Notes\n")
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
