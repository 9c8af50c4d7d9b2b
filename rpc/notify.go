package rpc

import (
	"strconv"

	"cursord/agent/jsontext"
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

// encodeNotification returns n as a message. It does not encode the object in it again.
func encodeNotification(n *daemon.Notification) []byte {
	if n.Delta != nil {
		return encodeDelta(n.Workspace, n.Delta, n.Delta.Text)
	}
	b := make([]byte, 0, noteWeight+len(n.Workspace)+len(n.JSON))
	b = append(b, `{"jsonrpc":"2.0","method":"`...)
	b = append(b, n.Kind...)
	b = append(b, `/changed","params":{"workspace":`...)
	b = jsontext.AppendQuoted(b, n.Workspace)
	b = append(b, `,"seq":`...)
	b = strconv.AppendUint(b, n.Seq, 10)
	if n.Removed {
		b = append(b, `,"`...)
		b = append(b, n.Kind...)
		b = append(b, `Id":`...)
		b = jsontext.AppendQuoted(b, n.ID)
		b = append(b, `,"removed":true`...)
	} else {
		b = append(b, `,"`...)
		b = append(b, n.Kind...)
		b = append(b, `":`...)
		b = append(b, n.JSON...)
	}
	return append(b, `}}`...)
}

// encodeDelta returns an item/delta for d with another text.
func encodeDelta[S string | []byte](workspace string, d *daemon.Delta, text S) []byte {
	b := make([]byte, 0, noteWeight+len(workspace)+len(text)+len(text)/8)
	b = append(b, `{"jsonrpc":"2.0","method":"item/delta","params":{"workspace":`...)
	b = jsontext.AppendQuoted(b, workspace)
	b = append(b, `,"sessionId":`...)
	b = jsontext.AppendQuoted(b, d.SessionID)
	b = append(b, `,"turnId":`...)
	b = jsontext.AppendQuoted(b, d.TurnID)
	b = append(b, `,"itemId":`...)
	b = jsontext.AppendQuoted(b, d.ItemID)
	b = append(b, `,"kind":`...)
	b = jsontext.AppendQuoted(b, string(d.Kind))
	b = append(b, `,"offset":`...)
	b = strconv.AppendInt(b, int64(d.Offset), 10)
	b = append(b, `,"text":`...)
	b = jsontext.AppendQuoted(b, text)
	return append(b, `}}`...)
}
