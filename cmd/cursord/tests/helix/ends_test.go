//go:build unix

package helix

import (
	"path/filepath"
	"strings"
	"testing"

	"cursord/cmd/cursord/tests/world"
)

// TestHelixAtTheEnd: "space i n" goes to lines at the end of a file so that the other keys work there.
func TestHelixAtTheEnd(t *testing.T) {
	t.Parallel()
	eachHelix(t, func(t *testing.T, bin string) {
		if strings.Contains(filepath.Base(bin), "25.01") {
			return // its keys have no places
		}
		for _, isolation := range []string{"copy", "none"} {
			t.Run(isolation, func(t *testing.T) {
				w := world.New(t)
				w.Put(".git/HEAD", "")
				w.Put("eof.txt", "a\nb\n")
				w.Put("other.txt", "other\n")
				w.Trusts()
				w.Plays(`{"fake":"begin"}`, `{"fake":"shell","command":"printf 'tail1\\n' >> eof.txt"}`, `{"fake":"finish"}`)
				w.CursordOK("run", "--quiet", "--isolation", isolation, "add to it")
				h := helix(w, t, bin, "other.txt")
				h.Types("Space", "i", "n")
				h.sees("NOR   eof.txt", "tail1")
				h.Types("Space", "i", "y")
				h.sees("accepted 1 hunk")
				h.ex("wa")
				h.Poll("it is written", func() bool { return w.Get("eof.txt") == "a\nb\ntail1\n" })
			})
		}
	})
}
