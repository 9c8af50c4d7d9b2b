package rpc

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"

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

// deltaHead is the beginning of an item/delta as encodeDelta writes it, up to the params.
var deltaHead = []byte(`{"jsonrpc":"2.0","method":"item/delta","params":`)

// DecodeDelta returns the params of an item/delta. There is one for each word that an agent says, so those that are written as
// encodeDelta does are read without encoding/json.
func DecodeDelta(params json.RawMessage) (d DeltaParams, err error) {
	r := deltaReader{params, true}
	d.Workspace = r.text(`{"workspace":`)
	d.SessionID, d.TurnID, d.ItemID = r.text(`,"sessionId":`), r.text(`,"turnId":`), r.text(`,"itemId":`)
	d.Kind = sessions.ItemKind(r.text(`,"kind":`))
	d.Offset = r.number(`,"offset":`)
	d.Text = r.text(`,"text":`)
	if !r.ok || string(r.rest) != "}" {
		d = DeltaParams{}
		err = json.Unmarshal(params, &d)
	}
	return d, err
}

// A deltaReader reads the members of an object from its beginning. ok is false once a member is not as it is asked for.
type deltaReader struct {
	rest []byte
	ok   bool
}

func (r *deltaReader) skip(mark string) bool {
	if r.ok = r.ok && bytes.HasPrefix(r.rest, []byte(mark)); r.ok {
		r.rest = r.rest[len(mark):]
	}
	return r.ok
}

func (r *deltaReader) text(mark string) string {
	if !r.skip(mark) || len(r.rest) == 0 || r.rest[0] != '"' {
		r.ok = false
		return ""
	}
	end := jsontext.StringEnd(r.rest, 0)
	if r.ok = end > 0 && utf8.Valid(r.rest[:end]) && json.Valid(r.rest[:end]); !r.ok {
		return ""
	}
	quoted := r.rest[:end]
	r.rest = r.rest[end:]
	return jsontext.Unquote(quoted)
}

func (r *deltaReader) number(mark string) int {
	if !r.skip(mark) {
		return 0
	}
	end := max(bytes.IndexByte(r.rest, ','), 0)
	n, err := strconv.ParseUint(string(r.rest[:end]), 10, 62)
	r.ok, r.rest = err == nil && strconv.FormatUint(n, 10) == string(r.rest[:end]), r.rest[end:]
	return int(n)
}
