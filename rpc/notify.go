package rpc

import (
	"encoding/json"
	"strconv"

	"cursord/daemon"
	"cursord/sessions"
)

// DeltaParams are the parameters of item/delta: text to append to an item.
type DeltaParams struct {
	Workspace string            `json:"workspace"`
	SessionID string            `json:"sessionId"`
	TurnID    string            `json:"turnId"`
	ItemID    string            `json:"itemId"`
	Kind      sessions.ItemKind `json:"kind"`   // assistant or thinking
	Offset    int               `json:"offset"` // bytes of UTF-8 that the item's text has already
	Text      string            `json:"text"`
}

// encodeNotification returns n as a message. The object in it is not encoded anew.
func encodeNotification(n *daemon.Notification) []byte {
	if n.Delta != nil {
		return encodeDelta(n.Workspace, n.Delta)
	}
	params := make([]byte, 0, noteWeight+len(n.JSON))
	params = append(params, `{"workspace":`...)
	params = append(params, quote(n.Workspace)...)
	params = append(params, `,"seq":`...)
	params = strconv.AppendUint(params, n.Seq, 10)
	if n.Removed {
		params = append(params, `,"sessionId":`...)
		params = append(params, quote(n.ID)...)
		params = append(params, `,"removed":true}`...)
	} else {
		params = append(params, `,"`...)
		params = append(params, n.Kind...)
		params = append(params, `":`...)
		params = append(params, n.JSON...)
		params = append(params, '}')
	}
	return AppendRequest(make([]byte, 0, 64+len(params)), nil, string(n.Kind)+"/changed", params)
}

func encodeDelta(workspace string, d *daemon.Delta) []byte {
	params, err := encode(DeltaParams{
		Workspace: workspace, SessionID: d.SessionID, TurnID: d.TurnID, ItemID: d.ItemID,
		Kind: d.Kind, Offset: d.Offset, Text: d.Text,
	})
	if err != nil { // strings and numbers can always be encoded
		panic(err)
	}
	return AppendRequest(make([]byte, 0, 64+len(params)), nil, "item/delta", params)
}

// quote returns s as a JSON string.
func quote(s string) json.RawMessage {
	raw, err := encode(s)
	if err != nil { // a string can always be encoded
		panic(err)
	}
	return raw
}
