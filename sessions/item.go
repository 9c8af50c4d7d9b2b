package sessions

import (
	"encoding/json"
	"strings"
)

// An ItemKind is what an item holds.
type ItemKind string

const (
	ItemAssistant ItemKind = "assistant"
	ItemThinking  ItemKind = "thinking"
	ItemTool      ItemKind = "tool"
	ItemPlan      ItemKind = "plan"
	ItemNotice    ItemKind = "notice"
)

// An ItemStatus is running or how the item ended.
type ItemStatus string

const (
	ItemRunning   ItemStatus = "running"
	ItemCompleted ItemStatus = "completed"
	ItemFailed    ItemStatus = "failed"
	ItemRejected  ItemStatus = "rejected"
	ItemCancelled ItemStatus = "cancelled"
)

// An Item is one piece of a turn: text, reasoning, a tool call, a plan or a notice. Its ID is made of its turn's ID and its
// index (ItemID).
type Item struct {
	ID        string     `json:"id"`
	TurnID    string     `json:"turnId"`
	SessionID string     `json:"sessionId"`
	Workspace string     `json:"workspace"`
	Index     int        `json:"index"`
	Kind      ItemKind   `json:"kind"`
	Status    ItemStatus `json:"status"`
	Text      string     `json:"text,omitempty"`
	Reason    string     `json:"reason,omitempty"` // of a notice that clients may act on: ReasonChatLost
	Tool      *Tool      `json:"tool,omitempty"`
	// Changes is what a call has changed in files, in the order in which it did; it comes when the call has ended.
	Changes     []Change `json:"changes,omitempty"`
	MoreChanges int      `json:"moreChanges,omitempty"` // how many changes are not in Changes, because there were too many
	Waits       bool     `json:"waits,omitempty"`       // a running call has not begun: the agent asks a person for it
	StartedAt   Time     `json:"startedAt"`
	EndedAt     *Time    `json:"endedAt,omitempty"`
	Seq         uint64   `json:"seq"`
}

// A Tool is a tool call as clients see it; rpc/PROTOCOL.md says what is cut.
type Tool struct {
	CallID          string          `json:"callId"`
	Name            string          `json:"name"`
	RawName         string          `json:"rawName"`
	Title           string          `json:"title"`
	Paths           []string        `json:"paths"`
	Command         string          `json:"command,omitempty"`
	ExitCode        *int            `json:"exitCode,omitempty"`
	Output          string          `json:"output,omitempty"`
	OutputTruncated bool            `json:"outputTruncated,omitempty"`
	Error           string          `json:"error,omitempty"`
	Todos           []Todo          `json:"todos,omitzero"` // of a call that sets them, also to none; else nil
	Args            json.RawMessage `json:"args,omitempty"`
	Result          json.RawMessage `json:"result,omitempty"`
}

// A Todo is one entry of the agent's own list.
type Todo struct {
	ID      string `json:"id"`
	Content string `json:"content"`
	Status  string `json:"status"`
}

// ReasonChatLost is the reason of a notice that the agent has lost the chat of the item's session: asking again with a recap helps.
const ReasonChatLost = "chatLost"

// NoticeText returns the text of a notice. If the notice says that the agent has lost the chat, again, unless empty, replaces its advice: it says
// how people ask again in this client.
func (i *Item) NoticeText(again string) string {
	if i.Reason != ReasonChatLost || again == "" {
		return i.Text
	}
	lost, _, _ := strings.Cut(i.Text, "To tell it, ")
	return lost + again
}
