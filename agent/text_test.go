package agent

import "testing"

func TestText(t *testing.T) {
	tests := []struct{ name, stream, want string }{
		{"partial: flush and last message repeat", `
			{"type":"assistant","message":{"content":[{"type":"text","text":"Look"}]},"timestamp_ms":1}
			{"type":"assistant","message":{"content":[{"type":"text","text":"ing."}]},"timestamp_ms":2}
			{"type":"assistant","message":{"content":[{"type":"text","text":"Looking."}]},"timestamp_ms":3,"model_call_id":"m-0"}
			{"type":"tool_call","subtype":"started","call_id":"a","tool_call":{"readToolCall":{"args":{"path":"x.go"}}}}
			{"type":"tool_call","subtype":"completed","call_id":"a","tool_call":{"readToolCall":{"args":{"path":"x.go"},"result":{"success":{"content":"x"}}}}}
			{"type":"assistant","message":{"content":[{"type":"text","text":"Do"}]},"timestamp_ms":4}
			{"type":"assistant","message":{"content":[{"type":"text","text":"ne."}]},"timestamp_ms":5}
			{"type":"assistant","message":{"content":[{"type":"text","text":"Done."}]}}
			{"type":"result","subtype":"success","result":"Looking.Done."}`, `
			text "Look"
			text "ing."
			end of text
			start a read/read "Read x.go" paths=x.go
			completed a read/read "Read x.go" paths=x.go output="x"
			text "Do"
			text "ne."
			end of text
			result ok text="Looking.Done."`},
		{"whole messages: the only copies", `
			{"type":"assistant","message":{"content":[{"type":"text","text":"Looking."}]},"timestamp_ms":3,"model_call_id":"m-0"}
			{"type":"assistant","message":{"content":[{"type":"text","text":"Looking."}]},"timestamp_ms":4,"model_call_id":"m-1"}
			{"type":"assistant","message":{"content":[{"type":"text","text":"Done."}]}}`, `
			text "Looking."
			end of text
			text "Looking."
			end of text
			text "Done."`},
		{"chunks without time that read the same", `
			{"type":"assistant","message":{"content":[{"type":"text","text":"ha"}]}}
			{"type":"assistant","message":{"content":[{"type":"text","text":"ha"}]}}
			{"type":"assistant","message":{"content":[{"type":"text","text":"haha"}]}}`, `
			text "ha"
			text "ha"
			text "haha"`},
		{"deltas that read the same", `
			{"type":"assistant","message":{"content":[{"type":"text","text":"ha"}]},"timestamp_ms":1}
			{"type":"assistant","message":{"content":[{"type":"text","text":"ha"}]},"timestamp_ms":1}
			{"type":"assistant","message":{"content":[{"type":"text","text":"haha"}]}}`, `
			text "ha"
			text "ha"
			end of text`},
		{"pieces that cut a character in two", `
			{"type":"assistant","message":{"content":[{"type":"text","text":"a\ud83d"}]},"timestamp_ms":1}
			{"type":"assistant","message":{"content":[{"type":"text","text":"\ude00b\uD83D"}]},"timestamp_ms":1}
			{"type":"assistant","text":"\uDE00","timestamp_ms":1}
			{"type":"assistant","message":{"content":[{"type":"text","text":"a\ud83d\ude00b\ud83d\ude00"}]}}
			{"type":"assistant","message":{"content":[{"type":"text","text":"\\\\ud83d"}]},"timestamp_ms":1}
			{"type":"assistant","message":{"content":[{"type":"text","text":"c\ud83d"}]},"timestamp_ms":1}
			{"type":"assistant","message":{"content":[{"type":"text","text":"\\\\ud83dc\ud83d\ude00d"}]},"timestamp_ms":1,"model_call_id":"m"}
			{"type":"thinking","subtype":"delta","text":"h\ud83d"}
			{"type":"thinking","subtype":"delta","text":"\ude00m"}`, `
			text "a"
			text "😀b"
			text "😀"
			end of text
			text "\\\\ud83d"
			text "c"
			text "😀d"
			end of text
			thinking "h"
			thinking "😀m"`},
		{"halves of characters that nothing completes", `
			{"type":"assistant","message":{"content":[{"type":"text","text":"a\ud83d"}]},"timestamp_ms":1}
			{"type":"assistant","message":{"content":[{"type":"text","text":"b\ud83d"}]},"timestamp_ms":1}
			{"type":"assistant","message":{"content":[{"type":"text","text":"a\ud83db\ud83d"}]}}
			{"type":"assistant","message":{"content":[{"type":"text","text":"\ude00c\ud83d"}]},"timestamp_ms":1}
			{"type":"tool_call","subtype":"started","call_id":"a","tool_call":{"readToolCall":{"args":{"path":"x.go"}}}}
			{"type":"assistant","message":{"content":[{"type":"text","text":"\ude00"}]},"timestamp_ms":1}`, `
			text "a"
			text "�b"
			text "�"
			end of text
			text "�c"
			text "�"
			start a read/read "Read x.go" paths=x.go
			text "�"`},
		{"a flush that goes further than the deltas", `
			{"type":"assistant","message":{"content":[{"type":"text","text":"One "}]},"timestamp_ms":1}
			{"type":"assistant","message":{"content":[{"type":"text","text":"One two"}]},"timestamp_ms":2,"model_call_id":"m"}`, `
			text "One "
			text "two"
			end of text`},
		{"reasoning splits items and nothing else", `
			{"type":"assistant","message":{"content":[{"type":"text","text":"One "}]},"timestamp_ms":1}
			{"type":"thinking","subtype":"delta","text":"hm","timestamp_ms":2}
			{"type":"thinking","subtype":"completed","timestamp_ms":2}
			{"type":"assistant","message":{"content":[{"type":"text","text":"two"}]},"timestamp_ms":3}
			{"type":"assistant","message":{"content":[{"type":"text","text":"One two"}]},"timestamp_ms":4,"model_call_id":"m"}`, `
			text "One "
			thinking "hm"
			end of thinking
			text "two"
			end of text`},
		{"the last message repeats only what followed the reasoning", `
			{"type":"assistant","message":{"content":[{"type":"text","text":"One "}]},"timestamp_ms":1}
			{"type":"thinking","subtype":"delta","text":"hm","timestamp_ms":2}
			{"type":"assistant","message":{"content":[{"type":"text","text":"two"}]},"timestamp_ms":3}
			{"type":"assistant","message":{"content":[{"type":"text","text":"two"}]}}`, `
			text "One "
			thinking "hm"
			text "two"
			end of text`},
		{"the last message is the whole response", `
			{"type":"assistant","message":{"content":[{"type":"text","text":"One. "}]},"timestamp_ms":1}
			{"type":"assistant","message":{"content":[{"type":"text","text":"One. "}]},"timestamp_ms":1,"model_call_id":"m"}
			{"type":"assistant","message":{"content":[{"type":"text","text":"Two"}]},"timestamp_ms":2}
			{"type":"assistant","message":{"content":[{"type":"text","text":"One. Two."}]}}`, `
			text "One. "
			end of text
			text "Two"
			text "."
			end of text`},
		{"a message that has nothing to do with the deltas is kept", `
			{"type":"assistant","message":{"content":[{"type":"text","text":"abc"}]},"timestamp_ms":1}
			{"type":"assistant","message":{"content":[{"type":"text","text":"xyz"}]},"timestamp_ms":2,"model_call_id":"m"}`, `
			text "abc"
			end of text
			text "xyz"
			end of text`},
		{"text said while a call is open is not said again", `
			{"type":"tool_call","subtype":"started","call_id":"a","tool_call":{"shellToolCall":{"args":{"command":"make"}}}}
			{"type":"assistant","message":{"content":[{"type":"text","text":"Wait"}]},"timestamp_ms":1}
			{"type":"tool_call","subtype":"completed","call_id":"a","tool_call":{"shellToolCall":{"result":{"success":{"exitCode":0}}}}}
			{"type":"assistant","message":{"content":[{"type":"text","text":"Wait"}]}}`, `
			start a shell/shell "make"
			text "Wait"
			completed a shell/shell "make" exit=0
			end of text`},
		{"a retry that is no resume", `
			{"type":"assistant","message":{"content":[{"type":"text","text":"Kept."}]},"timestamp_ms":1,"model_call_id":"m"}
			{"type":"assistant","message":{"content":[{"type":"text","text":"Lost"}]},"timestamp_ms":2}
			{"type":"retry","subtype":"starting","attempt":1,"is_resume":false}
			{"type":"assistant","message":{"content":[{"type":"text","text":"Again"}]},"timestamp_ms":3}
			{"type":"assistant","message":{"content":[{"type":"text","text":"Again"}]}}
			{"type":"result","subtype":"success"}`, `
			text "Kept."
			end of text
			text "Lost"
			withdraw
			text "Again"
			end of text
			result ok`},
		{"a retry that resumes, and one with nothing to take back", `
			{"type":"retry","subtype":"starting","attempt":1,"is_resume":false}
			{"type":"assistant","message":{"content":[{"type":"text","text":"One"}]},"timestamp_ms":2}
			{"type":"retry","subtype":"starting","attempt":1,"is_resume":true}
			{"type":"retry","subtype":"resuming","attempt":1}`, `
			unknown retry/starting
			text "One"
			unknown retry/starting
			unknown retry/resuming`},
		{"blocks of a message", `
			{"type":"assistant","message":{"content":[{"type":"thinking","text":"hm"},{"type":"output_text","text":"One"},{"type":"tool_use","id":"u1","name":"Grep","input":{"pattern":"x"}},"Two",{"type":"image"}]}}
			{"type":"assistant","message":{"content":"Three"}}`, `
			thinking "hm"
			text "One"
			start u1 grep/Grep "Grep x"
			text "Two"
			unknown assistant/image
			text "Three"`},
		{"blocks of a message that repeats deltas", `
			{"type":"thinking","subtype":"delta","text":"hm","timestamp_ms":1}
			{"type":"assistant","message":{"content":[{"type":"text","text":"One"}]},"timestamp_ms":2}
			{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"One"},{"type":"tool_use","id":"u1","name":"LS","input":{"path":"/repo"}}]}}`, `
			thinking "hm"
			text "One"
			end of text
			start u1 ls/LS "List /repo" paths=/repo`},
		{"the result speaks where nothing was said", `
			{"type":"result","subtype":"success","result":"Forty-two."}`, `
			text "Forty-two."
			result ok text="Forty-two."`},
		{"reasoning without text", `
			{"type":"thinking","subtype":"delta","text":""}
			{"type":"thinking","subtype":"completed"}
			{"type":"thinking","subtype":"delta","text":"a"}
			{"type":"thinking","subtype":"completed","text":"a"}`, `
			thinking "a"
			end of thinking`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { check(t, tt.stream, tt.want) })
	}
}
