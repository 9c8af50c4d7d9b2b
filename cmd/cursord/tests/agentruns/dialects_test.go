//go:build unix

package agentruns

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// A dialect is a run of the agent in one of the known forms of its stream, and the items that a client must see.
type dialect struct {
	name   string
	lines  []string
	items  []string
	result string // "(null)" for none
	status sessions.TurnStatus
}

func dialects() []dialect {
	const completed1 = sessions.TurnCompleted
	return []dialect{
		{"wire, partial", []string{world.InitLine, world.UserLine, world.Thinks("Hm"), world.Thinks("m."), world.ThoughtEnd, world.Piece("I "), world.Piece("look."), world.Flush("I look."),
			world.Started("c", world.ReadArgs), world.Completed("c", world.ReadDone), world.Piece("Go"), world.Piece("od."), world.Says("Good.", ""), world.Succeeds("I look.Good.")},
			[]string{`thinking completed "Hmm."`, `assistant completed "I look."`, `tool completed read/read "c" out="A"`, `assistant completed "Good."`},
			"I look.Good.", completed1},
		{"wire, whole", []string{world.InitLine, world.UserLine, world.Thinks("Hmm."), world.ThoughtEnd, world.Flush("I look."), world.Started("c", world.ReadArgs), world.Completed("c", world.ReadDone),
			world.Says("Good.", ""), world.Succeeds("I look.Good.")},
			[]string{`thinking completed "Hmm."`, `assistant completed "I look."`, `tool completed read/read "c" out="A"`, `assistant completed "Good."`},
			"I look.Good.", completed1},
		{"equal pieces", []string{world.InitLine, world.Piece("ha"), world.Piece("ha"), world.Piece("ha"), world.Says("hahaha", ""), world.Succeeds("hahaha")},
			[]string{`assistant completed "hahaha"`}, "hahaha", completed1},
		{"a piece that reads like all before", []string{world.InitLine, world.Piece("ha"), world.Piece("ha"), world.Piece("haha"), world.Says("hahahaha", ""), world.Succeeds("hahahaha")},
			[]string{`assistant completed "hahahaha"`}, "hahahaha", completed1},
		{"flush with a rest", []string{world.InitLine, world.Piece("One"), world.Flush("One two"), world.Started("c", world.ReadArgs), world.Completed("c", world.ReadDone), world.Succeeds("One two")},
			[]string{`assistant completed "One two"`, `tool completed read/read "c" out="A"`}, "One two", completed1},
		{"two flushes", []string{world.InitLine, world.Piece("One."), world.Flush("One."), world.Piece("Two."), world.Flush("Two."), world.Started("c", world.ReadArgs), world.Completed("c", world.ReadDone),
			world.Piece("One."), world.Says("One.", ""), world.Succeeds("One.Two.One.")},
			[]string{`assistant completed "One."`, `assistant completed "Two."`, `tool completed read/read "c" out="A"`, `assistant completed "One."`},
			"One.Two.One.", completed1},
		{"thinking splits, the flush has all", []string{world.InitLine, world.Piece("One."), world.Thinks("hm"), world.ThoughtEnd, world.Piece("Two."), world.Flush("One.Two."),
			world.Started("c", world.ReadArgs), world.Completed("c", world.ReadDone), world.Says("Three.", ""), world.Succeeds("One.Two.Three.")},
			[]string{`assistant completed "One."`, `thinking completed "hm"`, `assistant completed "Two."`, `tool completed read/read "c" out="A"`, `assistant completed "Three."`},
			"One.Two.Three.", completed1},
		{"two blocks of thinking", []string{world.InitLine, world.Thinks("a"), world.ThoughtEnd, world.Thinks(""), world.Thinks("b"), world.ThoughtEnd, world.Says("c", ""), world.Succeeds("c")},
			[]string{`thinking completed "a"`, `thinking completed "b"`, `assistant completed "c"`}, "c", completed1},
		{"nothing streamed", []string{world.InitLine, world.Succeeds("All in the result.")},
			[]string{`assistant completed "All in the result."`}, "All in the result.", completed1},
		{"retry with replay", []string{world.InitLine, world.Piece("One."), world.Flush("One."), world.Started("c", world.ReadArgs), world.Completed("c", world.ReadDone),
			world.Piece("Tw"), world.Piece("o"), `{"type":"connection","subtype":"reconnecting","attempt":1}`,
			`{"type":"retry","subtype":"starting","attempt":1,"is_resume":false}`, world.Piece("T"), world.Piece("wo!"), world.Says("Two!", ""), world.Succeeds("One.Two!")},
			[]string{`assistant completed "One."`, `tool completed read/read "c" out="A"`, `assistant completed "Two!"`}, "One.Two!", completed1},
		{"retry that resumes", []string{world.InitLine, world.Piece("Tw"), `{"type":"retry","subtype":"starting","attempt":1,"is_resume":true}{"type":"retry","subtype":"resuming","attempt":1}`,
			world.Piece("o"), world.Says("Two", ""), world.Succeeds("Two")},
			[]string{`assistant completed "Two"`}, "Two", completed1},
		{"retry with replay after thinking", []string{world.InitLine, world.Piece("One"), world.Thinks("hm"), world.ThoughtEnd, world.Piece("Two"),
			`{"type":"retry","subtype":"starting","attempt":2,"is_resume":false}`, world.Piece("One"), world.Says("One", ""), world.Succeeds("One")},
			[]string{`assistant completed`, `thinking completed "hm"`, `assistant completed "One"`}, "One", completed1},
		{"killed without a flush", []string{world.InitLine, world.Piece("Half a "), world.Piece("word"), `{"fake":"exec","argv":["sh","-c","kill -9 $PPID"]}`},
			[]string{`assistant cancelled "Half a word"`}, "Half a word", sessions.TurnFailed},
		{"parallel calls that end in reverse", []string{world.InitLine, world.Started("call_a\nfc_1", world.Sleep2), world.Started("call_b\nfc_2", world.ReadArgs), world.Started("call_c\nfc_3", world.Sleep2),
			world.Completed("call_c\nfc_3", world.Slept), world.Completed("call_b\nfc_2", world.ReadDone), world.Completed("call_a\nfc_1", world.Slept), world.Succeeds("")},
			[]string{`tool completed shell/shell "call_a\nfc_1" exit=0 out="ok"`, `tool completed read/read "call_b\nfc_2" out="A"`, `tool completed shell/shell "call_c\nfc_3" exit=0 out="ok"`},
			"(null)", completed1},
		{"an end without start and args", []string{world.InitLine, world.Completed("x", `{"readToolCall":{"result":{"error":{"errorMessage":"File not found"}}}}`), world.Succeeds("")},
			[]string{`tool failed read/read "x" err="File not found"`}, "(null)", completed1},
		{"a start without an end", []string{world.InitLine, world.Started("x", world.Sleep2), world.Says("Done.", ""), world.Succeeds("Done.")},
			[]string{`tool cancelled shell/shell "x"`, `assistant completed "Done."`}, "Done.", completed1},
		{"one id twice", []string{world.InitLine, world.Started("Grep_0", world.ReadArgs), world.Completed("Grep_0", world.ReadDone), world.Started("Grep_0", world.ReadArgs), world.Completed("Grep_0", world.ReadDone), world.Succeeds("")},
			[]string{`tool completed read/read "Grep_0" out="A"`, `tool completed read/read "Grep_0" out="A"`}, "(null)", completed1},
		{"refused, denied and blocked", []string{world.InitLine,
			world.Started("1", world.Sleep2), world.Completed("1", `{"shellToolCall":{"result":{"rejected":{"command":"sleep 2","workingDirectory":"","reason":"","isReadonly":false}}}}`),
			world.Completed("2", `{"shellToolCall":{"result":{"permissionDenied":{"command":"rm","error":"Command blocked by permissions configuration"}}}}`),
			world.Completed("3", `{"editToolCall":{"args":{"path":"a"},"result":{"writePermissionDenied":{"path":"","error":"Write permission denied: a"}}}}`),
			world.Completed("4", `{"editToolCall":{"args":{"path":"a"},"result":{"rejected":{"reason":"Hook blocked with message: no"}}}}`),
			world.Completed("5", `{"shellToolCall":{"args":{"command":"false"},"result":{"failure":{"exitCode":3,"stdout":"","stderr":"bad","aborted":false}}}}`),
			world.Completed("6", `{"shellToolCall":{"args":{"command":"x"},"result":{"timeout":{"command":"x","timeoutMs":50}}}}`),
			world.Succeeds("")},
			[]string{`tool rejected shell/shell "1" err="refused by policy"`, `tool rejected shell/shell "2" err="Command blocked by permissions configuration"`,
				`tool rejected edit/edit "3" err="Write permission denied: a"`, `tool rejected edit/edit "4" err="Hook blocked with message: no"`,
				`tool failed shell/shell "5" exit=3 out="bad" err="exit code 3"`, `tool failed shell/shell "6" err="timed out after 50 ms"`,
				`notice completed "4 calls were denied: sleep 2, rm, Edit a (2 times); allow them with sandbox enabled (cursord run --sandbox enabled), auto-review (--auto-review), ` +
					`force (--force), or permissions.allow in ~/.cursor/cli-config.json; a new session can ask you instead (cursord run --driver acp); ` +
					`what permissions.deny in ~/.cursor/cli-config.json or the workspace's .cursor/cli.json names is denied whatever else is allowed: take it out there; a hook of the agent's refuses calls: \"cursord doctor\" lists the hooks"`}, "(null)", completed1},
		{"todos and a plan", []string{world.InitLine,
			world.Started("t", `{"updateTodosToolCall":{"args":{"todos":[{"id":"1","content":"a","status":"TODO_STATUS_PENDING"}],"merge":false}}}`),
			world.Completed("t", `{"updateTodosToolCall":{"args":{"todos":[{"id":"1","content":"a","status":"TODO_STATUS_IN_PROGRESS"},{"id":"2","content":"b","status":"TODO_STATUS_CANCELLED"}]},"result":{"success":{"totalCount":2}}}}`),
			`{"type":"interaction_query","subtype":"request","query_type":"createPlanRequestQuery","query":{"id":0}}`,
			world.Started("p", `{"createPlanToolCall":{"args":{"plan":"# Plan\n1. go","name":"Go"}}}`),
			world.Completed("p", `{"createPlanToolCall":{"args":{"plan":"# Plan\n1. go","name":"Go"},"result":{"success":{"planUri":""}}}}`), world.Succeeds("")},
			[]string{`tool completed todo/updateTodos "t" todo=1:a:in_progress todo=2:b:cancelled`, `plan completed other/createPlan "p" "# Plan\n1. go"`}, "(null)", completed1},
		{"an unknown tool and unknown events", []string{world.InitLine, `{"type":"weather","subtype":"report","sky":"blue"}`,
			world.Started("u", `{"hookAdditionalContexts":[],"pettingZooToolCall":{"args":{"animal":"goat"}},"toolCallId":"u","startedAtMs":"1"}`),
			world.Completed("u", `{"pettingZooToolCall":{"args":{"animal":"goat"},"result":{"success":{"fed":true}}}}`), world.Says("Fed.", ""), world.Succeeds("Fed.")},
			[]string{`tool completed other/pettingZoo "u"`, `assistant completed "Fed."`}, "Fed.", completed1},
		{"lines that are none", []string{world.InitLine, "", "  ", `stdout: ` + world.Piece("One "), world.Piece("two ") + world.Piece("three"), "Some warning", `{"broken":`, world.Says("One two three", ""), world.Succeeds("One two three")},
			[]string{`assistant completed "One two three"`, `notice completed "2 lines of the agent's output could not be understood; the first: Some warning"`},
			"One two three", completed1},

		{"dialect 000", []string{world.InitLine, world.UserLine, world.Says("One, ", ""), world.Says("two, ", ""),
			world.Started("toolu_1", `{"readToolCall":{"args":{"path":"a"}}}`),
			world.Completed("toolu_1", `{"readToolCall":{"args":{"path":"a"},"result":{"success":{"content":"A\n","isEmpty":false,"exceededLimit":false,"totalLines":2,"totalChars":2}}}}`),
			world.Says("three", ""), world.Says("three", ""),
			world.Started("toolu_2", `{"function":{"name":"todo","arguments":"{\"items\":2}"}}`),
			world.Completed("toolu_2", `{"function":{"name":"todo","arguments":"{\"items\":2}"},"result":{"success":{}}}`),
			`{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"duration_api_ms":1,"result":"One, two, threethree","session_id":"{{session}}"}`},
			[]string{`assistant completed "One, two, "`, `tool completed read/read "toolu_1" out="A\n"`, `assistant completed "threethree"`, `tool completed todo/todo "toolu_2"`},
			"One, two, threethree", completed1},
		{"dialect 001", []string{world.InitLine, world.UserLine, world.Thinks("Check"), world.ThoughtEnd, world.Flush("Running two checks."),
			world.Started("call_a\nfc_1", `{"shellToolCall":{"args":{"command":"sleep 2","timeout":30000,"simpleCommands":["sleep"]}}}`),
			world.Started("call_b\nfc_2", `{"lsToolCall":{"args":{"path":"/repo","ignore":[],"toolCallId":"call_b\nfc_2"}}}`),
			world.Completed("call_b\nfc_2", `{"lsToolCall":{"args":{"path":"/repo","ignore":[],"toolCallId":"call_b\nfc_2"},"result":{"success":{"directoryTreeRoot":{"absPath":"/repo","childrenDirs":[{"absPath":"/repo/d"}],"childrenFiles":[{"name":"f"}]}}}}}`),
			world.Completed("call_a\nfc_1", `{"shellToolCall":{"args":{"command":"sleep 2"},"result":{"success":{"exitCode":0,"stdout":"","stderr":"","executionTime":2004},"isBackground":false}}}`),
			world.Says("Both fine.", ""), `{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"duration_api_ms":1,"result":"Running two checks.Both fine.","session_id":"{{session}}","request_id":"q"}`},
			[]string{`thinking completed "Check"`, `assistant completed "Running two checks."`, `tool completed shell/shell "call_a\nfc_1" exit=0`,
				`tool completed ls/ls "call_b\nfc_2" out="d/\nf\n"`, `assistant completed "Both fine."`},
			"Running two checks.Both fine.", completed1},
		{"dialect 002", []string{`{"type":"system","subtype":"init","payload":{}}`, `{"type":"user","payload":{"prompt":"x"}}`, `{"type":"thinking","payload":{"content":"Two steps."}}`,
			`{"type":"assistant","payload":{"message":{"content":"I'll add "}}}`, `{"type":"assistant","payload":{"message":{"content":[{"type":"text","text":"the script."}]}}}`,
			`{"type":"tool_call","subtype":"started","payload":{"toolCall":{"id":"w1","writeFileToolCall":{"path":"run.sh","contents":"date\n"}}}}`,
			`{"fake":"write","path":"run.sh","text":"date\n"}`,
			`{"type":"tool_call","subtype":"completed","payload":{"toolCall":{"id":"w1","result":{"success":true}}}}`,
			`{"type":"tool_call","subtype":"started","payload":{"toolCall":{"id":"s1","shellToolCall":{"name":"shell","args":{"command":"sh run.sh"}}}}`,
			`{"type":"tool_call","subtype":"completed","payload":{"toolCall":{"id":"s1","result":{"exitCode":1,"stdout":"Mon\n","stderr":""}}}}`,
			`{"type":"result","subtype":"success","exitCode":0,"payload":{"exitCode":0,"is_error":false}}`},
			[]string{`thinking completed "Two steps."`, `assistant completed "I'll add the script."`, `tool completed write/writeFile "w1"`,
				`tool failed other/unknown "s1" exit=1 out="Mon\n" err="exit code 1"`,
				`notice completed "1 line of the agent's output could not be understood; the first: {\"type\":\"tool_call\",\"subtype\":\"started\",\"payload\":{\"toolCall\":{\"id\":\"s1\",\"shellToolCall\":{\"name\":\"shell\",\"args\":{\"command\":\"sh run.sh\"}}}}"`},
			"I'll add the script.", completed1},
		{"dialect 002 that fails", []string{`{"type":"system","subtype":"init","payload":{}}`, `{"type":"assistant","payload":{"message":{"content":"Trying."}}}`,
			`{"type":"raw","data":"Segmentation fault"}`, `{"type":"error","message":"agent process ended"}`, `{"type":"result","subtype":"error","exitCode":1,"payload":{"exitCode":1,"is_error":true}}`},
			[]string{`assistant cancelled "Trying."`, `notice completed "1 line of the agent's output could not be understood; the first: Segmentation fault"`},
			"Trying.", sessions.TurnFailed},
		{"dialect 003", []string{world.InitLine, world.UserLine, world.Piece("All "), world.Piece("green."), world.Says("All green.", ""), world.Succeeds("All green.")},
			[]string{`assistant completed "All green."`}, "All green.", completed1},
		{"dialect 003 that fails", []string{world.InitLine, world.Piece("All "), `{"type":"result","subtype":"success","duration_ms":900,"duration_api_ms":900,"is_error":true,"result":"model unavailable","session_id":"{{session}}","request_id":"44"}`},
			[]string{`assistant cancelled "All "`}, "All ", sessions.TurnFailed},
		{"dialect 004", []string{`{"type":"system","subtype":"init","session_id":"{{session}}","request_id":"req_7","model":"sonnet-4","workspace":"{{cwd}}"}`,
			`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"x"}]}}`, `{"type":"thinking","subtype":"delta","text":"Hm","timestamp_ms":1}`, `{"type":"thinking","subtype":"completed"}`,
			`{"type":"assistant","text":"Two ","timestamp_ms":2}`, `{"type":"assistant","text":"lines.","timestamp_ms":3}`, `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Two lines."}]}}`,
			`{"type":"tool-call-started","tool_name":"Shell","tool_call_id":"call_5","parameters":{"command":"wc -l a.txt","description":"Count lines"}}`,
			`{"type":"tool-call-completed","tool_name":"Shell","tool_call_id":"call_5","result":{"success":true,"output":"2 a.txt\n","exit_code":0},"duration_ms":31}`,
			`{"type":"tool-call-started","tool_name":"StrReplace","tool_call_id":"call_6","parameters":{"path":"a.txt"}}`,
			`{"type":"tool-call-completed","tool_name":"StrReplace","tool_call_id":"call_6","result":{"success":false,"output":"no match","exit_code":1},"duration_ms":31}`,
			`{"type":"result","subtype":"success","result":"Two lines.","session_id":"{{session}}","duration_ms":1}`},
			[]string{`thinking completed "Hm"`, `assistant completed "Two lines."`, `tool completed shell/Shell "call_5" exit=0 out="2 a.txt\n"`,
				`tool failed edit/StrReplace "call_6" exit=1 out="no match" err="exit code 1"`}, "Two lines.", completed1},
		{"dialect 004 that fails", []string{`{"type":"system","subtype":"init","session_id":"{{session}}","workspace":"{{cwd}}"}`,
			`{"type":"result","subtype":"error","error":"deadline passed","session_id":"{{session}}","request_id":"req_7","is_error":true}`},
			nil, "(null)", sessions.TurnFailed},
		{"legacy envelopes", []string{world.InitLine, `{"type":"text","part":{"text":"Hello"}}`, `{"type":"tool_use","tool_name":"Read","tool_id":"l1","parameters":{"path":"a"}}`,
			`{"type":"tool_result","tool_id":"l1","output":"A"}`,
			`{"type":"assistant","message":{"content":[{"type":"thinking","text":"hm"},{"type":"output_text","text":"Bye"},{"type":"tool_use","id":"l2","name":"Grep","input":{"pattern":"x"}}]}}`,
			`{"type":"tool_result","tool_id":"l2","output":"a:1:x"}`, `{"type":"step_finish","part":{"tokens":{"input":4,"output":5,"cache":{"read":6}}}}`, world.Succeeds("HelloBye")},
			[]string{`assistant completed "Hello"`, `tool completed read/Read "l1" out="A"`, `thinking completed "hm"`, `assistant completed "Bye"`, `tool completed grep/Grep "l2" out="a:1:x"`},
			"HelloBye", completed1},
	}
}

// TestDialects plays each run at three speeds: all lines at once, as fast as they are printed, and slowly enough that each
// is sent on its own.
func TestDialects(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	e := w.Opens()
	for _, d := range dialects() {
		burst := append([]string{fmt.Sprintf(`{"fake":"repeat","n":1,"lines":%d}`, len(d.lines))}, d.lines...)
		var slow []string
		for _, line := range d.lines {
			slow = append(slow, line, `{"fake":"sleep","ms":7}`)
		}
		for speed, lines := range map[string][]string{"burst": burst, "fast": d.lines, "slow": slow} {
			t.Run(d.name+"/"+speed, func(t *testing.T) {
				defer w.In(t, e)()
				w.Plays(lines...)
				turn := e.Turn(nil)
				require.Equal(t, d.status, turn.Status, "%+v", turn.Error)
				require.Equal(t, d.items, e.Describe(turn.ID))
				result := "(null)"
				if turn.Result != nil {
					result = *turn.Result
				}
				require.Equal(t, d.result, result)
				if d.result != "(null)" {
					require.Equal(t, d.result, strings.Join(e.Said(turn.ID, sessions.ItemAssistant), ""))
				}
			})
		}
	}
	world.Audit(t, e.All())
	other := w.Joins()
	other.Must("workspace/subscribe", world.Obj{"workspace": w.Root, "after": 0}, nil)
	for _, n := range e.All() {
		if n.Method == "turn/changed" && n.Turn.Status.Final() {
			other.Ends(n.Turn.ID)
			require.Equal(t, e.Describe(n.Turn.ID), other.Describe(n.Turn.ID))
		}
	}
}
