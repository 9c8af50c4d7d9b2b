package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// A dialect is a run of the agent in one of the known descriptions of its stream, and what a client must see of it.
type dialect struct {
	name   string
	lines  []string
	items  []string
	result string // "(null)" for none
	status sessions.TurnStatus
}

const (
	InitLine = `{"type":"system","subtype":"init","apiKeySource":"login","cwd":"{{cwd}}","session_id":"{{session}}","model":"Auto","permissionMode":"default"}`
	UserLine = `{"type":"user","message":{"role":"user","content":[{"type":"text","text":"{{prompt}}"}]},"session_id":"{{session}}"}`
)

// Says is an assistant line; more are further members.
func Says(text, more string) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":%q}]},"session_id":"{{session}}"%s}`, text, more)
}

// Piece is a delta of the real wire in partial mode, flush its consolidated message before a tool.
func Piece(text string) string { return Says(text, `,"timestamp_ms":{{now_ms}}`) }
func Flush(text string) string {
	return Says(text, `,"timestamp_ms":{{now_ms}},"model_call_id":"r-0-ab12"`)
}

func Thinks(text string) string {
	return fmt.Sprintf(`{"type":"thinking","subtype":"delta","text":%q,"session_id":"{{session}}","timestamp_ms":{{now_ms}}}`, text)
}

const ThoughtEnd = `{"type":"thinking","subtype":"completed","session_id":"{{session}}","timestamp_ms":{{now_ms}}}`

func Started(id, call string) string {
	return fmt.Sprintf(`{"type":"tool_call","subtype":"started","call_id":%q,"tool_call":%s,"model_call_id":"r-0-ab12","session_id":"{{session}}","timestamp_ms":{{now_ms}}}`, id, call)
}

func Completed(id, call string) string {
	return strings.Replace(Started(id, call), `"started"`, `"completed"`, 1)
}

func Succeeds(text string) string {
	return fmt.Sprintf(`{"type":"result","subtype":"success","duration_ms":5,"duration_api_ms":5,"is_error":false,"result":%q,"session_id":"{{session}}","request_id":"req","usage":{"inputTokens":1,"outputTokens":1,"cacheReadTokens":0,"cacheWriteTokens":0}}`, text)
}

const (
	ReadArgs = `{"readToolCall":{"args":{"path":"{{cwd}}/a"}}}`
	ReadDone = `{"readToolCall":{"args":{"path":"{{cwd}}/a"},"result":{"success":{"content":"A","totalLines":1}}}}`
	Sleep2   = `{"shellToolCall":{"args":{"command":"sleep 2"}}}`
	Slept    = `{"shellToolCall":{"args":{"command":"sleep 2"},"result":{"success":{"exitCode":0,"stdout":"ok","stderr":"","executionTime":2}}}}`
)

func dialects() []dialect {
	const completed1 = sessions.TurnCompleted
	return []dialect{
		{"wire, partial", []string{InitLine, UserLine, Thinks("Hm"), Thinks("m."), ThoughtEnd, Piece("I "), Piece("look."), Flush("I look."),
			Started("c", ReadArgs), Completed("c", ReadDone), Piece("Go"), Piece("od."), Says("Good.", ""), Succeeds("I look.Good.")},
			[]string{`thinking completed "Hmm."`, `assistant completed "I look."`, `tool completed read/read "c" out="A"`, `assistant completed "Good."`},
			"I look.Good.", completed1},
		{"wire, whole", []string{InitLine, UserLine, Thinks("Hmm."), ThoughtEnd, Flush("I look."), Started("c", ReadArgs), Completed("c", ReadDone),
			Says("Good.", ""), Succeeds("I look.Good.")},
			[]string{`thinking completed "Hmm."`, `assistant completed "I look."`, `tool completed read/read "c" out="A"`, `assistant completed "Good."`},
			"I look.Good.", completed1},
		{"equal pieces", []string{InitLine, Piece("ha"), Piece("ha"), Piece("ha"), Says("hahaha", ""), Succeeds("hahaha")},
			[]string{`assistant completed "hahaha"`}, "hahaha", completed1},
		{"a piece that reads like all before", []string{InitLine, Piece("ha"), Piece("ha"), Piece("haha"), Says("hahahaha", ""), Succeeds("hahahaha")},
			[]string{`assistant completed "hahahaha"`}, "hahahaha", completed1},
		{"flush with a rest", []string{InitLine, Piece("One"), Flush("One two"), Started("c", ReadArgs), Completed("c", ReadDone), Succeeds("One two")},
			[]string{`assistant completed "One two"`, `tool completed read/read "c" out="A"`}, "One two", completed1},
		{"two flushes", []string{InitLine, Piece("One."), Flush("One."), Piece("Two."), Flush("Two."), Started("c", ReadArgs), Completed("c", ReadDone),
			Piece("One."), Says("One.", ""), Succeeds("One.Two.One.")},
			[]string{`assistant completed "One."`, `assistant completed "Two."`, `tool completed read/read "c" out="A"`, `assistant completed "One."`},
			"One.Two.One.", completed1},
		{"thinking splits, the flush has all", []string{InitLine, Piece("One."), Thinks("hm"), ThoughtEnd, Piece("Two."), Flush("One.Two."),
			Started("c", ReadArgs), Completed("c", ReadDone), Says("Three.", ""), Succeeds("One.Two.Three.")},
			[]string{`assistant completed "One."`, `thinking completed "hm"`, `assistant completed "Two."`, `tool completed read/read "c" out="A"`, `assistant completed "Three."`},
			"One.Two.Three.", completed1},
		{"two blocks of thinking", []string{InitLine, Thinks("a"), ThoughtEnd, Thinks(""), Thinks("b"), ThoughtEnd, Says("c", ""), Succeeds("c")},
			[]string{`thinking completed "a"`, `thinking completed "b"`, `assistant completed "c"`}, "c", completed1},
		{"nothing streamed", []string{InitLine, Succeeds("All in the result.")},
			[]string{`assistant completed "All in the result."`}, "All in the result.", completed1},
		{"retry with replay", []string{InitLine, Piece("One."), Flush("One."), Started("c", ReadArgs), Completed("c", ReadDone),
			Piece("Tw"), Piece("o"), `{"type":"connection","subtype":"reconnecting","attempt":1}`,
			`{"type":"retry","subtype":"starting","attempt":1,"is_resume":false}`, Piece("T"), Piece("wo!"), Says("Two!", ""), Succeeds("One.Two!")},
			[]string{`assistant completed "One."`, `tool completed read/read "c" out="A"`, `assistant completed "Two!"`}, "One.Two!", completed1},
		{"retry that resumes", []string{InitLine, Piece("Tw"), `{"type":"retry","subtype":"starting","attempt":1,"is_resume":true}{"type":"retry","subtype":"resuming","attempt":1}`,
			Piece("o"), Says("Two", ""), Succeeds("Two")},
			[]string{`assistant completed "Two"`}, "Two", completed1},
		{"retry with replay after thinking", []string{InitLine, Piece("One"), Thinks("hm"), ThoughtEnd, Piece("Two"),
			`{"type":"retry","subtype":"starting","attempt":2,"is_resume":false}`, Piece("One"), Says("One", ""), Succeeds("One")},
			[]string{`assistant completed`, `thinking completed "hm"`, `assistant completed "One"`}, "One", completed1},
		{"killed without a flush", []string{InitLine, Piece("Half a "), Piece("word"), `{"fake":"exec","argv":["sh","-c","kill -9 $PPID"]}`},
			[]string{`assistant cancelled "Half a word"`}, "Half a word", sessions.TurnFailed},
		{"parallel calls that end in reverse", []string{InitLine, Started("call_a\nfc_1", Sleep2), Started("call_b\nfc_2", ReadArgs), Started("call_c\nfc_3", Sleep2),
			Completed("call_c\nfc_3", Slept), Completed("call_b\nfc_2", ReadDone), Completed("call_a\nfc_1", Slept), Succeeds("")},
			[]string{`tool completed shell/shell "call_a\nfc_1" exit=0 out="ok"`, `tool completed read/read "call_b\nfc_2" out="A"`, `tool completed shell/shell "call_c\nfc_3" exit=0 out="ok"`},
			"(null)", completed1},
		{"an end without start and args", []string{InitLine, Completed("x", `{"readToolCall":{"result":{"error":{"errorMessage":"File not found"}}}}`), Succeeds("")},
			[]string{`tool failed read/read "x" err="File not found"`}, "(null)", completed1},
		{"a start without an end", []string{InitLine, Started("x", Sleep2), Says("Done.", ""), Succeeds("Done.")},
			[]string{`tool cancelled shell/shell "x"`, `assistant completed "Done."`}, "Done.", completed1},
		{"one id twice", []string{InitLine, Started("Grep_0", ReadArgs), Completed("Grep_0", ReadDone), Started("Grep_0", ReadArgs), Completed("Grep_0", ReadDone), Succeeds("")},
			[]string{`tool completed read/read "Grep_0" out="A"`, `tool completed read/read "Grep_0" out="A"`}, "(null)", completed1},
		{"refused, denied and blocked", []string{InitLine,
			Started("1", Sleep2), Completed("1", `{"shellToolCall":{"result":{"rejected":{"command":"sleep 2","workingDirectory":"","reason":"","isReadonly":false}}}}`),
			Completed("2", `{"shellToolCall":{"result":{"permissionDenied":{"command":"rm","error":"Command blocked by permissions configuration"}}}}`),
			Completed("3", `{"editToolCall":{"args":{"path":"a"},"result":{"writePermissionDenied":{"path":"","error":"Write permission denied: a"}}}}`),
			Completed("4", `{"editToolCall":{"args":{"path":"a"},"result":{"rejected":{"reason":"Hook blocked with message: no"}}}}`),
			Completed("5", `{"shellToolCall":{"args":{"command":"false"},"result":{"failure":{"exitCode":3,"stdout":"","stderr":"bad","aborted":false}}}}`),
			Completed("6", `{"shellToolCall":{"args":{"command":"x"},"result":{"timeout":{"command":"x","timeoutMs":50}}}}`),
			Succeeds("")},
			[]string{`tool rejected shell/shell "1" err="refused by policy"`, `tool rejected shell/shell "2" err="Command blocked by permissions configuration"`,
				`tool rejected edit/edit "3" err="Write permission denied: a"`, `tool rejected edit/edit "4" err="Hook blocked with message: no"`,
				`tool failed shell/shell "5" exit=3 out="bad" err="exit code 3"`, `tool failed shell/shell "6" err="timed out after 50 ms"`,
				`notice completed "4 calls were denied: sleep 2, rm, Edit a (2 times); allow them with sandbox enabled (what the agent's sandbox can hold runs), auto-review (a classifier of the agent's decides), ` +
					`force (everything runs, without a sandbox), or permissions.allow in ~/.cursor/cli-config.json or the workspace's .cursor/cli.json; ` +
					`what permissions.deny in the same files names is denied whatever else is allowed: take it out there; a hook of the agent's refuses calls: \"cursord doctor\" lists the hooks"`}, "(null)", completed1},
		{"todos and a plan", []string{InitLine,
			Started("t", `{"updateTodosToolCall":{"args":{"todos":[{"id":"1","content":"a","status":"TODO_STATUS_PENDING"}],"merge":false}}}`),
			Completed("t", `{"updateTodosToolCall":{"args":{"todos":[{"id":"1","content":"a","status":"TODO_STATUS_IN_PROGRESS"},{"id":"2","content":"b","status":"TODO_STATUS_CANCELLED"}]},"result":{"success":{"totalCount":2}}}}`),
			`{"type":"interaction_query","subtype":"request","query_type":"createPlanRequestQuery","query":{"id":0}}`,
			Started("p", `{"createPlanToolCall":{"args":{"plan":"# Plan\n1. go","name":"Go"}}}`),
			Completed("p", `{"createPlanToolCall":{"args":{"plan":"# Plan\n1. go","name":"Go"},"result":{"success":{"planUri":""}}}}`), Succeeds("")},
			[]string{`tool completed todo/updateTodos "t" todo=1:a:in_progress todo=2:b:cancelled`, `plan completed other/createPlan "p" "# Plan\n1. go"`}, "(null)", completed1},
		{"an unknown tool and unknown events", []string{InitLine, `{"type":"weather","subtype":"report","sky":"blue"}`,
			Started("u", `{"hookAdditionalContexts":[],"pettingZooToolCall":{"args":{"animal":"goat"}},"toolCallId":"u","startedAtMs":"1"}`),
			Completed("u", `{"pettingZooToolCall":{"args":{"animal":"goat"},"result":{"success":{"fed":true}}}}`), Says("Fed.", ""), Succeeds("Fed.")},
			[]string{`tool completed other/pettingZoo "u"`, `assistant completed "Fed."`}, "Fed.", completed1},
		{"lines that are none", []string{InitLine, "", "  ", `stdout: ` + Piece("One "), Piece("two ") + Piece("three"), "Some warning", `{"broken":`, Says("One two three", ""), Succeeds("One two three")},
			[]string{`assistant completed "One two three"`, `notice completed "2 line(s) of the agent's output could not be read and were left out; the first: Some warning"`},
			"One two three", completed1},

		{"dialect 000", []string{InitLine, UserLine, Says("One, ", ""), Says("two, ", ""),
			Started("toolu_1", `{"readToolCall":{"args":{"path":"a"}}}`),
			Completed("toolu_1", `{"readToolCall":{"args":{"path":"a"},"result":{"success":{"content":"A\n","isEmpty":false,"exceededLimit":false,"totalLines":2,"totalChars":2}}}}`),
			Says("three", ""), Says("three", ""),
			Started("toolu_2", `{"function":{"name":"todo","arguments":"{\"items\":2}"}}`),
			Completed("toolu_2", `{"function":{"name":"todo","arguments":"{\"items\":2}"},"result":{"success":{}}}`),
			`{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"duration_api_ms":1,"result":"One, two, threethree","session_id":"{{session}}"}`},
			[]string{`assistant completed "One, two, "`, `tool completed read/read "toolu_1" out="A\n"`, `assistant completed "threethree"`, `tool completed todo/todo "toolu_2"`},
			"One, two, threethree", completed1},
		{"dialect 001", []string{InitLine, UserLine, Thinks("Check"), ThoughtEnd, Flush("Running two checks."),
			Started("call_a\nfc_1", `{"shellToolCall":{"args":{"command":"sleep 2","timeout":30000,"simpleCommands":["sleep"]}}}`),
			Started("call_b\nfc_2", `{"lsToolCall":{"args":{"path":"/repo","ignore":[],"toolCallId":"call_b\nfc_2"}}}`),
			Completed("call_b\nfc_2", `{"lsToolCall":{"args":{"path":"/repo","ignore":[],"toolCallId":"call_b\nfc_2"},"result":{"success":{"directoryTreeRoot":{"absPath":"/repo","childrenDirs":[{"absPath":"/repo/d"}],"childrenFiles":[{"name":"f"}]}}}}}`),
			Completed("call_a\nfc_1", `{"shellToolCall":{"args":{"command":"sleep 2"},"result":{"success":{"exitCode":0,"stdout":"","stderr":"","executionTime":2004},"isBackground":false}}}`),
			Says("Both fine.", ""), `{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"duration_api_ms":1,"result":"Running two checks.Both fine.","session_id":"{{session}}","request_id":"q"}`},
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
				`notice completed "1 line(s) of the agent's output could not be read and were left out; the first: {\"type\":\"tool_call\",\"subtype\":\"started\",\"payload\":{\"toolCall\":{\"id\":\"s1\",\"shellToolCall\":{\"name\":\"shell\",\"args\":{\"command\":\"sh run.sh\"}}}}"`},
			"I'll add the script.", completed1},
		{"dialect 002 that fails", []string{`{"type":"system","subtype":"init","payload":{}}`, `{"type":"assistant","payload":{"message":{"content":"Trying."}}}`,
			`{"type":"raw","data":"Segmentation fault"}`, `{"type":"error","message":"agent process ended"}`, `{"type":"result","subtype":"error","exitCode":1,"payload":{"exitCode":1,"is_error":true}}`},
			[]string{`assistant cancelled "Trying."`, `notice completed "1 line(s) of the agent's output could not be read and were left out; the first: Segmentation fault"`},
			"Trying.", sessions.TurnFailed},
		{"dialect 003", []string{InitLine, UserLine, Piece("All "), Piece("green."), Says("All green.", ""), Succeeds("All green.")},
			[]string{`assistant completed "All green."`}, "All green.", completed1},
		{"dialect 003 that fails", []string{InitLine, Piece("All "), `{"type":"result","subtype":"success","duration_ms":900,"duration_api_ms":900,"is_error":true,"result":"model unavailable","session_id":"{{session}}","request_id":"44"}`},
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
		{"legacy envelopes", []string{InitLine, `{"type":"text","part":{"text":"Hello"}}`, `{"type":"tool_use","tool_name":"Read","tool_id":"l1","parameters":{"path":"a"}}`,
			`{"type":"tool_result","tool_id":"l1","output":"A"}`,
			`{"type":"assistant","message":{"content":[{"type":"thinking","text":"hm"},{"type":"output_text","text":"Bye"},{"type":"tool_use","id":"l2","name":"Grep","input":{"pattern":"x"}}]}}`,
			`{"type":"tool_result","tool_id":"l2","output":"a:1:x"}`, `{"type":"step_finish","part":{"tokens":{"input":4,"output":5,"cache":{"read":6}}}}`, Succeeds("HelloBye")},
			[]string{`assistant completed "Hello"`, `tool completed read/Read "l1" out="A"`, `thinking completed "hm"`, `assistant completed "Bye"`, `tool completed grep/Grep "l2" out="a:1:x"`},
			"HelloBye", completed1},
	}
}

// TestDialects plays each run at three speeds: all lines at once, as fast as they are printed, and slowly enough that
// each is told on its own.
func TestDialects(t *testing.T) {
	t.Parallel()
	w := New(t)
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
	Audit(t, e.All())
	other := w.Joins()
	other.Must("workspace/subscribe", Obj{"workspace": w.Root, "after": 0}, nil)
	for _, n := range e.All() {
		if n.Method == "turn/changed" && n.Turn.Status.Final() {
			other.Ends(n.Turn.ID)
			require.Equal(t, e.Describe(n.Turn.ID), other.Describe(n.Turn.ID))
		}
	}
}
