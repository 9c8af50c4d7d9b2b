package wire

import (
	"encoding/json"
	"fmt"

	"cursord/sessions"
)

// A wholeTool is a tool call as it is kept for item/read, with nothing cut. If the output is also a string in the result, it
// is kept once, because an output may be as long as a file.
type wholeTool struct {
	sessions.Tool
	OutputAt []int `json:"outputAt,omitempty"` // where in Result the output is
}

// encodeTool returns a tool in the form that DecodeTool takes.
func encodeTool(tool *sessions.Tool) []byte {
	small := wholeTool{Tool: *tool}
	for at, end := range longStrings(tool.Result) {
		if reads(tool.Result[at:end], tool.Output) {
			small.Output, small.OutputAt = "", []int{at, end}
			break
		}
	}
	small.Result = nil
	head := Encode(small)
	if tool.Result == nil {
		return head
	}
	// Written by hand, because an encoder would make several copies.
	const name = `,"result":`
	out := make([]byte, 0, len(head)+len(name)+len(tool.Result))
	out = append(append(out, head[:len(head)-1]...), name...)
	return append(append(out, tool.Result...), '}')
}

// DecodeTool returns the whole tool from the detail that CutTool has returned.
func DecodeTool(raw []byte) (*sessions.Tool, error) {
	var whole wholeTool
	if err := json.Unmarshal(raw, &whole); err != nil {
		return nil, err
	}
	if at := whole.OutputAt; len(at) == 2 {
		if at[0] < 0 || at[0] > at[1] || at[1] > len(whole.Result) {
			return nil, fmt.Errorf("no output at %d", at)
		}
		if err := json.Unmarshal(whole.Result[at[0]:at[1]], &whole.Output); err != nil {
			return nil, err
		}
	}
	return &whole.Tool, nil
}
