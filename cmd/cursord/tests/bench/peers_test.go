//go:build unix

package bench

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

var peersDir = flag.String("peers", "", "the `folder` with the programs to compare with; see .ci/peers")

// A rival is a program that an editor might start instead of cursord.
type rival struct {
	name    string
	argv    []string
	headers bool   // speaks with Content-Length headers, otherwise in lines
	hello   string // its initialize, with the id 1
	drives  func(*testing.T, *world.World) (stream, string)
}

// A stream is the timing of a peer's deltas.
type stream struct {
	beyond   delays // from the prompt to the first delta, less the agent's own time
	p50, p99 float64
	rate     float64
}

const (
	acpHello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}`
	lspHello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}`
)

// TestPeers prints one table of cursord and its nearest peers. All run here and now with the same fake agent, as far as they
// run without an account.
func TestPeers(t *testing.T) {
	if *peersDir == "" {
		t.Skip("needs the peers: make bench-peers")
	}
	bin := func(name string) string { return filepath.Join(*peersDir, "bin", name) }
	npm := func(name string) string { return filepath.Join(*peersDir, "node_modules", ".bin", name) }
	none := func(why string) func(*testing.T, *world.World) (stream, string) {
		return func(*testing.T, *world.World) (stream, string) { return stream{}, why }
	}
	t.Setenv("PATH", filepath.Join(*peersDir, "bin")+":"+os.Getenv("PATH"))
	peers := []rival{
		{"cursord stdio", []string{bin("cursord"), "stdio"}, false, world.Request(1, "initialize", world.Obj{}), streamsOfCursord("stdio", listensByStdio)},
		{"cursord acp", []string{bin("cursord"), "acp"}, false, acpHello, streamsOfCursord("acp", listensByACP)},
		{"cursor-agent-acp", []string{npm("cursor-agent-acp")}, false, acpHello, streamsOfAdapter},
		{"acpx exec", nil, false, "", streamsOfAcpx(npm("acpx"))},
		{"codex app-server", []string{npm("codex"), "app-server"}, false,
			`{"id":1,"method":"initialize","params":{"clientInfo":{"name":"bench","version":"1"}}}`, none("a turn needs an account")},
		{"gopls", []string{bin("gopls")}, true, lspHello, none("has no turns")},
		{"gopls -remote=auto", []string{bin("gopls"), "-remote=auto"}, true, lspHello, none("has no turns")},
	}
	var table bytes.Buffer
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "program\tinitialize, ms: cold\twarm\tat rest, MB\tbeyond agent to 1st delta, ms\tadded per delta, µs: p50\tp99\tdeltas/s\tremark")
	for _, p := range peers {
		cells := []string{p.name, "–", "–", "–", "–", "–", "–", "–", "no answer within a minute"}
		t.Run(p.name, func(t *testing.T) {
			if p.argv != nil {
				cold, warm, mb := p.starts(t)
				copy(cells[1:], []string{ms(cold), ms(warm), fmt.Sprintf("%.0f", mb)})
			}
			s, remark := p.drives(t, peerWorld(t))
			copy(cells[4:], []string{ms(s.beyond), number(s.p50), number(s.p99), number(s.rate), remark})
			t.Log(cells)
		})
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	require.NoError(t, w.Flush())
	fmt.Printf("\n%s\n", &table)
}

func ms(d delays) string {
	if len(d) == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f", d.quantile(0.5)/1000)
}

func number(f float64) string {
	if f == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f", f)
}

// peerWorld is a world whose agent has the names that the peers look for.
func peerWorld(t *testing.T) *world.World {
	w := world.New(t)
	// A peer that asks for one JSON object gets another script.
	w.Put("../bin/cursor-agent", "#!/bin/sh\ncase \"$*\" in *'--output-format json'*) CURSORD_FAKE_SCRIPT=$CURSORD_FAKE_SCRIPT.json;; esac\n"+
		"export CURSORD_FAKE_SCRIPT\nexec "+filepath.Join(*peersDir, "bin", "cursord")+" fake-agent \"$@\"\n")
	require.NoError(t, os.Chmod(w.Path("../bin/cursor-agent"), 0o755))
	t.Cleanup(func() { w.Cursord("stop", "--force") }) // where one was started
	return w
}

func peerEnv(w *world.World) []string {
	env := w.Env("CODEX_HOME="+w.Dir, "XDG_CACHE_HOME="+w.Dir, "XDG_RUNTIME_DIR="+w.Dir, "CURSORD_AGENT="+w.Path("../bin/cursor-agent"))
	return append(env, "PATH="+w.Path("../bin")+":"+os.Getenv("PATH"))
}

// A speaker is a running rival.
type speaker struct {
	*listener
	cmd *exec.Cmd
}

func starts(w *world.World, argv []string) *speaker {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Dir = peerEnv(w), w.Root
	in, err := cmd.StdinPipe()
	require.NoError(w.T, err)
	out, err := cmd.StdoutPipe()
	require.NoError(w.T, err)
	require.NoError(w.T, cmd.Start())
	limit := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	w.T.Cleanup(func() { limit.Stop() })
	return &speaker{newListener(world.Piped{ReadCloser: out, WriteCloser: in}), cmd}
}

// ends ends a peer. Some go on when their stdin ends.
func (s *speaker) ends() {
	s.conn.Close()
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// says writes a message.
func (s *speaker) says(t *testing.T, message string, headers bool) {
	if headers {
		message = fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(message), message)
	} else {
		message += "\n"
	}
	_, err := s.conn.Write([]byte(message))
	require.NoError(t, err)
}

// answered reads until the answer to a request.
func (s *speaker) answered(t *testing.T, id int) []byte {
	var seen []byte
	for {
		line, err := s.lines.ReadSlice('\n')
		if err != nil && err != bufio.ErrBufferFull {
			t.Skipf("no answer from %s: %v\n%s", s.cmd.Path, err, seen)
		}
		seen = append(seen, line...)
		if bytes.Contains(line, fmt.Appendf(nil, `"id":%d`, id)) && (bytes.Contains(line, []byte(`"result"`)) || bytes.Contains(line, []byte(`"error"`))) {
			return line
		}
	}
}

// greeted reads until the answer to initialize, which has no newline behind it if there are headers.
func (s *speaker) greeted(t *testing.T, headers bool) {
	if !headers {
		s.answered(t, 1)
		return
	}
	var seen []byte
	for buf := make([]byte, 64<<10); !bytes.Contains(seen, []byte(`"id":1`)); {
		n, err := s.conn.Read(buf)
		if err != nil {
			t.Skipf("no answer: %v\n%s", err, seen)
		}
		seen = append(seen, buf[:n]...)
	}
}

// settledMemory returns the memory of a process and its children once it has not changed for a second: a peer may go on with its
// start after its first answer.
func settledMemory(pid int) (mb float64) {
	since := time.Now()
	world.Comes(world.Patience, func() bool {
		if now := residentTree(pid); now != mb {
			mb, since = now, time.Now()
		}
		return time.Since(since) >= time.Second
	})
	return mb
}

// starts measures the time from a start to the answer to initialize, cold in a new home in which nothing runs, and warm
// while another one runs or has run there; and the memory of all its processes.
func (p *rival) starts(t *testing.T) (cold, warm delays, mb float64) {
	for range 3 {
		w := peerWorld(t)
		for i := range 2 {
			at := time.Now()
			s := starts(w, p.argv)
			s.says(t, p.hello, p.headers)
			s.greeted(t, p.headers)
			if took := time.Since(at); i == 0 {
				cold = append(cold, took)
				mb = settledMemory(s.cmd.Process.Pid)
				defer s.ends()
			} else {
				warm = append(warm, took)
				s.ends()
			}
		}
	}
	return cold, warm, mb
}

// residentTree returns the resident memory of a process and its descendants, in MB.
func residentTree(root int) float64 {
	children := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		b, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		// pid (name) state parent …
		fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		parent, _ := strconv.Atoi(fields[1])
		children[parent] = append(children[parent], pid)
	}
	sum := 0.0
	for all := []int{root}; len(all) > 0; all = all[1:] {
		sum += world.Resident(all[0], "VmRSS")
		all = append(all, children[all[0]]...)
	}
	return sum
}

const peerDeltas, peerFlood = 300, 200_000

// added returns a stream of delays less those of the reference.
func added(beyond delays, with, without delays, rate float64) stream {
	return stream{
		beyond: beyond, rate: rate,
		p50: with.quantile(0.5) - without.quantile(0.5), p99: with.quantile(0.99) - without.quantile(0.99),
	}
}

func streamsOfCursord(name string, open func(*world.World) *listener) func(*testing.T, *world.World) (stream, string) {
	by := route{name, open}
	return func(t *testing.T, w *world.World) (stream, string) {
		w.Start()
		paced := func(r route) (first time.Duration, d delays) {
			w.Plays(stamped(peerDeltas, 10*time.Millisecond)...)
			l := r.open(w)
			start := time.Now()
			begins(w, r, l)
			at, _ := l.hears(peerDeltas*stampSize, d.arrived)
			l.leaves()
			return at.Sub(start), d[peerDeltas/10:]
		}
		var beyond, with, without delays
		for range 2 {
			own, bare := paced(routes()[0])
			first, all := paced(by)
			beyond, with, without = append(beyond, first-own), append(with, all...), append(without, bare...)
		}
		w.Plays(flood(peerFlood)...)
		l := open(w)
		begins(w, by, l)
		first, last := l.hears(peerFlood*len(word), nil)
		l.leaves()
		return added(beyond, with, without, peerFlood/last.Sub(first).Seconds()), "over a bare relay"
	}
}

// streamsOfAdapter drives an ACP adapter that runs the agent for each prompt and asks it for one JSON object.
func streamsOfAdapter(t *testing.T, w *world.World) (stream, string) {
	w.Plays(stamped(1, 0)...)
	require.NoError(t, os.WriteFile(w.Script+".json",
		[]byte(`{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"result":"{{now_ns}} ","session_id":"{{session}}"}`+"\n"), 0o600))
	s := starts(w, []string{filepath.Join(*peersDir, "node_modules", ".bin", "cursor-agent-acp")})
	defer s.ends()
	s.says(t, acpHello, false)
	s.answered(t, 1)
	s.says(t, world.Request(2, "session/new", world.Obj{"cwd": w.Root, "mcpServers": []any{}}), false)
	_, rest, _ := bytes.Cut(s.answered(t, 2), []byte(`"sessionId":"`))
	session, _, _ := bytes.Cut(rest, []byte(`"`))
	id := string(session)
	var beyond delays
	for i := range 5 {
		relay := relayed(w)
		start := time.Now()
		at, _ := relay.hears(stampSize, nil)
		own := at.Sub(start)
		relay.leaves()
		start = time.Now()
		s.says(t, world.Request(3+i, "session/prompt", world.Obj{"sessionId": id, "prompt": []world.Obj{{"type": "text", "text": "do it"}}}), false)
		at, _ = s.hears(stampSize-1, nil)
		beyond = append(beyond, at.Sub(start)-own)
		s.answered(t, 3+i)
	}
	return stream{beyond: beyond}, "no deltas: the text comes whole, at the end"
}

// streamsOfAcpx runs a command line for a prompt, with an ACP agent that does nothing but speak.
func streamsOfAcpx(acpx string) func(*testing.T, *world.World) (stream, string) {
	return func(t *testing.T, w *world.World) (stream, string) {
		agent, err := exec.LookPath("fake-acp")
		require.NoError(t, err)
		runs := func(n int, pause time.Duration) (own time.Duration, bare delays, through time.Duration, d delays, rate float64) {
			args := []string{strconv.Itoa(n), pause.String()}
			s := starts(w, append([]string{agent}, args...))
			start := time.Now()
			s.says(t, acpHello, false)
			s.says(t, world.Request(2, "session/new", world.Obj{"cwd": w.Root}), false)
			s.says(t, world.Request(3, "session/prompt", world.Obj{}), false)
			at, _ := s.hears(n*stampSize, bare.arrived)
			own = at.Sub(start)
			s.ends()
			s = starts(w, []string{acpx, "--approve-all", "--format", "json", "--agent", agent + " " + strings.Join(args, " "), "exec", "do it"})
			start = time.Now()
			s.conn.(world.Piped).WriteCloser.Close()
			at, last := s.hears(n*stampSize, d.arrived)
			through = at.Sub(start)
			s.ends()
			return own, bare, through, d, float64(n) / last.Sub(at).Seconds()
		}
		var beyond, with, without delays
		for range 2 {
			own, bare, through, d, _ := runs(peerDeltas, 10*time.Millisecond)
			beyond, with, without = append(beyond, through-own), append(with, d[peerDeltas/10:]...), append(without, bare[peerDeltas/10:]...)
		}
		_, _, _, _, rate := runs(peerFlood/10, 0)
		return added(beyond, with, without, rate), "one process a prompt, over its ACP agent"
	}
}

// fakeACP is an ACP agent that answers every prompt with stamped chunks at a fixed interval.
func fakeACP() {
	n, err := strconv.Atoi(os.Args[1])
	pause, err2 := time.ParseDuration(os.Args[2])
	if err != nil || err2 != nil {
		fmt.Fprintln(os.Stderr, "usage: fake-acp N PAUSE")
		os.Exit(2)
	}
	out := bufio.NewWriter(os.Stdout)
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		line := in.Bytes()
		id := jsonMember(line, "id")
		method := jsonMember(line, "method")
		result := "{}"
		switch method {
		case `"initialize"`:
			result = `{"protocolVersion":1,"agentCapabilities":{"loadSession":false},"authMethods":[]}`
		case `"session/new"`:
			result = `{"sessionId":"s"}`
		case `"session/prompt"`:
			for range n {
				time.Sleep(pause)
				fmt.Fprintf(out, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%d "}}}}`+"\n", time.Now().UnixNano())
				if pause > 0 {
					out.Flush()
				}
			}
			result = `{"stopReason":"end_turn"}`
		}
		if id != "" {
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, result)
		}
		out.Flush()
	}
}

// jsonMember returns a member of a message as it is written; "" if there is none.
func jsonMember(line []byte, name string) string {
	_, rest, ok := bytes.Cut(line, []byte(`"`+name+`":`))
	if !ok {
		return ""
	}
	rest = bytes.TrimLeft(rest, " ")
	end := bytes.IndexAny(rest, ",}")
	return string(slices.Clone(rest[:end]))
}
