//go:build unix

package nvim

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

var everyNvim = flag.Bool("every-nvim", false, "run each test with all of the Neovims that are there")

// eachNvim runs a test with each Neovim that is there: tests of what Neovim itself does, such as drawing, keys, windows and its start.
func eachNvim(t *testing.T, test func(t *testing.T, bin string)) {
	withNvims(t, world.EditorsFound(t, "nvim-*", "nvim"), test)
}

// anNvim runs a test of what the plugin and the daemon say to each other with one Neovim: each gets a share of these tests, by the
// tests' names. With -every-nvim it runs the test with all.
func anNvim(t *testing.T, test func(t *testing.T, bin string)) {
	all := world.EditorsFound(t, "nvim-*", "nvim")
	if !*everyNvim {
		name := fnv.New32a()
		_, _ = name.Write([]byte(t.Name()))
		one := name.Sum32() % uint32(len(all))
		all = all[one : one+1]
	}
	withNvims(t, all, test)
}

func withNvims(t *testing.T, all []string, test func(t *testing.T, bin string)) {
	for _, bin := range all {
		t.Run(filepath.Base(bin), func(t *testing.T) { test(t, bin) })
	}
}

// An nvim is a Neovim with the plugin, without a screen of its own, that is driven by its API.
type nvim struct {
	t    *testing.T
	w    *world.World
	cmd  *exec.Cmd
	in   io.WriteCloser
	gone chan struct{}

	mu      sync.Mutex
	calls   uint32
	waiting map[uint32]chan []any
}

// nvimInit records the plugin's messages, so that no long one waits for a key. It keeps the settings of Python files from
// looking for a Python with a module for Neovim, which starts a dozen programs.
const nvimInit = `
vim.g.loaded_python3_provider = 0
vim.o.columns, vim.o.lines = 100, 30
said, builtin_notify = {}, vim.notify
vim.notify = function(text, level)
  table.insert(said, { text = text, level = level or vim.log.levels.INFO })
end
`

// trusted returns a trusted workspace with files, whose daemon runs, and a client of it.
func trusted(t *testing.T, files world.Tree) (*world.World, *world.Editor) {
	w := world.New(t)
	w.PutAll(files)
	w.Start()
	w.Trusts()
	return w, w.Opens()
}

// neovim starts a Neovim in the workspace. init is Lua that runs before the plugin is loaded.
func neovim(w *world.World, t *testing.T, bin, init string, args ...string) *nvim {
	t.Helper()
	plugin := world.Top("editors", "nvim")
	w.Put("../init.lua", fmt.Sprintf("vim.opt.rtp:prepend(%q)\n%s\n%s\n", plugin, nvimInit, init))
	n := &nvim{t: t, w: w, gone: make(chan struct{}), waiting: map[uint32]chan []any{}}
	n.cmd = exec.Command(bin, append([]string{"--embed", "--headless", "-u", w.Path("../init.lua"), "-i", "NONE", "-n"}, args...)...)
	n.cmd.Dir = w.Root
	n.cmd.Env = w.Env("LC_ALL=C.UTF-8", "XDG_RUNTIME_DIR="+w.Dir)
	var err error
	n.in, err = n.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := n.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, n.cmd.Start())
	go n.read(bufio.NewReader(out))
	t.Cleanup(n.kill)
	n.lua("return 1")
	return n
}

func (n *nvim) read(r *bufio.Reader) {
	defer close(n.gone)
	for {
		v, err := unpack(r)
		if err != nil {
			return
		}
		if m, ok := v.([]any); ok && len(m) == 4 && m[0] == int64(1) {
			n.mu.Lock()
			ch := n.waiting[uint32(m[1].(int64))]
			n.mu.Unlock()
			if ch != nil {
				ch <- m
			}
		}
	}
}

// kill ends it as a crash would.
func (n *nvim) kill() {
	_ = n.cmd.Process.Kill()
	<-n.gone
	_ = n.cmd.Wait()
}

// quits ends it as ":qall!" does. It may end before it has answered.
func (n *nvim) quits() {
	n.t.Helper()
	_, err := n.in.Write(packCall(0, "nvim_command", "qall!"))
	require.NoError(n.t, err)
	<-n.gone
	_ = n.cmd.Wait()
}

func (n *nvim) call(method string, params ...any) any {
	n.t.Helper()
	ch := make(chan []any, 1)
	n.mu.Lock()
	n.calls++
	id := n.calls
	n.waiting[id] = ch
	n.mu.Unlock()
	_, err := n.in.Write(packCall(id, method, params...))
	require.NoError(n.t, err)
	select {
	case m := <-ch:
		require.Nil(n.t, m[2], "%s %v", method, params)
		return m[3]
	case <-n.gone:
		n.t.Fatalf("Neovim has ended")
	case <-time.After(world.Patience):
		n.t.Fatalf("Neovim does not answer to %s %v", method, params)
	}
	return nil
}

// lua runs code and returns its result; arguments go through JSON.
func (n *nvim) lua(code string, args ...any) any {
	n.t.Helper()
	in, err := json.Marshal(append([]any{}, args...))
	require.NoError(n.t, err)
	out := n.call("nvim_exec_lua", "local args = ...\nlocal f = function(...) "+code+
		"\nend\nlocal v = f(unpack(vim.json.decode(args)))\n"+
		"return '{\"v\":' .. vim.json.encode(v == nil and vim.NIL or v) .. '}'", []string{string(in)}).(string)
	var v struct{ V any }
	require.NoError(n.t, json.Unmarshal([]byte(out), &v))
	return v.V
}

// ex runs a command line, and waits until no command of the plugin waits for the daemon.
func (n *nvim) ex(command string) {
	n.t.Helper()
	n.lua("vim.cmd(...)", command)
	if strings.Contains(command, "Cursord") && !strings.Contains(command, "Cursord ask") { // which may open a question; Neovim then answers to nothing
		n.until("it has run", noneWaits)
	}
}

// noneWaits returns whether no command of the plugin waits for the daemon.
const noneWaits = `local await = package.loaded['cursord.review.await']
	for _, ws in pairs(await and require('cursord.workspace').all() or {}) do
		if await.is_waiting(ws) then return false end
	end
	return true`

// turn asks for the first turn and waits until the plugin says how it has ended.
func (n *nvim) turn(prompt string) {
	n.t.Helper()
	n.ex("Cursord ask " + prompt)
	n.until("the end of the turn", "return said[1] ~= nil")
}

// keys types, as if by hand; <CR> and the like are keys.
func (n *nvim) keys(keys string) {
	n.t.Helper()
	n.call("nvim_input", keys)
}

// until waits until code returns true.
func (n *nvim) until(what, code string, args ...any) {
	n.t.Helper()
	n.poll(what, func() bool { return n.lua(code, args...) == true })
}

func (n *nvim) poll(what string, fits func() bool) {
	n.t.Helper()
	if !world.Comes(world.Patience, fits) {
		n.t.Fatalf("waited in vain for %s\nmessages:\n%s\nscreen:\n%s", what, n.messages(), n.screen())
	}
}

// text returns the text of the current buffer, or of a file's.
func (n *nvim) text(path ...string) string {
	n.t.Helper()
	name := ""
	if len(path) > 0 {
		name = n.w.Path(path[0])
	}
	return n.lua(`local b = ... == '' and 0 or vim.fn.bufnr('^' .. ... .. '$')
		return table.concat(vim.api.nvim_buf_get_lines(b, 0, -1, false), '\n') .. '\n'`, name).(string)
}

func (n *nvim) untilText(path, want string) {
	n.t.Helper()
	var have string
	defer func() {
		if have != want {
			n.t.Logf("%s holds\n%s", path, have)
		}
	}()
	n.poll("the text of "+path, func() bool { have = n.text(path); return have == want })
}

// messages returns ":messages" and the plugin's messages.
func (n *nvim) messages() string {
	n.t.Helper()
	return n.lua(`local all = { vim.fn.execute('messages') }
		for _, s in ipairs(said) do all[#all + 1] = s.text end
		return table.concat(all, '\n')`).(string)
}

// screen returns the text of the screen.
func (n *nvim) screen() string {
	n.t.Helper()
	all := n.lua(`vim.cmd.redraw()
		local rows = {}
		for r = 1, vim.o.lines do
			local row = {}
			for c = 1, vim.o.columns do row[c] = vim.fn.screenstring(r, c) end
			rows[r] = (table.concat(row):gsub('%s+$', ''))
		end
		return table.concat(rows, '\n')`).(string)
	return strings.TrimRight(all, "\n")
}

// untilScreen waits until the screen has a text.
func (n *nvim) untilScreen(part string) {
	n.t.Helper()
	n.poll("on the screen: "+part, func() bool { return strings.Contains(n.screen(), part) })
}

// follows waits until Neovim follows the current buffer's file.
func (n *nvim) follows() {
	n.t.Helper()
	n.until("it follows the file", "return (require('cursord.docs').get(vim.fn.bufnr()) or {}).named == true")
}

// knowsTheMerge waits until Neovim knows what the current buffer and the disk have in common, after a turn.
func (n *nvim) knowsTheMerge() {
	n.t.Helper()
	n.until("the merge is known", "return require('cursord.docs').get(vim.fn.bufnr()).known ~= nil and #require('cursord.workspace').find():busy() == 0")
}

// decided waits until no command waits and no decision is on its way.
func (n *nvim) decided() {
	n.t.Helper()
	n.until("the commands have run", noneWaits)
	n.until("the decision is made", "return not require('cursord.review.decide').is_busy(require('cursord.workspace').find())")
}

// hears waits until the plugin says a text, or something with it in it. Other messages may come before and after, and each
// message counts once.
func (n *nvim) hears(text string) {
	n.t.Helper()
	n.until("the message: "+text, `for _, one in ipairs(said) do
		if not one.heard and one.text:find(..., 1, true) then
			one.heard = true
			return true
		end
	end`, text)
}

// quiet requires that no warning and no error was shown.
func (n *nvim) quiet() {
	n.t.Helper()
	require.Empty(n.t, n.lua(`return vim.tbl_filter(function(s) return s.level >= vim.log.levels.WARN end, said)`))
	require.Equal(n.t, "", n.lua(`return vim.v.errmsg`))
	require.NotRegexp(n.t, `(?i)error|traceback|W1\d:|E\d+:`, n.lua("return vim.fn.execute('messages')"))
}
