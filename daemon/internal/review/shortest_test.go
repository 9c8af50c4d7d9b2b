package review

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// A fault is where a story went wrong: the first line that require says.
type fault struct{ what string }

func (f *fault) Errorf(format string, args ...any) {
	if said := fmt.Sprintf(format, args...); f.what == "" {
		f.what = said
	}
}

func (f *fault) FailNow() { panic(f) }

// shortest returns the words of a story that goes wrong in the same place as steps do, without the steps that are not needed for that,
// and what went wrong.
func shortest(store *sessions.Store, dir string, steps []step) string {
	n := 0
	plays := func(steps []step) (where, what string) {
		n++
		root := filepath.Join(dir, fmt.Sprint("shortest", n))
		f := &fault{}
		require.NoError(f, os.Mkdir(root, 0o755))
		s := newStory(f, store, root, 8)
		defer func() {
			s.r.Close()
			os.RemoveAll(root)
			if at := recover(); at != nil {
				if at != any(f) {
					panic(at)
				}
				where = strings.Fields(f.what)[2] // the innermost line
			}
			what = f.what
		}()
		for _, one := range steps {
			one.do(s)
		}
		return "", ""
	}
	where, what := plays(steps)
	if where == "" {
		return "it does not go wrong again"
	}
	for size := len(steps) / 2; size > 0; {
		was := len(steps)
		for from := 0; from < len(steps); {
			fewer := slices.Delete(slices.Clone(steps), from, min(from+size, len(steps)))
			if place, now := plays(fewer); place == where {
				steps, what = fewer, now
			} else {
				from += size
			}
		}
		if size > 1 || len(steps) == was {
			size /= 2
		}
	}
	var words []string
	for _, one := range steps {
		words = append(words, one.words)
	}
	return strings.Join(words, "\n") + "\n" + what
}
