//go:build unix

package acp

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/agent"
	"cursord/agent/jsontext"
)

// A talk is a turn whose agent is the test: there is no process.
type talk struct {
	t      *testing.T
	p      *proc
	turn   *turn
	events []agent.Event
}

func newTalk(t *testing.T, dir string) *talk {
	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	t.Cleanup(func() { null.Close() })
	c := &talk{t: t, p: &proc{inbox: newQueue[func()](), outbox: newQueue[[]byte](), stream: agent.NewStream(null, 1<<20), calls: map[int64]pending{}}}
	emit := func(events []agent.Event) { c.events = append(c.events, events...) }
	c.turn = &turn{p: c.p, req: &agent.Request{Dir: dir}, emit: emit, dec: newDecoder(dir, time.Now, false), done: make(chan struct{})}
	c.p.turn = c.turn
	return c
}

// says has the agent write lines.
func (c *talk) says(lines ...string) {
	for _, line := range lines {
		c.events = c.p.message(c.events, []byte(line))
	}
}

// hears returns what was written to the agent since the last call, a line each.
func (c *talk) hears() string {
	list, _ := c.p.inbox.take()
	for _, f := range list {
		f()
	}
	lines, _ := c.p.outbox.take()
	var b strings.Builder
	for _, line := range lines {
		b.Write(line)
	}
	return strings.TrimSpace(b.String())
}

// asked returns the requests for approval so far.
func (c *talk) asked() (list []agent.ApprovalRequested) {
	for _, ev := range c.events {
		if r, ok := ev.(agent.ApprovalRequested); ok {
			list = append(list, r)
		}
	}
	return list
}

func (c *talk) transcript() string {
	var lines []string
	for _, ev := range c.events {
		lines = append(lines, transcribe(ev))
	}
	return transcript(lines)
}

func asksFor(id, call string) string {
	return `{"id":` + id + `,"method":"session/request_permission","params":{"toolCall":` + call + `,"options":[{"optionId":"y","name":"Yes","kind":"allow_once"}]}}`
}

func updates(update string) string {
	return `{"method":"session/update","params":{"update":` + update + `}}`
}

// TestNothingOfACommandIsHidden: a rule may answer only where the command is all, and a person sees the rest.
func TestNothingOfACommandIsHidden(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before, call           string
		title, command, detail string
		whole                  bool
	}{
		"a command": {"", `{"toolCallId":"1","kind":"execute","title":"` + "`git log`" + `","rawInput":{"command":"git log"}}`, "git log", "git log", "", true},
		"with what changes nothing": {"", `{"toolCallId":"1","kind":"execute","title":"Terminal",
			"rawInput":{"command":"git log","description":"Look","timeout":30000,"workingDirectory":"/w","isBackground":false,"env":{},"args":[],"x":null}}`, "git log", "git log", "", true},
		"arguments": {"", `{"toolCallId":"1","kind":"execute","rawInput":{"command":"git","args":["push","--force"]}}`,
			"git", "git", "With args: [\"push\",\"--force\"]", false},
		"an environment": {"", `{"toolCallId":"1","kind":"execute","rawInput":{"command":"git log","env":{"PATH":"/evil"}}}`,
			"git log", "git log", "With env: {\"PATH\":\"/evil\"}", false},
		"another folder by another name": {"", `{"toolCallId":"1","kind":"execute","rawInput":{"command":"git log","workdir":"/evil"}}`,
			"git log", "git log", "With workdir: \"/evil\"", false},
		"two folders": {"", `{"toolCallId":"1","kind":"execute","rawInput":{"command":"git log","cwd":"/w","working_directory":"/evil"}}`, "git log", "git log", "", true},
		"two commands": {"", `{"toolCallId":"1","kind":"execute","rawInput":{"command":"git log","cmd":"rm -rf x"}}`,
			"git log", "git log", "With cmd: \"rm -rf x\"", false},
		"a command twice": {"", `{"toolCallId":"1","kind":"execute","rawInput":{"command":"git log","command":"git log","timeout":1,"timeout":2}}`,
			"git log", "git log", "With command: \"git log\"\nWith timeout: 2", false},
		"a text for a number":  {"", `{"toolCallId":"1","kind":"execute","rawInput":{"command":"git log","timeout":"; rm"}}`, "git log", "git log", "With timeout: \"; rm\"", false},
		"signs that deceive":   {"", `{"toolCallId":"1","kind":"execute","rawInput":{"command":"git log","args":"` + "\u202e" + `x"}}`, "git log", "git log", "With args: \"<U+202E>x\"", false},
		"another title":        {"", `{"toolCallId":"1","kind":"execute","title":"` + "`rm -rf x`" + `","rawInput":{"command":"git log"}}`, "git log", "git log", "The agent's title of it: `rm -rf x`", false},
		"another title inside": {"", `{"toolCallId":"1","kind":"execute","title":"Run ` + "`rm -rf x`" + `","rawInput":{"command":"git log"}}`, "git log", "git log", "The agent's title of it: Run `rm -rf x`", false},
		"a title that comes later": {`{"sessionUpdate":"tool_call","toolCallId":"1","kind":"execute","title":"Terminal","rawInput":{"command":"git log"}}`,
			`{"toolCallId":"1","title":"` + "`rm -rf x`" + `"}`, "git log", "git log", "The agent's title of it: `rm -rf x`", false},
		"titles alone": {`{"sessionUpdate":"tool_call","toolCallId":"1","kind":"execute","title":"` + "`git log`" + `"}`,
			`{"toolCallId":"1","title":"` + "`rm -rf x`" + `"}`, "rm -rf x", "rm -rf x", "", true},
		"no kind":              {"", `{"toolCallId":"1","rawInput":{"command":"git push"}}`, "Use a tool", "", "With command: \"git push\"", false},
		"no kind but a title":  {"", `{"toolCallId":"1","title":"A long title, which can be no name of a tool because it is a whole sentence","rawInput":{"x":1}}`, "A long title, which can be no name of a tool because it is a whole sentence", "", "With x: 1", false},
		"no id":                {"", `{"kind":"execute","rawInput":{"command":"git push"}}`, "git push", "git push", "", true},
		"a command of words":   {"", `{"toolCallId":"1","kind":"execute","rawInput":{"command":["git","commit","-m","it's"]}}`, `git commit -m 'it'\''s'`, `git commit -m 'it'\''s'`, "With command: [\"git\",\"commit\",\"-m\",\"it's\"]", false},
		"a command of numbers": {"", `{"toolCallId":"1","kind":"execute","title":"Terminal","rawInput":{"command":[1]}}`, "Terminal", "", "With command: [1]", false},
		"no object":            {"", `{"toolCallId":"1","kind":"execute","title":"` + "`git log`" + `","rawInput":"rm -rf x"}`, "`git log`", "", "The agent's title of it: `git log`\nWith arguments: \"rm -rf x\"", false},
		"an edit":              {"", `{"toolCallId":"1","kind":"edit","rawInput":{"path":"/w/a"}}`, "Edit a", "", "", false},
		"an edit with its text": {"", `{"toolCallId":"1","kind":"edit","rawInput":{"path":"/w/a","content":"` + strings.Repeat("x", 5000) + `"}}`,
			"Edit a", "", "With content: \"" + strings.Repeat("x", 4<<10-len(`With content: "`)) + "… (920 more bytes)", false},
		"an edit with a diff": {"", `{"toolCallId":"1","kind":"edit","rawInput":{"path":"/w/a"},"content":[{"type":"diff","path":"/w/a","oldText":"1\n2\n3\n4\n5\n6\n7\n8\n9\n","newText":"1\n2\n3\n4\nNEW\n6\n7\n8\n9\n"}]}`,
			"Edit a", "", "--- /w/a\n+++ /w/a\n 2\n 3\n 4\n-5\n+NEW\n 6\n 7\n 8", false},
		"an edit with an earlier diff": {`{"sessionUpdate":"tool_call","toolCallId":"1","kind":"edit","status":"pending","content":[{"type":"diff","path":"/w/a","oldText":null,"newText":"x\u202e\n\ny"}]}`,
			`{"toolCallId":"1","rawInput":{"path":"/w/a"}}`, "Edit a", "", "--- /dev/null\n+++ /w/a\n+x<U+202E>\n+\n+y", false},
		"an edit with a diff of its arguments": {"", `{"toolCallId":"1","kind":"edit","rawInput":{"path":"/w/a","content":"new"},"content":[{"type":"diff","path":"/w/a","oldText":"old","newText":"new"}]}`,
			"Edit a", "", "With content: \"new\"", false},
		"an edit with a diff of another argument": {"", `{"toolCallId":"1","kind":"edit","rawInput":{"path":"/w/a","description":"new"},"content":[{"type":"diff","path":"/w/a","oldText":"old","newText":"new"}]}`,
			"Edit a", "", "--- /w/a\n+++ /w/a\n-old\n+new", false},
		"an edit with a diff of a long argument": {"", `{"toolCallId":"1","kind":"edit","rawInput":{"path":"/w/a","content":"` + strings.Repeat("x", 5000) + `"},` +
			`"content":[{"type":"diff","path":"/w/a","oldText":"","newText":"` + strings.Repeat("x", 5000) + `"}]}`,
			"Edit a", "", "With content: \"" + strings.Repeat("x", 4<<10-len(`With content: "`)) + "… (920 more bytes)\n--- /w/a\n+++ /w/a\n+" + strings.Repeat("x", 5000), false},
		"an edit with an earlier text": {`{"sessionUpdate":"tool_call","toolCallId":"1","kind":"edit","status":"pending","locations":[{"path":"/w/a"}],"content":[{"type":"content","content":{"type":"text","text":"NEW"}}]}`,
			`{"toolCallId":"1"}`, "Edit a", "", "NEW", false},
		"an edit with texts": {"", `{"toolCallId":"1","kind":"edit","rawInput":{"path":"/w/a"},"content":[{"type":"content","content":{"type":"text","text":"NEW\u202e"}},` +
			`{"type":"content","content":{"type":"resource","resource":{"uri":"file:///w/a","text":"MORE"}}},{"type":"content","content":{"type":"image","data":""}}]}`,
			"Edit a", "", "NEW<U+202E>\nMORE\n(image)", false},
		"an edit with many diffs": {"", `{"toolCallId":"1","kind":"edit","rawInput":{"path":"/w/a"},"content":[` + strings.Repeat(`{"type":"diff","path":"/w/a","oldText":"","newText":"x"},`, 29) +
			`{"type":"diff","path":"/w/a","oldText":"","newText":"LAST"}]}`, "Edit a", "", strings.Repeat("--- /w/a\n+++ /w/a\n+x\n", 29) + "--- /w/a\n+++ /w/a\n+LAST", false},
		"a command that is a diff's text": {"", `{"toolCallId":"1","kind":"execute","rawInput":{"command":"git log"},"content":[{"type":"diff","path":"/w/a","oldText":"x","newText":"git log"}]}`,
			"git log", "git log", "--- /w/a\n+++ /w/a\n-x\n+git log", false},
		"a command with a diff": {"", `{"toolCallId":"1","kind":"execute","rawInput":{"command":"git apply"},"content":[{"type":"diff","path":"/w/a","oldText":"x","newText":""}]}`,
			"git apply", "git apply", "--- /w/a\n+++ /w/a\n-x", false},
		"an edit with a long diff": {"", `{"toolCallId":"1","kind":"edit","rawInput":{"path":"/w/a"},"content":[{"type":"diff","path":"/w/a","oldText":"","newText":"` + strings.Repeat("x", 20_000) + `"}]}`,
			"Edit a", "", "--- /w/a\n+++ /w/a\n+" + strings.Repeat("x", 16<<10-len("--- /w/a\n+++ /w/a\n+")) + "\n… (3636 more bytes)", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newTalk(t, "/w")
			if test.before != "" {
				c.says(updates(test.before))
			}
			c.says(asksFor("1", strings.ReplaceAll(test.call, "\n", "")))
			require.Len(t, c.asked(), 1)
			r := c.asked()[0]
			require.Equal(t, test.title, r.Title)
			require.Equal(t, test.command, r.Command)
			require.Equal(t, test.detail, r.Detail)
			require.Equal(t, test.whole, r.Whole)
		})
	}
}

// TestChangedWhileAPersonIsAsked: a yes is for what the person has seen.
func TestChangedWhileAPersonIsAsked(t *testing.T) {
	t.Parallel()
	const call = `{"toolCallId":"1","kind":"execute","title":"Terminal","rawInput":{"command":"touch innocent"}}`
	const no = `{"jsonrpc":"2.0","id":7,"result":{"outcome":{"outcome":"cancelled"}}}`
	for _, change := range []string{
		`{"sessionUpdate":"tool_call_update","toolCallId":"1","rawInput":{"command":"touch EVIL"}}`,
		`{"sessionUpdate":"tool_call","toolCallId":"1","rawInput":{"command":"touch innocent","args":["EVIL"]}}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"1","content":[{"type":"diff","path":"/w/a","newText":"EVIL"}]}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"1","title":"` + "`touch EVIL`" + `"}`,
	} {
		for _, answered := range []bool{false, true} { // before the agent hears of it
			c := newTalk(t, "/w")
			c.says(asksFor("7", call))
			if answered {
				require.NoError(t, c.turn.answer("a1", agent.ApprovalAnswer{OptionID: "y"}))
			}
			c.says(updates(change))
			require.Equal(t, no, c.hears())
			require.Contains(t, c.transcript(), "notice The agent changed what it had asked for, and was told no: touch innocent")
			require.Equal(t, !answered, strings.Contains(c.transcript(), "withdraws a1"))
			require.ErrorIs(t, c.turn.answer("a1", agent.ApprovalAnswer{OptionID: "y"}), agent.ErrUnknownApproval)
			c.says(updates(`{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"failed"}`))
			require.Contains(t, c.transcript(), `error="`+changed+`"`)
		}
	}

	c := newTalk(t, "/w")
	c.says(asksFor("7", call), updates(`{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"pending","title":"`+"`touch innocent`"+`","rawInput":{"command":"touch innocent"}}`))
	require.NotContains(t, c.transcript(), "withdraws", "the same in other words")
	c.says(asksFor("8", `{"toolCallId":"1","rawInput":{"command":"touch EVIL"}}`))
	require.Equal(t, no, c.hears(), "the first of two requests for one call")
	require.NoError(t, c.turn.answer("a2", agent.ApprovalAnswer{OptionID: "y"}))
	require.Contains(t, c.hears(), `"id":8,"result":{"outcome":{"outcome":"selected"`)
	require.Contains(t, c.transcript(), `start shell "touch EVIL"`)
}

// TestOneRequestForAnID: an agent could take the answer to a request for that of another one.
func TestOneRequestForAnID(t *testing.T) {
	t.Parallel()
	c := newTalk(t, "/w")
	c.says(asksFor("7", `{"toolCallId":"1","kind":"execute","rawInput":{"command":"a"}}`))
	c.says(asksFor("7", `{"toolCallId":"2","kind":"execute","rawInput":{"command":"b"}}`))
	require.Contains(t, c.hears(), `"id":7,"error":{"code":-32600`)
	require.Len(t, c.asked(), 1)
	require.NoError(t, c.turn.answer("a1", agent.ApprovalAnswer{OptionID: "y"}))
	c.says(asksFor("7", `{"toolCallId":"2","kind":"execute","rawInput":{"command":"b"}}`))
	require.Contains(t, c.hears(), `"id":7,"error":{"code":-32600`, "the answer is on its way")
	c.says(asksFor("7", `{"toolCallId":"2","kind":"execute","rawInput":{"command":"b"}}`))
	require.Len(t, c.asked(), 2, "an id may be used again")
}

// TestNullAsAnID: such a request is refused, between turns, too.
func TestNullAsAnID(t *testing.T) {
	t.Parallel()
	c := newTalk(t, "/w")
	c.says(asksFor("null", `{"toolCallId":"1","kind":"execute","rawInput":{"command":"a"}}`))
	const no = `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a request needs an id that is not null"}}`
	require.Equal(t, no, c.hears())
	require.Equal(t, "notice The agent asked for something with null as the request's id (session/request_permission). It was told no, and nobody was asked.", c.transcript())
	c.says(`{"id":null,"method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"so"}}}}`)
	require.Empty(t, c.hears())
	require.Contains(t, c.transcript(), "text so", "a notification of a careless agent")
	c.p.turn = nil
	c.says(asksFor("null", `{}`))
	require.Equal(t, no, c.hears())
}

// TestLongTextsStayWhole: what a person could not read to its end, the daemon denies.
func TestLongTextsStayWhole(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 300<<10)
	c := newTalk(t, "/w")
	c.says(`{"id":1,"method":"cursor/create_plan","params":{"name":"P","plan":"` + long + `"}}`)
	c.says(`{"id":2,"method":"cursor/ask_question","params":{"questions":[{"id":"q","prompt":"` + long + `"}]}}`)
	c.says(asksFor("3", `{"toolCallId":"1","kind":"execute","rawInput":{"command":"a"},"content":[{"type":"content","content":{"type":"text","text":"`+long+`"}}]}`))
	require.Len(t, c.asked(), 3)
	for _, r := range c.asked() {
		require.Equal(t, long, r.Detail)
	}
}

// TestAnswersStayWhole: answers were cut after 120 characters, so that two opposite ones looked the same.
func TestAnswersStayWhole(t *testing.T) {
	t.Parallel()
	same := strings.Repeat("Do as you think is best ", 20)
	c := newTalk(t, "/w")
	c.says(`{"id":1,"method":"cursor/ask_question","params":{"questions":[{"id":"q","prompt":"Which?","options":[` +
		`{"id":"a","label":"` + same + `delete NOTHING"},{"id":"b","label":"` + same + `delete\n\n EVERYTHING"}]}]}}`)
	c.says(`{"id":2,"method":"session/request_permission","params":{"toolCall":{"toolCallId":"1","kind":"execute","rawInput":{"command":"a"}},"options":[` +
		`{"optionId":"y","name":"` + same + `once","kind":"allow_once"}]}}`)
	require.Len(t, c.asked(), 2)
	require.Equal(t, same+"delete NOTHING", c.asked()[0].Options[0].Label)
	require.Equal(t, same+"delete ⏎ EVERYTHING", c.asked()[0].Options[1].Label)
	require.Equal(t, same+"once (a yes)", c.asked()[1].Options[0].Label)
}

// TestAskedWithoutAnID: such a question has a call of its own, which the agent's next words of the same call are about.
func TestAskedWithoutAnID(t *testing.T) {
	t.Parallel()
	const what = `"kind":"execute","rawInput":{"command":"a"}}`
	ended := `{"sessionUpdate":"tool_call","toolCallId":"1","status":"completed",` + what
	for name, test := range map[string]struct{ before, asked, id, then, want string }{
		"never told of": {"", `{` + what, "call-without-id-1", "", "asks\nstart shell \"a\""},
		"ended without an id": {"", `{` + what, "call-without-id-1", `{"sessionUpdate":"tool_call_update","status":"completed"}`,
			"asks\nstart shell \"a\"\ncompleted shell \"a\""},
		"announced then with an id": {"", `{` + what, "call-without-id-1", `{"sessionUpdate":"tool_call","toolCallId":"9","status":"completed",` + what,
			"asks\nstart shell \"a\"\ncompleted shell \"a\""},
		"another one is announced": {"", `{` + what, "call-without-id-1", `{"sessionUpdate":"tool_call","toolCallId":"9","status":"completed","kind":"execute","rawInput":{"command":"b"}}`,
			"asks\nstart shell \"a\"\ncompleted shell \"b\""},
		"announced before without an id":  {`{"sessionUpdate":"tool_call","status":"pending",` + what, `{` + what, "call-without-id-1", "", "asks\nstart shell \"a\""},
		"the id of a call that has ended": {ended, `{"toolCallId":"1",` + what, "1", "", "completed shell \"a\"\nasks\nstart shell \"a\""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newTalk(t, "/w")
			if test.before != "" {
				c.says(updates(test.before))
			}
			c.says(asksFor("1", test.asked))
			require.Len(t, c.asked(), 1)
			require.NotNil(t, c.asked()[0].Call)
			require.Equal(t, []string{test.id, test.id}, []string{c.asked()[0].CallID, c.asked()[0].Call.ID})
			require.NoError(t, c.turn.answer("a1", agent.ApprovalAnswer{OptionID: "y"}))
			require.Contains(t, c.hears(), "selected")
			if test.then != "" {
				c.says(updates(test.then))
			}
			require.Equal(t, strings.ReplaceAll(test.want, "asks", `asks a1 permission "a" command="a" y:allowOnce cursord-no:rejectOnce`), c.transcript())
		})
	}
}

// TestAQuestionHasItsCall: the request has a call that has not begun, behind the end of what the agent thought; one that has begun is known.
func TestAQuestionHasItsCall(t *testing.T) {
	t.Parallel()
	const command = `{"toolCallId":"1","kind":"execute","status":"pending","rawInput":{"command":"a"}}`
	for name, test := range map[string]struct {
		before, call, want string
		has                bool
	}{
		"not announced": {"", command, "thinking hm\nThinkingEnd\nasks", true},
		"announced":     {`{"sessionUpdate":"tool_call",` + command[1:], `{"toolCallId":"1"}`, "thinking hm\nThinkingEnd\nasks", true},
		"begun": {`{"sessionUpdate":"tool_call","toolCallId":"1","kind":"execute","status":"in_progress","rawInput":{"command":"a"}}`, `{"toolCallId":"1"}`,
			"thinking hm\nThinkingEnd\nstart shell \"a\"\nasks", false},
		"an edit, which begins when it is named": {"", `{"toolCallId":"1","kind":"edit","rawInput":{"path":"/w/a"}}`, "thinking hm\nThinkingEnd\nstart edit \"Edit a\" 1 paths\nasks", false},
		"over already":                           {"", `{"toolCallId":"1","status":"failed","kind":"search","title":"a"}`, "thinking hm\nThinkingEnd\nfailed other \"a\" error=\"the agent gave no reason\"\nasks", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newTalk(t, "/w")
			c.says(updates(`{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hm"}}`))
			if test.before != "" {
				c.says(updates(test.before))
			}
			c.says(asksFor("1", test.call))
			require.True(t, strings.HasPrefix(c.transcript(), test.want+" a1 permission"), "%s", c.transcript())
			call := c.asked()[0].Call
			require.Equal(t, test.has, call != nil)
			if call != nil {
				require.Equal(t, []string{"1", "shell", "a"}, []string{call.ID, call.Name, call.Command})
			}
		})
	}
}

// TestUnreadRequestHoldsTheCommand: a command counted as begun that waited for a permission, if the daemon read the request late. It waits while the
// agent has written more, but not without end.
func TestUnreadRequestHoldsTheCommand(t *testing.T) {
	began := time.Now()
	now, upTo := began, began
	d := newDecoder(t.TempDir(), func() time.Time { return now }, false)
	d.upTo = func() time.Time { return upTo }
	announced := jsontext.Value(`{"toolCallId":"1","title":"Terminal","kind":"execute","rawInput":{"command":"make"}}`)
	require.Empty(t, d.toolCall(nil, announced, true))
	for _, test := range []struct {
		after, upTo time.Duration
		begins      bool
	}{
		{holdTime - 1, holdTime - 1, false}, {3 * holdTime, holdTime - 1, false}, {3 * holdTime, holdTime, true}, {unheardTime, 0, true},
	} {
		now, upTo = began.Add(test.after), began.Add(test.upTo)
		at, some := d.held()
		require.True(t, some)
		require.Equal(t, test.begins, !at.After(now), "%+v", test)
	}
	require.Len(t, d.release(nil), 1)
	_, some := d.held()
	require.False(t, some)
}
