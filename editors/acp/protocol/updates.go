package protocol

import (
	"bytes"
	"encoding/json"
	"strings"

	"cursord/agent/jsontext"
)

// The kinds of updates of text.
const (
	UserChunk    = "user_message_chunk"
	AgentChunk   = "agent_message_chunk"
	ThoughtChunk = "agent_thought_chunk"
)

// The states of a tool call.
const (
	Pending    = "pending"
	InProgress = "in_progress"
	Completed  = "completed"
	Failed     = "failed"
)

// A ToolCall is the update tool_call with all of a call, or tool_call_update with what has changed. Update is empty where a
// request has it.
type ToolCall struct {
	Update     string          `json:"sessionUpdate,omitempty"`
	ToolCallID string          `json:"toolCallId"`
	Title      string          `json:"title,omitempty"`
	Kind       string          `json:"kind,omitempty"`
	Status     string          `json:"status,omitempty"`
	Content    []Content       `json:"content,omitzero"` // nil: as before; empty: there is none any more
	Locations  []Location      `json:"locations,omitempty"`
	RawInput   json.RawMessage `json:"rawInput,omitempty"`
}

// A Location is a place that a call is about; Path is absolute, Line counts from 1, and 0 is none.
type Location struct {
	Path string `json:"path"`
	Line int    `json:"line,omitempty"`
}

// A Content is a piece of what a call has made: a *Text or a *Diff.
type Content interface{ isContent() }

// A Text is a Content in words; TextContent makes it.
type Text struct {
	Type    string    `json:"type"`
	Content TextBlock `json:"content"`
}

// A TextBlock is text.
type TextBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// A Diff is a change of a file. OldText is nil for a new file.
type Diff struct {
	Type    string  `json:"type"`
	Path    string  `json:"path"` // absolute
	OldText *string `json:"oldText"`
	NewText string  `json:"newText"`
}

func (*Text) isContent() {}
func (*Diff) isContent() {}

// TextContent returns text as content of a tool call.
func TextContent(text string) *Text {
	return &Text{Type: "content", Content: TextBlock{Type: "text", Text: text}}
}

// Fenced returns text as a block of Markdown, with a fence that the text does not contain.
func Fenced(language, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + language + "\n" + strings.TrimRight(text, "\n") + "\n" + fence
}

// A Plan is the update plan: what the agent means to do, complete each time.
type Plan struct {
	Update  string      `json:"sessionUpdate"`
	Entries []PlanEntry `json:"entries"`
}

// A PlanEntry is a line of it: Priority is high, medium or low, Status pending, in_progress or completed.
type PlanEntry struct {
	Content  string `json:"content"`
	Priority string `json:"priority"`
	Status   string `json:"status"`
}

// A UsageUpdate tells how full the agent's context is, in tokens.
type UsageUpdate struct {
	Update string `json:"sessionUpdate"`
	Used   int64  `json:"used"`
	Size   int64  `json:"size"`
}

// A Commands is the update available_commands_update.
type Commands struct {
	Update            string    `json:"sessionUpdate"`
	AvailableCommands []Command `json:"availableCommands"`
}

// A Command is one that begins with a slash.
type Command struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Input       *Input `json:"input,omitempty"`
}

// An Input says what may follow a command.
type Input struct {
	Hint string `json:"hint"`
}

// An InfoUpdate is the update session_info_update.
type InfoUpdate struct {
	Update    string `json:"sessionUpdate"`
	Title     string `json:"title,omitempty"`
	UpdatedAt string `json:"updatedAt,omitempty"`
}

// A ModeUpdate is the update current_mode_update.
type ModeUpdate struct {
	Update        string `json:"sessionUpdate"`
	CurrentModeID string `json:"currentModeId"`
}

// An OptionsUpdate is the update config_option_update.
type OptionsUpdate struct {
	Update        string         `json:"sessionUpdate"`
	ConfigOptions []ConfigOption `json:"configOptions"`
}

// Encode returns v in JSON, on one line, without the escapes that only HTML needs.
func Encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // the structs of this package can be encoded
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Chunk returns the update for a piece of text: kind is UserChunk, AgentChunk or ThoughtChunk, id the message's. There is one
// for each word that an agent says, so it is written without encoding/json.
func Chunk(kind, id, text string) json.RawMessage {
	b := make([]byte, 0, 120+len(id)+len(text)+len(text)/8)
	b = append(append(b, `{"sessionUpdate":"`...), kind...)
	b = jsontext.AppendQuoted(append(b, `","content":{"type":"text","text":`...), text)
	b = jsontext.AppendQuoted(append(b, `},"messageId":`...), id)
	return append(b, '}')
}

// An ImageChunk is the update user_message_chunk with an image.
type ImageChunk struct {
	Update    string     `json:"sessionUpdate"`
	Content   ImageBlock `json:"content"`
	MessageID string     `json:"messageId"`
}

// An ImageBlock is an image; Data is in base64.
type ImageBlock struct {
	Type     string `json:"type"`
	Data     []byte `json:"data"`
	MimeType string `json:"mimeType"`
	URI      string `json:"uri"`
}

// UserImage returns the update for an image of a message of the user's.
func UserImage(id, uri, mimeType string, data []byte) json.RawMessage {
	return Encode(ImageChunk{Update: UserChunk, Content: ImageBlock{Type: "image", Data: data, MimeType: mimeType, URI: uri}, MessageID: id})
}

// AppendUpdate appends the notification session/update to dst.
func AppendUpdate(dst []byte, session string, update json.RawMessage) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":`...)
	dst = jsontext.AppendQuoted(dst, session)
	dst = append(append(dst, `,"update":`...), update...)
	return append(dst, `}}`...)
}
