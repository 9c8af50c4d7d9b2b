package agent

import (
	"testing"
)

// TestDialects decodes one run of each of the five published descriptions of the stream, and lines that fit none.
func TestDialects(t *testing.T) {
	tests := []struct{ name, stream, want string }{
		{"reference", `
			{"type":"system","subtype":"init","apiKeySource":"env","cwd":"/repo","session_id":"s0","model":"Auto","permissionMode":"default"}
			{"type":"user","message":{"role":"user","content":[{"type":"text","text":"go"}]},"session_id":"s0"}
			{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"I will "}]},"session_id":"s0"}
			{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"read it."}]},"session_id":"s0"}
			{"type":"tool_call","subtype":"started","call_id":"toolu_1","tool_call":{"readToolCall":{"args":{"path":"todo.md"}}},"session_id":"s0"}
			{"type":"tool_call","subtype":"completed","call_id":"toolu_1","tool_call":{"readToolCall":{"args":{"path":"todo.md"},"result":{"success":{"content":"- a\n","isEmpty":false,"exceededLimit":false,"totalLines":2,"totalChars":4}}}},"session_id":"s0"}
			{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Now the list."}]},"session_id":"s0"}
			{"type":"tool_call","subtype":"started","call_id":"toolu_2","tool_call":{"writeToolCall":{"args":{"path":"list.md","fileText":"a\n","toolCallId":"toolu_2"}}},"session_id":"s0"}
			{"type":"tool_call","subtype":"completed","call_id":"toolu_2","tool_call":{"writeToolCall":{"args":{"path":"list.md","fileText":"a\n","toolCallId":"toolu_2"},"result":{"success":{"path":"/repo/list.md","linesCreated":1,"fileSize":2}}}},"session_id":"s0"}
			{"type":"tool_call","subtype":"started","call_id":"c9","tool_call":{"function":{"name":"todo","arguments":"{\"items\":2}"}},"session_id":"s0"}
			{"type":"result","subtype":"success","duration_ms":5,"duration_api_ms":5,"is_error":false,"result":"I will read it.Now the list.","session_id":"s0","request_id":"r0"}`, `
			init s0 /repo Auto
			text "I will "
			text "read it."
			start toolu_1 read/read "Read todo.md" paths=todo.md
			completed toolu_1 read/read "Read todo.md" paths=todo.md output="- a\n"
			text "Now the list."
			start toolu_2 write/write "Write list.md" paths=list.md
			completed toolu_2 write/write "Write list.md" paths=list.md change=/repo/list.md(?->"a\n")
			start c9 todo/todo "Update todos"
			result ok text="I will read it.Now the list." s0 r0`},
		{"observed: parallel calls, newline in an id", `
			{"type":"thinking","subtype":"delta","text":"Check","session_id":"s1","timestamp_ms":10}
			{"type":"thinking","subtype":"completed","session_id":"s1","timestamp_ms":11}
			{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Two checks."}]},"session_id":"s1","model_call_id":"e1-0-k2d9","timestamp_ms":12}
			{"type":"tool_call","subtype":"started","call_id":"call_a\nfc_1","tool_call":{"shellToolCall":{"args":{"command":"sleep 2\necho"}}},"model_call_id":"e1-0-k2d9"}
			{"type":"tool_call","subtype":"started","call_id":"call_b\nfc_2","tool_call":{"lsToolCall":{"args":{"path":"/repo","ignore":[],"toolCallId":"call_b\nfc_2"}}},"model_call_id":"e1-0-k2d9"}
			{"type":"tool_call","subtype":"completed","call_id":"call_b\nfc_2","tool_call":{"lsToolCall":{"args":{"path":"/repo","ignore":[]},"result":{"success":{"directoryTreeRoot":{"absPath":"/repo","childrenDirs":[{"absPath":"/repo/src"}],"childrenFiles":[{"name":"go.mod"}]}}}}}}
			{"type":"tool_call","subtype":"completed","call_id":"call_a\nfc_1","tool_call":{"shellToolCall":{"args":{"command":"sleep 2\necho"},"result":{"success":{"exitCode":0,"stdout":"","stderr":"","executionTime":2004},"isBackground":false}}}}
			{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Fine."}]},"session_id":"s1"}
			{"type":"result","subtype":"success","result":"Two checks.Fine.","session_id":"s1","request_id":"e1","usage":{"inputTokens":10,"outputTokens":"2","cacheReadTokens":3,"cacheWriteTokens":0}}`, `
			thinking "Check"
			end of thinking
			text "Two checks."
			end of text
			start call_a\nfc_1 shell/shell "sleep 2 …" command="sleep 2\necho"
			start call_b\nfc_2 ls/ls "List /repo" paths=/repo
			completed call_b\nfc_2 ls/ls "List /repo" paths=/repo output="src/\ngo.mod\n"
			completed call_a\nfc_1 shell/shell "sleep 2 …" command="sleep 2\necho" exit=0
			text "Fine."
			result ok text="Two checks.Fine." s1 e1 usage=10/2/3/0`},
		{"payload", `
			{"type":"system","subtype":"init","payload":{}}
			{"type":"user","payload":{"prompt":"go"}}
			{"type":"thinking","payload":{"content":"Two steps."}}
			{"type":"assistant","payload":{"message":{"content":"I add it."}}}
			{"type":"assistant","payload":{"message":{"content":[{"type":"text","text":" So."}]}}}
			{"type":"tool_call","subtype":"started","payload":{"toolCall":{"id":"w1","writeFileToolCall":{"path":"run.sh","contents":"date\n"}}}}
			{"type":"tool_call","subtype":"completed","payload":{"toolCall":{"id":"w1","result":{"success":true}}}}
			{"type":"tool_call","subtype":"started","payload":{"toolCall":{"id":"s1","shellToolCall":{"name":"shell","args":{"command":"sh run.sh"}}}}
			{"type":"tool_call","subtype":"completed","payload":{"toolCall":{"id":"s1","result":{"exitCode":2,"stdout":"Mon","stderr":"bad"}}}}
			{"type":"result","subtype":"error","exitCode":1,"payload":{"exitCode":1,"is_error":true}}
			{"type":"raw","data":"Segmentation fault"}
			{"type":"error","message":"agent process ended"}`, `
			init
			thinking "Two steps."
			text "I add it."
			text " So."
			start w1 write/writeFile "Write run.sh" paths=run.sh
			completed w1 write/writeFile "Write run.sh" paths=run.sh change=run.sh(?->"date\n")
			unreadable "{\"type\":\"tool_call\",\"subtype\":\"started\",\"payload\":{\"toolCall\":{\"id\":\"s1\",\"shellToolCall\":{\"name\":\"shell\",\"args\":{\"command\":\"sh run.sh\"}}}}"
			failed s1 other/unknown "Unknown" exit=2 output="Mon\nbad" error="exit code 2"
			result failed
			unreadable "Segmentation fault"
			failure "agent process ended"`},
		{"notes: the last message is the response, an error is in result", `
			{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"All "}]},"session_id":"s3","timestamp_ms":300}
			{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"All green."}]},"session_id":"s3"}
			{"type":"result","subtype":"success","duration_ms":900,"is_error":true,"result":"model unavailable","session_id":"s3","request_id":"r3"}`, `
			text "All "
			text "green."
			end of text
			result failed error="model unavailable" s3 r3`},
		{"python", `
			{"type":"system","subtype":"init","session_id":"s4","request_id":"req_7","model":"sonnet-4","workspace":"/repo"}
			{"type":"user","message":{"role":"user","content":[{"type":"text","text":"go"}]}}
			{"type":"assistant","text":"Two ","timestamp_ms":400}
			{"type":"assistant","text":"Two ","timestamp_ms":401}
			{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Two Two "}]}}
			{"type":"tool-call-started","tool_name":"Shell","tool_call_id":"call_5","parameters":{"command":"wc -l a.txt","description":"Count lines"}}
			{"type":"tool-call-completed","tool_name":"Shell","tool_call_id":"call_5","result":{"success":true,"output":"2 a.txt\n","exit_code":0},"duration_ms":31}
			{"type":"tool-call-started","tool_name":"StrReplace","tool_call_id":"call_6","parameters":{"path":"/repo/a.txt","old_string":"a","new_string":"b"}}
			{"type":"tool-call-completed","tool_name":"StrReplace","tool_call_id":"call_6","result":{"success":false,"output":"no match"}}
			{"type":"result","subtype":"error","error":"deadline passed","session_id":"s4","request_id":"req_7","is_error":true}`, `
			init s4 /repo sonnet-4
			text "Two "
			text "Two "
			end of text
			start call_5 shell/Shell "wc -l a.txt"
			completed call_5 shell/Shell "wc -l a.txt" exit=0 output="2 a.txt\n"
			start call_6 edit/StrReplace "Edit a.txt" paths=/repo/a.txt
			failed call_6 edit/StrReplace "Edit a.txt" paths=/repo/a.txt output="no match" error="no match"
			result failed error="deadline passed" s4 req_7`},
		{"legacy forms", `
			{"type":"tool_use","tool_name":"Read","tool_id":"t1","parameters":{"path":"a"}}
			{"type":"tool_result","tool_id":"t1","output":"text of a"}
			{"type":"text","part":{"text":"Hello"}}
			{"type":"step_finish","part":{"tokens":{"input":5,"output":1,"cache":{"read":2}},"cost":0.1}}
			{"type":"step_finish","part":{"tokens":{"input":6,"output":1,"cache":{"read":2,"write":4}}}}
			{"type":"system","subtype":"error","detail":"slow down"}
			{"type":"result"}`, `
			start t1 read/Read "Read a" paths=a
			completed t1 read/Read "Read a" paths=a output="text of a"
			text "Hello"
			failure "slow down"
			result ok usage=11/2/4/4`},
		{"lines that are no events", `
			not json
			{"type":"connection","subtype":"reconnecting"}{"type":"connection","subtype":"reconnected"}
			{"type":"text","text":"kept"} {"type":"text","te
			stdout: {"type":"text","text":"A"}
			stderr={"type":"text","text":"B"}
			stderr: words
			[1,2]
			{"type":"interaction_query","subtype":"request"}
			{"type":"system","subtype":"task_notification"}
			{"type":"tool_call","subtype":"progress","call_id":"x"}
			{"type":"thought-balloon"}
			{"no":"type"}
			{"type":"result","subtype":"paused"}
			Cannot use this model: x9. Available models: auto, b2`, `
			unreadable "not json"
			unknown connection/reconnecting
			unknown connection/reconnected
			text "kept"
			unreadable "{\"type\":\"text\",\"te"
			text "A"
			text "B"
			unreadable "stderr: words"
			unreadable "[1,2]"
			unknown interaction_query/request
			end of text
			notice "A background command has ended or has new output, and the agent continues."
			unknown tool_call/progress
			unknown thought_balloon
			unknown untyped
			result failed error="the agent ended the run with paused"
			unreadable "Cannot use this model: x9. Available models: auto, b2"
			failure "Cannot use this model: x9. Available models: auto, b2"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { check(t, tt.stream, tt.want) })
	}
}
