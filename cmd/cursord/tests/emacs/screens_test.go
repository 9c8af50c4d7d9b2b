//go:build unix

package emacs

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

var updateScreens = flag.Bool("update-screens", false, "write testdata/screens.txt anew, as the screens are")

// screensInit makes all runs draw the same.
const screensInit = `(progn
  (keymap-global-set "C-c a" cursord-command-map)
  (menu-bar-mode -1)
  (setq-default mode-line-format '(" %b"))
  (setq diff-refine 'navigation visible-cursor nil cursord-tell-turn-end nil)
  (global-eldoc-mode -1)
  (show-paren-mode -1)
  (fset 'cursord--age (lambda (_) "now"))
  (cursord-mode))`

// aScreen is a screen: the code and keys that lead to it, and the code and keys that leave it.
type aScreen struct{ name, code, keys, leave, quit string }

var screens = []aScreen{
	{"chat", `(progn (switch-to-buffer "*cursord: ws*") (goto-char (point-min)))`, "", "", ""},
	{"end of the chat", `(progn (switch-to-buffer "*cursord: ws*") (goto-char (point-max)) (recenter -1))`, "", "", ""},
	{"chat, unfolded", `(progn (goto-char (point-min)) (search-forward "✓ Edit") (cursord-toggle) (recenter 1))`, "", "(cursord-toggle)", ""},
	{"review", `(progn (when (get-buffer "*cursord-review: ws*") (kill-buffer "*cursord-review: ws*")) (cursord-review) (delete-other-windows))`, "", "", ""},
	{"review, first file folded", `(progn (goto-char (point-min)) (outline-cycle) (goto-char (point-max)))`, "", "", ""},
	{"file", `(progn (switch-to-buffer "greet.el") (goto-char (point-min)))`, "", "", ""},
	{"prompt", `(progn (cursord-compose) (delete-other-windows) (erase-buffer) (insert "look at @lib/greet.el"))`, "", "", ""},
	{"sessions", `(progn (cursord-sessions) (delete-other-windows) (goto-char (point-min)))`, "", "", ""},
	{"projects", `(progn (cursord-projects) (delete-other-windows) (goto-char (point-min)))`, "", "", ""},
	{"menu", `(switch-to-buffer "greet.el")`, "C-c a m", "", "C-g"},
}

// TestEmacsScreens draws all screens in real terminals: with 80 and 40 columns, on light and dark, with 256 colours and with 8. It
// compares them, colours included, with testdata/screens.txt.
func TestEmacsScreens(t *testing.T) {
	t.Parallel()
	file := filepath.Join("testdata", "screens.txt")
	golden := goldenScreens(t, file)
	var drawn sync.Map
	if *updateScreens {
		t.Cleanup(func() { keepScreens(t, file, &drawn) })
	}
	for _, terminal := range []struct {
		name, term string
		looks      []string
	}{{"256 colours", "screen-256color", []string{"light", "dark"}}, {"8 colours", "screen", []string{"dark"}}} {
		drawAll := func(t *testing.T, bin string) {
			w := world.New(t)
			screensWorld(w)
			e, tm := terminalEmacs(w, t, bin, screensInit, terminal.term)
			e.eval(`(progn (find-file %q) (cursord-send (cursord-workspace-open) "greet friendlier") (cursord-show-chat (cursord-workspace-find)) (delete-other-windows) nil)`,
				w.Path("lib/greet.el"))
			e.until("the end", `(let ((ws (cursord-workspace-find))) (and (null (cursord-busy-turns ws)) (equal '(3 . 2) (cursord-pending ws)) (= 2 (length cursord--marks))))`)
			e.until("the end of the chat", `(with-current-buffer "*cursord: ws*" (goto-char (point-min)) (search-forward "see lib/greet.el:4" nil t))`)
			e.until("the model", `(with-current-buffer "*cursord: ws*" (string-match-p "auto" (cursord--chat-header)))`)
			for _, columns := range []int{80, 40} {
				e.resizes(tm, columns)
				for _, look := range terminal.looks {
					if columns == 40 && look == "light" {
						continue
					}
					e.eval(`(progn (setq frame-background-mode '%s) (frame-set-background-mode (selected-frame)) nil)`, look)
					for _, screen := range screens {
						name := fmt.Sprintf("%s: %d columns, %s, %s", screen.name, columns, look, terminal.name)
						e.eval(`(progn %s (font-lock-ensure) (message nil) nil)`, screen.code)
						if screen.keys != "" {
							tm.Types(strings.Fields(screen.keys)...)
						}
						if *updateScreens {
							drawn.Store(name, settledScreen(tm))
						} else {
							have := ""
							if !world.Comes(world.Patience, func() bool { have = styledScreen(tm); return have == golden[name] }) {
								t.Errorf("%s is drawn as\n%s\nand should be\n%s", name, have, golden[name])
							}
						}
						if screen.leave != "" { // a key might come when the next screen is there
							e.eval(`(progn %s nil)`, screen.leave)
						}
						if screen.quit != "" {
							e.poll("the menu to go", func() bool { // Emacs may lose a quit that comes while it redraws
								tm.Types(strings.Fields(screen.quit)...)
								return e.eval(`(null (get-buffer-window " *transient*"))`) == true
							})
						}
					}
				}
			}
			e.quiet()
		}
		t.Run(terminal.name, func(t *testing.T) { anEmacs(t, drawAll) })
	}
}

// resizes gives the terminal this number of columns, and waits until Emacs knows. Emacs may miss the signal, so it is sent again.
func (e *emacs) resizes(tm *world.Tmux, columns int) {
	e.t.Helper()
	width := fmt.Sprintf(`(progn (redisplay) (= %d (frame-width)))`, columns)
	for range 5 {
		for _, x := range []int{columns + 1, columns} {
			out, err := tm.Command("resize-window", "-x", strconv.Itoa(x), "-y", "24").CombinedOutput()
			require.NoError(e.t, err, "%s", out)
		}
		if world.Comes(world.Patience/5, func() bool { return e.eval(width) == true }) {
			return
		}
	}
	e.t.Fatalf("Emacs does not see that its terminal has %d columns", columns)
}

func keepScreens(t *testing.T, file string, drawn *sync.Map) {
	var parts []string
	drawn.Range(func(name, screen any) bool {
		parts = append(parts, fmt.Sprintf("=== %s\n%s\n", name, screen))
		return true
	})
	slices.Sort(parts)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(strings.Join(parts, "")), 0o644))
}

// screensWorld makes a world whose agent makes a call of each kind.
func screensWorld(w *world.World) {
	greet := "(defun greet (name)\n  (message \"hello, %s\" name))\n\n(defun main ()\n  (greet user-login-name))\n\n(provide 'greet)\n"
	friendlier := strings.NewReplacer("hello, %s", "good morning, %s", "  (greet user-login-name))", "  (dolist (name names)\n    (greet name)))").Replace(greet)
	w.Put("lib/greet.el", greet)
	w.Git("init", "-q")
	shell := func(id, command, result string) []string {
		return []string{
			fmt.Sprintf(`{"type":"tool_call","subtype":"started","call_id":%q,"tool_call":{"shellToolCall":{"args":{"command":%q}}}}`, id, command),
			fmt.Sprintf(`{"type":"tool_call","subtype":"completed","call_id":%q,"tool_call":{"shellToolCall":{"args":{"command":%q},"result":%s}}}`, id, command, result),
		}
	}
	todo := `{"type":"tool_call","subtype":%q,"call_id":"t","tool_call":{"updateTodosToolCall":{"args":{"todos":[]}%s}}}`
	lines := []string{
		`{"type":"thinking","subtype":"delta","text":"Hm."}`, `{"type":"thinking","subtype":"completed"}`,
		fmt.Sprintf(todo, "started", ""),
		fmt.Sprintf(todo, "completed", `,"result":{"success":{"todos":[{"id":"1","content":"greet friendlier","status":"TODO_STATUS_COMPLETED"},{"id":"2","content":"run the tests","status":"TODO_STATUS_IN_PROGRESS"}]}}`),
		world.Streams("I make **it** friendlier, see `lib/greet.el:2`.\n"),
	}
	lines = append(lines, world.Edits("e1", "lib/greet.el", greet, friendlier)...)
	lines = append(lines, world.Edits("e2", "lib/tests.el", "(absent)", "(require 'greet)\n(greet \"Ada\")\n")...)
	lines = append(lines, shell("s1", "make test", `{"failure":{"command":"make test","exitCode":2,"stdout":"one\ntwo\nthree\nfour\nvoid-variable names\n","stderr":""}}`)...)
	lines = append(lines, shell("s2", "ls", `{"success":{"command":"ls","exitCode":0,"stdout":"lib\n","stderr":""}}`)...)
	lines = append(lines, world.Streams("## Done\n\n- see lib/greet.el:4\n\n```\n(greet \"Ada\")\n```\n"),
		`{"type":"result","subtype":"success","result":"ok","usage":{"inputTokens":12345,"outputTokens":678}}`)
	w.Plays(lines...)
	w.Start()
	w.Trusts()
}

func goldenScreens(t *testing.T, file string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if !*updateScreens {
		require.NoError(t, err)
	}
	all := map[string]string{}
	for _, part := range strings.Split(string(text), "=== ")[1:] {
		name, screen, _ := strings.Cut(part, "\n")
		all[name] = strings.TrimSuffix(screen, "\n")
	}
	return all
}

// settledScreen returns the screen once it has not changed for a second; only -update-screens uses it.
func settledScreen(tm *world.Tmux) string {
	last := ""
	for {
		now := styledScreen(tm)
		if now == last {
			return now
		}
		last = now
		time.Sleep(time.Second)
	}
}

var graphics = regexp.MustCompile("\x1b\\[([0-9;]*)m")

// styledScreen returns the text of the screen, with the style before each run of text in ‹›: 1 is bold, 3 italic, 4 underlined,
// 7 reversed, f and b are the colours of text and background. It leaves out blanks at the ends of lines.
func styledScreen(tm *world.Tmux) string {
	tm.T.Helper()
	out, err := tm.Captures("-e")
	require.NoError(tm.T, err)
	style := map[string]string{}
	var rows []string
	for _, line := range strings.Split(out, "\n") {
		var b strings.Builder
		shown := ""
		for line != "" {
			at := graphics.FindStringSubmatchIndex(line)
			text := line
			if at != nil {
				text = line[:at[0]]
			}
			if text != "" {
				if now := styleText(style); now != shown {
					b.WriteString("‹" + now + "›")
					shown = now
				}
				b.WriteString(text)
			}
			if at == nil {
				break
			}
			applyGraphics(style, line[at[2]:at[3]])
			line = line[at[1]:]
		}
		rows = append(rows, strings.TrimRight(strings.TrimSuffix(strings.TrimRight(b.String(), " "), "‹›"), " "))
	}
	return strings.TrimRight(strings.Join(rows, "\n"), "\n")
}

// applyGraphics applies a terminal's sequence to a style.
func applyGraphics(style map[string]string, codes string) {
	parts := strings.Split(codes, ";")
	for i := 0; i < len(parts); i++ {
		n, _ := strconv.Atoi(parts[i])
		switch {
		case n == 0:
			clear(style)
		case n < 10:
			style[parts[i]] = parts[i]
		case n == 38 || n == 48:
			kind := map[int]string{38: "f", 48: "b"}[n]
			if i+2 < len(parts) && parts[i+1] == "5" {
				style[kind] = kind + parts[i+2]
				i += 2
			}
		case n == 39:
			delete(style, "f")
		case n == 49:
			delete(style, "b")
		case n >= 30 && n < 38:
			style["f"] = "f" + strconv.Itoa(n-30)
		case n >= 40 && n < 48:
			style["b"] = "b" + strconv.Itoa(n-40)
		case n >= 90 && n < 98:
			style["f"] = "f" + strconv.Itoa(n-82)
		case n >= 100 && n < 108:
			style["b"] = "b" + strconv.Itoa(n-92)
		case n > 20 && n < 30:
			delete(style, strconv.Itoa(n-20))
			if n == 22 {
				delete(style, "1")
			}
		}
	}
}

func styleText(style map[string]string) string {
	var parts []string
	for _, key := range []string{"1", "2", "3", "4", "5", "7", "f", "b"} {
		if style[key] != "" {
			parts = append(parts, style[key])
		}
	}
	return strings.Join(parts, " ")
}
