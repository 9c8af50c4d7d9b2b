package diffs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCases plays stories about one file, one step per line: "agent", "user" or "tool" with the file's new content; "accept"
// or "reject" with hunks by position, or with none for all; "lines FROM TO" before it for a part of the only hunk, "lines1"
// for the second; "undo", "redo". "-" stands for no file. Contents are Go strings without quotes.
func TestCases(t *testing.T) {
	for _, c := range []struct{ name, base, steps, now, baseline, hunks string }{
		{"nothing", `a\n`, ``, `a\n`, `a\n`, ``},
		{"one line", `a\nb\nc\n`, `agent a\nx\nc\n`, `a\nx\nc\n`, `a\nb\nc\n`, `1,3 1,3: a|-b|+x| c`},
		{"accept", `a\nb\nc\n`, `agent a\nx\nc\n; accept`, `a\nx\nc\n`, `a\nx\nc\n`, ``},
		{"reject", `a\nb\nc\n`, `agent a\nx\nc\n; reject`, `a\nb\nc\n`, `a\nb\nc\n`, ``},
		{"undo a reject", `a\nb\n`, `agent a\nx\n; reject; undo`, `a\nx\n`, `a\nb\n`, `1,2 1,2: a|-b|+x`},
		{"redo", `a\nb\n`, `agent a\nx\n; reject; undo; redo`, `a\nb\n`, `a\nb\n`, ``},
		{"user's line in a hunk stays", `a\nb\n`, `agent a\nx\ny\n; user a\nx\nmine\ny\n; reject`, `a\nb\nmine\n`, `a\nb\nmine\n`, ``},
		{"user's line in a hunk stays when accepted", `a\nb\n`, `agent a\nx\ny\n; user a\nx\nmine\ny\n; accept`, `a\nx\nmine\ny\n`, `a\nx\nmine\ny\n`, ``},
		{"second of two hunks", `a\nb\nc\n`, `agent x\nb\ny\n; reject 1`, `x\nb\nc\n`, `a\nb\nc\n`, `1,3 1,3:-a|+x| b| c`},
		{"context stops at the next hunk", `a\nb\nc\n`, `agent x\nb\ny\n`, `x\nb\ny\n`, `a\nb\nc\n`, `1,2 1,2:-a|+x| b; 2,2 2,2: b|-c|+y`},
		{"appended line without line end", `a`, `agent a\nb`, `a\nb`, `a`, `1,1 1,2:-a\|+a|+b\`},
		{"final line end only", `a\n}`, `agent a\n}\n`, `a\n}\n`, `a\n}`, `1,2 1,2: a|-}\|+}`},
		{"brace without line end moves inside", `x\n}`, `agent x\ny\n; user x\ny\nz\n; tool x\n}\nz\n`, `x\n}\nz\n`, `x\n}\nz\n`, ``},
		{"CRLF to LF", `a\r\nb\r\n`, `agent a\nb\n`, `a\nb\n`, `a\r\nb\r\n`, "1,2 1,2:-a\r|-b\r|+a|+b"},
		{"a rejected last line gets CRLF", `a\r\nb`, `agent a\r\nx\r\n; user a\r\nx\r\nmine\r\n; reject`, `a\r\nb\r\nmine\r\n`, `a\r\nb\r\nmine\r\n`, ``},
		{"empty to text", ``, `agent a\n`, `a\n`, ``, `0,0 1,1:+a`},
		{"text to empty", `a\n`, `agent `, ``, `a\n`, `1,1 0,0:-a`},
		{"runs that meet cancel", `a\nm\nn\n`, `agent m\nn\na\n; user a\n`, `a\n`, `a\n`, ``},
		{"runs that meet cancel, others stay", `a\nm\nn\nk\nz\n`, `agent m\nn\na\nk\ny\n; user a\nk\ny\n`, `a\nk\ny\n`, `a\nk\nz\n`, `1,3 1,3: a| k|-z|+y`},
		{"a last line that is one no more", `a\nk\nx\ny\n`, `agent b\nk\nx\n; tool b\nk\nx; lines1 1 2; reject; user b\nk\nx\ny\n`, `b\nk\nx\ny\n`, `a\nk\nx\ny\n`, `1,4 1,4:-a|+b| k| x| y`},
		{"the line end before a part rejected", `a\nb`, `agent a\nx\ny\n; lines 0 1; reject`, `a\nb\nx\ny\n`, `a\nb`, `1,2 1,4: a|-b\|+b|+x|+y`},
		{"the line end before a part rejected, withdrawn", `a\nb`, `agent a\nx\ny\n; lines 0 1; reject; tool a\nb\n`, `a\nb\n`, `a\nb`, `1,2 1,2: a|-b\|+b`},
		{"the line end before a part rejected, then all", `a\nb`, `agent a\nx\ny\n; lines 0 1; reject; user a\nb\nx\ny\n; reject`, `a\nb`, `a\nb`, ``},
		{"typed behind a deleted last line", `k\np\nq`, `agent k\nx\nq\nr\np\nq; tool k\nx\nq\nr\n; user k\np\nq\nw`, `k\np\nq\nw`, `k\np\nq\nw`, ``},
		{"binary, written by the user, then by the agent", `a\n`, `agent \x00; user \x00mine; agent \x00again; reject`, `\x00mine`, `\x00mine`, ``},
		{"binary, written by the user, then text by the agent", `a\n`, `agent \x00; user \x00mine; agent b\n; reject`, `\x00mine`, `\x00mine`, ``},
		{"a final line end that the user takes back", `a\nk\nz`, `agent b\nk\nz\n; user b\nk\nz`, `b\nk\nz`, `a\nk\nz`, `1,3 1,3:-a|+b| k| z\`},
		{"agent withdraws its line", `a\n`, `agent a\nb\n; tool a\n`, `a\n`, `a\n`, ``},
		{"user restores", `a\nb\n`, `agent x\ny\n; user a\nb\n`, `a\nb\n`, `a\nb\n`, ``},
		{"user types one line back", `a\nb\nc\nd\ne\n`, `agent a\nc\ne\n; user a\nb\nc\ne\n`, `a\nb\nc\ne\n`, `a\nb\nc\nd\ne\n`, `1,5 1,4: a| b| c|-d| e`},
		{"user types a line back above another of the user's", `a\nb\n`, `agent a\nb\nx\n; user mine\na\nb\nx\n; tool mine\nb\nx\n; user a\nmine\nb\nx\n`, `a\nmine\nb\nx\n`, `a\nmine\nb\n`, `1,3 1,4: a| mine| b|+x`},
		{"user types the second deleted line back, behind others", `a\nb\nc\nd\ne\n`, `agent a\nb\ne\n; user a\nmine\nd\ne\n; reject`, `a\nmine\nc\nd\ne\n`, `a\nmine\nc\nd\ne\n`, ``},
		{"accepted lines deleted since", `a\n`, `agent a\nb\nc\n; accept; tool a\nc\n; undo`, `a\nc\n`, `a\n`, `1,1 1,2: a|+c`},
		{"undo of a reject after an edit elsewhere", `a\nb\n`, `agent a\nx\n; reject; user mine\na\nb\n; undo`, `mine\na\nx\n`, `mine\na\nb\n`, `1,3 1,3: mine| a|-b|+x`},
		{"part of a hunk accepted", `a\n`, `agent a\nb\nc\n; lines 0 1; accept`, `a\nb\nc\n`, `a\nb\n`, `1,2 1,3: a| b|+c`},
		{"part of a hunk rejected", `a\n`, `agent a\nb\nc\n; lines 1 2; reject`, `a\nb\n`, `a\n`, `1,1 1,2: a|+b`},
		{"redo of a creation leaves a later edit", `-`, `agent a\n; accept; tool a\nb\n; undo; redo`, `a\nb\n`, `a\n`, `1,1 1,2: a|+b`},
		{"undo of a creation leaves a later edit", `-`, `agent a\n; accept; tool a\nb\n; undo; redo; undo`, `a\nb\n`, `-`, `file 0,0 1,2:+a|+b`},
		{"redo of a reject of a creation leaves a later edit", `-`, `agent a\n; reject; undo; tool a\nb\n; redo`, `b\n`, `-`, `file 0,0 1,1:+b`},
		{"redo leaves an edit since the undo", `-`, `agent a\n; accept; undo; agent a\nb\n; redo`, `a\nb\n`, `a\n`, `1,1 1,2: a|+b`},
		{"redo leaves a later deletion", `x\n`, `agent a\nb\nc\nx\n; accept; tool d\na\nx\n; undo; redo`, `d\na\nx\n`, `a\nb\nc\nx\n`, `1,1 1,2:+d| a; 1,4 2,2: a|-b|-c| x`},
		{"redo of a creation leaves a later deletion", `-`, `agent a\nb\nc\n; accept; tool d\na\n; undo; redo`, `d\na\n`, `a\nb\nc\n`, `1,1 1,2:+d| a; 1,3 2,1: a|-b|-c`},
		{"undo leaves out what was deleted, each time", `x\n`, `agent a\nb\nc\nx\n; accept; tool d\na\nx\n; undo; redo; undo`, `d\na\nx\n`, `x\n`, `1,1 1,3:+d|+a| x`},
		{"redo leaves a later deletion, again", `x\n`, `agent a\nb\nc\nx\n; accept; tool d\na\nx\n; undo; redo; user d\na\nx\ny\n; undo; redo`, `d\na\nx\ny\n`, `a\nb\nc\nx\ny\n`, `1,1 1,2:+d| a; 1,5 2,3: a|-b|-c| x| y`},
		{"redo leaves a later replacement", `x\n`, `agent a\n; accept; tool b\n; undo; redo`, `b\n`, `a\n`, `1,1 1,1:-a|+b`},
		{"redo after a later deletion was typed back", `x\n`, `agent a\nb\nc\nx\n; accept; tool a\nx\n; undo; user a\nb\nx\n; redo`, `a\nb\nx\n`, `a\nb\nc\nx\n`, `1,4 1,3: a| b|-c| x`},
		{"accepted lines are gone", `x\n`, `agent x\na\n; accept; user x\n; gone`, `x\n`, `x\n`, ``},
		{"accepted lines are gone, then back", `x\n`, `agent x\na\n; accept; user x\n; gone; user x\na\n; gone`, `x\na\n`, `x\na\n`, ``},
		{"accepted creation is gone", `-`, `agent a\n; accept; user b\n; gone`, `b\n`, `b\n`, ``},
		{"accepted creation is empty now", `-`, `agent a\n; accept; user ; undo`, ``, `-`, `file 0,0 0,0:`},

		{"created", `-`, `agent a\nb\n`, `a\nb\n`, `-`, `file 0,0 1,2:+a|+b`},
		{"created empty", `-`, `agent `, ``, `-`, `file 0,0 0,0:`},
		{"created, accepted", `-`, `agent a\n; accept`, `a\n`, `a\n`, ``},
		{"created empty, accepted", `-`, `agent ; accept`, ``, ``, ``},
		{"created, rejected", `-`, `agent a\n; reject`, `-`, `-`, ``},
		{"created, rejected, undone", `-`, `agent a\n; reject; undo`, `a\n`, `-`, `file 0,0 1,1:+a`},
		{"created, written in, rejected", `-`, `agent a\nb\n; user a\nmine\nb\n; reject`, `mine\n`, `mine\n`, ``},
		{"created, written in", `-`, `agent a\nb\n; user a\nmine\nb\n`, `a\nmine\nb\n`, `mine\n`, `1,1 1,2:+a| mine; 1,1 2,2: mine|+b`},
		{"created, part accepted", `-`, `agent a\nb\n; lines 0 1; accept; reject`, `a\n`, `a\n`, ``},
		{"created, part rejected", `-`, `agent a\nb\n; lines 0 1; reject`, `b\n`, `-`, `file 0,0 1,1:+b`},
		{"created and deleted", `-`, `agent a\n; tool -`, `-`, `-`, ``},
		{"created, deleted by the user", `-`, `agent a\n; user -`, `-`, `-`, ``},
		{"deleted", `a\nb`, `agent -`, `-`, `a\nb`, `file 1,2 0,0:-a|-b\`},
		{"deleted empty", ``, `agent -`, `-`, ``, `file 0,0 0,0:`},
		{"deleted, accepted", `a\n`, `agent -; accept`, `-`, `-`, ``},
		{"deleted, rejected", `a\n`, `agent -; reject`, `a\n`, `a\n`, ``},
		{"deleted, accepted, undone", `a\n`, `agent -; accept; undo`, `-`, `a\n`, `file 1,1 0,0:-a`},
		{"deleted, made again", `a\nb\n`, `agent -; tool a\nx\n`, `a\nx\n`, `a\nb\n`, `1,2 1,2: a|-b|+x`},
		{"deleted, made again by the user", `a\nb\n`, `agent -; user a\nx\n`, `a\nx\n`, `a\nb\nx\n`, `1,3 1,2: a|-b| x`},
		{"deleted, made again by the user, rejected", `a\nb\n`, `agent -; user x\n; reject`, `a\nb\nx\n`, `a\nb\nx\n`, ``},
		{"deleted, made again by the user, accepted", `a\nb\n`, `agent -; user x\n; accept`, `x\n`, `x\n`, ``},
		{"deleted, restored by the user", `a\nb\n`, `agent -; user a\nb\n`, `a\nb\n`, `a\nb\n`, ``},
		{"user deletes what is pending", `a\n`, `agent b\n; user -`, `-`, `-`, ``},
		{"deleted after edits", `a\nb\n`, `agent a\nx\n; user a\nx\nmine\n; tool -; reject`, `a\nb\nmine\n`, `a\nb\nmine\n`, ``},

		{"binary", `a\x00`, `agent b\x00; reject`, `a\x00`, `a\x00`, ``},
		{"text becomes binary", `a\n`, `agent b\x00`, `b\x00`, `a\n`, `file 0,0 0,0:`},
		{"text becomes binary and text", `a\nb\n`, `agent b\x00; tool a\nx\n`, `a\nx\n`, `a\nb\n`, `1,2 1,2: a|-b|+x`},
		{"binary becomes text, accepted", `b\x00`, `agent a\n; accept; tool b\n`, `b\n`, `a\n`, `1,1 1,1:-a|+b`},
		{"binary undone", `a\x00`, `agent b\x00; accept; undo`, `b\x00`, `a\x00`, `file 0,0 0,0:`},
		{"not UTF-8", `a\n`, `agent \xff\n`, `\xff\n`, `a\n`, `file 0,0 0,0:`},
		{"user writes a clean binary", `a\x00`, `user b\x00`, `b\x00`, `b\x00`, ``},
		{"user writes text over the agent's binary", `a\n`, `agent b\x00; user c\n`, `c\n`, `c\n`, ``},
		{"created binary", `-`, `agent b\x00; reject`, `-`, `-`, ``},
		{"deleted binary", `b\x00`, `agent -; reject`, `b\x00`, `b\x00`, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := New(unquoted(t, c.base))
			if c.steps != "" {
				tell(t, r, strings.Split(c.steps, "; "))
			}
			require.Equal(t, unquoted(t, c.now), normal(r.Current()), "now")
			require.Equal(t, unquoted(t, c.baseline), normal(r.Baseline()), "baseline")
			require.Equal(t, c.hunks, described(r))
			wellFormed(t, r)
			checkHunks(t, r)
			reloaded(t, r)
		})
	}
}

var agents = map[string]*Source{
	"agent": {SessionID: "s", TurnID: "t1", ItemID: "t1:1", Via: "edit"},
	"tool":  {SessionID: "s", TurnID: "t2", Via: "shell"},
	"maybe": {SessionID: "s", TurnID: "t2", Via: ViaUnknown},
	"user":  nil,
}

func tell(t *testing.T, r *Review, steps []string) {
	var lines *Range
	var of bool // whether lines is for the second hunk
	var done Decision
	for _, step := range steps {
		verb, rest, _ := strings.Cut(step, " ")
		switch verb {
		case "agent", "tool", "maybe", "user":
			r.Observe(unquoted(t, rest), agents[verb])
		case "lines", "lines1":
			lines, of = &Range{}, verb == "lines1"
			_, err := fmt.Sscan(rest, &lines.From, &lines.To)
			require.NoError(t, err)
		case "accept", "reject":
			var ids []uint64
			for i, h := range r.Hunks() {
				if rest == "" && (!of || i == 1) || rest == fmt.Sprint(i) {
					ids = append(ids, h.ID)
				}
			}
			d, err := decide(t, r, ids, verb == "accept", lines)
			require.NoError(t, err)
			done, lines, of = d, nil, false
		case "undo":
			require.NoError(t, r.Undo(done))
		case "redo":
			again, err := r.Redo(stored(t, done))
			require.NoError(t, err)
			done = stored(t, again)
		case "gone":
			before := r.Copy()
			require.ErrorIs(t, r.Undo(done), ErrGone)
			sameReview(t, before, r, "a refused undo changes nothing")
		default:
			require.Fail(t, "unknown step", step)
		}
	}
}

func unquoted(t *testing.T, s string) Content {
	if s == "-" {
		return Content{}
	}
	s = strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\x00`, "\x00", `\xff`, "\xff").Replace(s)
	return Content{Exists: true, Data: []byte(s)}
}

func described(r *Review) string {
	var all []string
	for _, h := range r.Hunks() {
		lines := append([]string{}, h.Lines...)
		lastOld, lastNew := -1, -1
		for i, l := range lines {
			if l[0] != '+' {
				lastOld = i
			}
			if l[0] != '-' {
				lastNew = i
			}
		}
		if h.OldNoEOL {
			lines[lastOld] += `\`
		}
		if h.NewNoEOL && !(h.OldNoEOL && lastNew == lastOld) {
			lines[lastNew] += `\`
		}
		kind := ""
		if h.Kind == FileHunk {
			kind = "file "
		}
		all = append(all, fmt.Sprintf("%s%d,%d %d,%d:%s", kind, h.OldStart, h.OldLines, h.NewStart, h.NewLines, strings.Join(lines, "|")))
	}
	return strings.Join(all, "; ")
}
