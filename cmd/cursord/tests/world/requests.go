//go:build unix

package world

import (
	"encoding/json"
)

// Request returns a JSON-RPC request as one line, without a line end.
func Request(id int, method string, params Obj) string {
	b, _ := json.Marshal(Obj{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	return string(b)
}

// Talk is a run of the agent that says something of each kind.
func Talk() []string {
	return []string{InitLine, UserLine, Thinks("Hm"), ThoughtEnd, Piece("I "), Piece("look."), Flush("I look."), Started("c", ReadArgs),
		`{"fake":"write","path":"made.txt","text":"{{prompt}}\n"}`, Completed("c", ReadDone), Piece("Done."), Says("Done.", ""), Succeeds("I look.Done.")}
}
