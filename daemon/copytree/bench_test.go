package copytree

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// bigWorld is a repository with 10,000 files of 5 KB; 20 of them are not committed.
func bigWorld(b *testing.B) *world {
	w := newWorld(b).repo()
	for i := range 10_000 {
		w.write(fmt.Sprintf("pkg%d/sub%d/file%d.go", i%40, i%7, i), fmt.Sprint(i, strings.Repeat("some line of code\n", 280)))
	}
	w.git("add", "-A")
	w.git("commit", "-qm", "big")
	for i := range 20 {
		w.write(fmt.Sprintf("pkg%d/sub%d/file%d.go", i%40, i%7, i), fmt.Sprint("changed ", i))
	}
	age(b, w.root)
	w.git("status")
	command(w.root, "update-index", "-q", "--refresh").Run()
	return w
}

func BenchmarkTenThousandFiles(b *testing.B) {
	w := bigWorld(b)
	b.Run("git clone --shared", func(b *testing.B) {
		for b.Loop() {
			to := filepath.Join(b.TempDir(), "clone")
			gitIn(b, w.root, "clone", "-q", "--shared", w.root, to)
		}
	})
	b.Run("Make", func(b *testing.B) {
		for b.Loop() {
			_, err := Make(b.Context(), w.root, filepath.Join(b.TempDir(), "s"), Options{})
			require.NoError(b, err)
		}
	})
	c := w.make(Options{})
	b.Run("git status", func(b *testing.B) {
		for b.Loop() {
			status(b, w.root)
		}
	})
	w.takeOver(c)
	b.Run("TakeOver nothing", func(b *testing.B) {
		for b.Loop() {
			require.Empty(b, w.takeOver(c))
		}
	})
	b.Run("TakeOver 50", func(b *testing.B) {
		for n := 0; b.Loop(); n++ {
			b.StopTimer()
			for i := range 50 {
				w.write(fmt.Sprintf("pkg%d/sub%d/file%d.go", i%40, i%7, i), fmt.Sprint(n, " ", i))
			}
			b.StartTimer()
			require.NotEmpty(b, w.takeOver(c))
		}
	})
	b.Run("TakeOver commit", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			w.git("commit", "-qm", "x", "--allow-empty")
			b.StartTimer()
			require.Empty(b, w.takeOver(c))
		}
	})
	b.Run("Changed", func(b *testing.B) {
		for b.Loop() {
			require.Empty(b, w.changed(c))
		}
	})
}

func BenchmarkTranslator(b *testing.B) {
	tr := NewTranslator("/home/ada/.local/state/cursord/copies/01JX/pond", "/home/ada/pond")
	text := strings.Repeat("see /home/ada/.local/state/cursord/copies/01JX/pond/lib/frog.go:12 and a/b/c, https://example.org/x\n", 100)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s := tr.Stream()
		for i := 0; i < len(text); i += 16 {
			s.Write(text[i:min(i+16, len(text))])
		}
		s.Flush()
	}
}
