package acp

import (
	"encoding/json"
	"fmt"
	"slices"

	"cursord/agent/jsontext"
)

// input takes in the arguments that a message gives for the call. Those of earlier messages that it lacks stay: an agent may
// repeat a part of them only.
func (c *call) input(args json.RawMessage) {
	if !c.titled {
		args = withEarlier(args, jsontext.Value(c.report.Args))
	}
	c.report.Args, c.titled = args, false
}

// maxEarlier bounds the arguments that are kept although the latest message lacks them, in bytes.
const maxEarlier = 64 << 10

func withEarlier(args json.RawMessage, earlier jsontext.Value) json.RawMessage {
	has := map[string]bool{}
	for k, v := range jsontext.Value(args).Members() {
		has[string(k)] = has[string(k)] || !isEmpty(v)
	}
	var more []byte
	for k, v := range earlier.Members() {
		if !has[string(k)] {
			more = append(append(append(append(more, ','), jsontext.Quote(string(k))...), ':'), v...)
		}
	}
	switch {
	case len(more) == 0:
		return args
	case len(more) > maxEarlier:
		more = fmt.Appendf(nil, `,"earlier":"%d bytes of earlier arguments"`, len(more))
	}
	if len(has) == 0 {
		more = more[1:]
	}
	return append(append(slices.Clip(args[:len(args)-1]), more...), '}')
}
