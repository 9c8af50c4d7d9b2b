//go:build unix

package nvim

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimRewindOfFiles: the buffer of a file that a rewind renames follows it, and of a file that is gone it is said. Once the buffers stayed
// as if nothing had happened, and a save wrote a second file, which was not under review.
func TestNvimRewindOfFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		accepted bool // the rename is told no more then
		opens    string
		says     []string
	}{
		"renamed": {false, "numbers.txt", []string{"numbers.txt → nums.txt: the file was renamed, and its buffer with it"}},
		"created": {false, "brandnew.md", []string{"brandnew.md is not on disk any more; :w writes it again"}},
		"both": {false, "numbers.txt brandnew.md", []string{
			"numbers.txt → nums.txt: the file was renamed, and its buffer with it", "brandnew.md is not on disk any more; :w writes it again",
		}},
		"accepted": {true, "brandnew.md numbers.txt", []string{"2 files are not on disk any more; :w in its buffer writes each again"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			anNvim(t, func(t *testing.T, bin string) {
				nums := world.Numbered(30, nil)
				w, e := trusted(t, world.Tree{"nums.txt": nums})
				w.Plays(world.Lines(world.Shells("1", "mv nums.txt numbers.txt; echo new >brandnew.md"))...)
				turn := e.Turn(nil)
				pending := 2
				if c.accepted {
					pending = 0
					e.Decides("diff/accept", world.Obj{"all": true})
				}
				n := neovim(w, t, bin, "", append([]string{"-O"}, strings.Fields(c.opens)...)...)
				n.lua("require('cursord.workspace').open()")
				n.follows()
				n.until("the diffs", "return vim.tbl_count(require('cursord.workspace').find().diffs) == ...", pending)
				n.keys("20G")
				e.Must("session/rewind", world.Obj{"sessionId": turn.SessionID, "turnId": turn.ID, "files": true}, nil)
				for _, text := range c.says {
					n.hears("cursord: " + text)
				}
				n.ex("checktime")
				n.quiet()
				if c.opens == "brandnew.md" {
					require.Equal(t, "new\n", n.text("brandnew.md"))
					require.Equal(t, false, n.lua("return vim.bo.modified"))
					n.ex("write")
					require.Equal(t, "new\n", w.Get("brandnew.md"))
				}
				if c.says[0] == "numbers.txt → nums.txt: the file was renamed, and its buffer with it" {
					require.Equal(t, nums, n.text("nums.txt"))
					require.Equal(t, []any{"nums.txt", 20.0, 0.0}, n.lua("return { vim.fn.expand('%'), vim.fn.line('.'), vim.fn.bufexists('numbers.txt') }"))
					n.keys("ccmine<Esc>:write<CR>")
					n.poll("it is saved", func() bool { return w.Get("nums.txt") == world.Numbered(30, map[int]string{20: "mine\n"}) })
					require.Equal(t, "(absent)", w.Get("numbers.txt"))
				}
				n.quiet()
			})
		})
	}
}
