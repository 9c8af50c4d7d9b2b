//go:build unix

package review

import (
	"bufio"
	"io"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/internal/review"
	"cursord/cmd/cursord/tests/world"
)

// A reviewRun is a review on a terminal whose answers come from the test.
type reviewRun struct {
	t    *testing.T
	cmd  *exec.Cmd
	in   io.WriteCloser
	said chan string // lines and questions
}

// questions are the questions about parts that can be split and about others.
var questions = []string{review.Question(true, false), review.Question(false, false), review.Question(false, true)}

func reviews(w *world.World, t *testing.T, args ...string) *reviewRun {
	t.Helper()
	r := &reviewRun{t: t, cmd: exec.Command("cursord", append([]string{"review"}, args...)...), said: make(chan string, 1000)}
	r.cmd.Env, r.cmd.Dir = w.Env(), w.Root
	in, err := r.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := r.cmd.StdoutPipe()
	require.NoError(t, err)
	r.in = in
	require.NoError(t, r.cmd.Start())
	t.Cleanup(func() {
		_ = r.cmd.Process.Kill()
		_ = r.cmd.Wait()
	})
	go func() {
		defer close(r.said)
		scan := bufio.NewScanner(out)
		scan.Split(func(b []byte, end bool) (int, []byte, error) {
			for _, q := range questions {
				if strings.HasPrefix(string(b), q) {
					return len(q), b[:len(q)], nil
				}
			}
			return bufio.ScanLines(b, end)
		})
		for scan.Scan() {
			r.said <- scan.Text()
		}
	}()
	return r
}

// shows reads until the next question or the end, and returns the text before it.
func (r *reviewRun) shows() string {
	r.t.Helper()
	var all strings.Builder
	for timeout := time.After(world.Patience); ; {
		select {
		case line, ok := <-r.said:
			if !ok || slices.Contains(questions, line) {
				return strings.TrimSpace(all.String())
			}
			all.WriteString(line + "\n")
		case <-timeout:
			r.t.Fatalf("waited in vain for a question behind:\n%s", all.String())
		}
	}
}

// answers gives an answer and returns the text up to the next question.
func (r *reviewRun) answers(answer string) string {
	r.t.Helper()
	_, err := io.WriteString(r.in, answer+"\n")
	require.NoError(r.t, err)
	return r.shows()
}

func (r *reviewRun) ends(status int) {
	r.t.Helper()
	r.in.Close()
	for range r.said {
	}
	_ = r.cmd.Wait()
	require.Equal(r.t, status, r.cmd.ProcessState.ExitCode())
}

// TestReviewMeanwhile: others change files and decide while a person looks at a hunk.
func TestReviewMeanwhile(t *testing.T) {
	t.Parallel()
	old := world.Numbered(40, nil)
	agents := map[int]string{3: "three\n", 20: "twenty\n", 37: "thirty-seven\n"}
	changed := world.Numbered(40, agents)
	with := func(line int, text string) string {
		now := map[int]string{line: text}
		for n, s := range agents {
			if n != line {
				now[n] = s
			}
		}
		return world.Numbered(40, now)
	}
	for _, tt := range []struct {
		name      string
		meanwhile func(*world.World, *world.Editor, []string)
		answer    string
		shows     []string
		file      string
		summary   string
	}{
		{
			name: "another hunk was decided", answer: "n",
			meanwhile: func(_ *world.World, e *world.Editor, ids []string) {
				e.Decides("diff/accept", world.Obj{"hunks": ids[1:2]})
			},
			shows: []string{"hunk 1 of 1", "+thirty-seven"},
			file:  with(3, "line 3\n"), summary: "rejected 1; 1 hunk left in 1 file",
		},
		{
			name: "a person typed elsewhere", answer: "n",
			meanwhile: func(w *world.World, _ *world.Editor, _ []string) { w.Put("a", with(12, "mine\n")) },
			shows:     []string{"hunk 1 of 2", "+twenty"},
			file:      strings.Replace(with(12, "mine\n"), "three\n", "line 3\n", 1), summary: "rejected 1; 2 hunks left in 1 file",
		},
		{
			name: "a person typed beside the hunk's lines", answer: "n",
			meanwhile: func(w *world.World, _ *world.Editor, _ []string) { w.Put("a", with(3, "three\nmy three\n")) },
			shows:     []string{"hunk 1 of 2", "+twenty"},
			file:      with(3, "line 3\nmy three\n"), summary: "rejected 1; 2 hunks left in 1 file",
		},
		{
			name: "a person changed the hunk's line", answer: "y",
			meanwhile: func(w *world.World, _ *world.Editor, _ []string) { w.Put("a", with(3, "my three\n")) },
			shows:     []string{"hunk 1 of 3", "-line 3\n my three"},
			file:      with(3, "my three\n"), summary: "nothing decided; 3 hunks left in 1 file",
		},
		{
			name: "the hunk was decided", answer: "y",
			meanwhile: func(_ *world.World, e *world.Editor, ids []string) {
				e.Decides("diff/reject", world.Obj{"hunks": ids[:1]})
			},
			shows: []string{"is there no more", "hunk 1 of 2", "+twenty"},
			file:  with(3, "line 3\n"), summary: "nothing decided; 2 hunks left in 1 file",
		},
		{
			name: "all was decided", answer: "y",
			meanwhile: func(_ *world.World, e *world.Editor, _ []string) { e.Decides("diff/accept", world.Obj{"all": true}) },
			shows:     []string{"is there no more", "nothing decided; nothing left to review"},
			file:      changed,
		},
		{
			name: "a later hunk was decided", answer: "a",
			meanwhile: func(_ *world.World, e *world.Editor, ids []string) {
				e.Decides("diff/reject", world.Obj{"hunks": ids[2:]})
			},
			shows: []string{"a has changed meanwhile", "hunk 1 of 2", "+three"},
			file:  with(37, "line 37\n"), summary: "nothing decided; 2 hunks left in 1 file",
		},
		{
			name: "there is another file", answer: "d",
			meanwhile: func(w *world.World, e *world.Editor, _ []string) {
				w.Plays(world.Lines(world.Edits("2", "b", "(absent)", "new\n"))...)
				e.Turn(nil)
			},
			shows: []string{"More has come meanwhile:", "b (created, +1 -0), hunk 1 of 1"},
			file:  old, summary: "rejected 3; 1 hunk left in 1 file",
		},
		{
			name: "it is taken back", answer: "y\nu",
			meanwhile: func(*world.World, *world.Editor, []string) {},
			shows:     []string{"hunk 1 of 2", "+twenty"},
			file:      changed, summary: "nothing decided; 3 hunks left in 1 file",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := world.New(t)
			w.Put("a", old)
			w.Plays(world.Lines(world.Edits("1", "a", old, changed))...)
			w.Start()
			e := w.Opens()
			e.Turn(nil)
			var ids []string
			for _, h := range e.Diffs()["a"].Hunks {
				ids = append(ids, h.ID)
			}
			require.Len(t, ids, 3)
			r := reviews(w, t)
			require.Contains(t, r.shows(), "hunk 1 of 3")
			tt.meanwhile(w, e, ids)
			shown := r.answers(tt.answer)
			for _, want := range tt.shows {
				require.Contains(t, shown, want)
			}
			if tt.summary != "" {
				if strings.Contains(tt.answer, "\n") {
					require.Contains(t, r.shows(), "Taken back: ")
				}
				require.Equal(t, tt.summary, r.answers("q"))
			}
			r.ends(world.StatusOK)
			require.Equal(t, tt.file, w.Get("a"))
		})
	}
}

// TestReviewUndoOfOthers: undo leaves a later decision of another client, and says what to do. It goes on when that is undone.
func TestReviewUndoOfOthers(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.PutAll(world.Tree{"a": "a\n", "b": "b\n"})
	w.Plays(world.Lines(world.Edits("1", "a", "a\n", "x\n"), world.Edits("2", "b", "b\n", "y\n"))...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	r := reviews(w, t)
	r.shows()
	require.Contains(t, r.answers("n"), "b (modified")
	e.Decides("diff/reject", world.Obj{"path": "b"})
	require.Contains(t, r.answers("u"), "another decision was made since\n  undo that one first: cursord undo")
	w.RequireTree(world.Tree{"a": "a\n", "b": "b\n"})
	w.CursordOK("undo")
	w.RequireTree(world.Tree{"a": "a\n", "b": "y\n"})
	require.Contains(t, r.answers("u"), "Taken back: 1 hunk in a is to review again.\n\na (modified")
	w.RequireTree(world.Tree{"a": "x\n", "b": "y\n"})
	require.Equal(t, "nothing decided; 2 hunks left in 2 files", r.answers("q"))
	r.ends(world.StatusOK)
}

// TestReviewRefused: the review shows the daemon's refusal, and asks about the same hunk again.
func TestReviewRefused(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("in/f", "f\n")
	w.Put("../outside", "x\n")
	nested := *w
	nested.Root = w.Path("in")
	nested.Commits()
	// The daemon does not look into repositories within the workspace. Once the agent removes this one, the former content
	// of its files is unknown.
	w.Git("init", "-q")
	w.Plays(world.Lines(world.Shells("s", "echo x >> in/f; rm -rf in/.git"), world.Edits("2", "../outside", "x\n", "y\n"))...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	require.Equal(t, "unknown", e.Diffs()["in/f"].Baseline)
	r := reviews(w, t)
	shown := r.shows()
	require.Contains(t, shown, "What is outside of the workspace can only be looked at")
	require.NotContains(t, shown, "outside (")
	require.Contains(t, r.answers("n"), "is unknown\n  accept it, or restore the file yourself")
	require.Contains(t, r.answers("y"), "accepted 1; nothing left to review")
	r.ends(world.StatusOK)
}

// TestReviewInterrupted: a signal ends a review, and its decisions stay.
func TestReviewInterrupted(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("a", world.Numbered(20, nil))
	w.Plays(world.Lines(world.Edits("1", "a", world.Numbered(20, nil), world.Numbered(20, map[int]string{2: "two\n", 15: "fifteen\n"})))...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	for _, tt := range []struct {
		signal  syscall.Signal
		status  int
		summary string
	}{
		{syscall.SIGINT, 130, "accepted 1; 1 hunk left in 1 file"},
		{syscall.SIGTERM, 143, "nothing decided; 1 hunk left in 1 file"},
	} {
		r := reviews(w, t)
		r.shows()
		if tt.signal == syscall.SIGINT {
			r.answers("y")
		}
		require.NoError(t, r.cmd.Process.Signal(tt.signal))
		require.Equal(t, tt.summary, r.shows())
		r.ends(tt.status)
	}
	require.Len(t, e.Diffs()["a"].Hunks, 1)
}
