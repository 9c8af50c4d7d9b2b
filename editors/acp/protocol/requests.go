package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Version is the version of the protocol that cursord speaks.
const Version = 1

// Codes of errors beside those of JSON-RPC.
const (
	CodeAuthRequired     = -32000
	CodeResourceNotFound = -32002
)

// Decode reads what a client has sent into *v. Members of another type than v's are left out.
func Decode(raw json.RawMessage, v any) error {
	if raw == nil {
		return nil
	}
	err := json.Unmarshal(raw, v)
	if other := (*json.UnmarshalTypeError)(nil); errors.As(err, &other) {
		return nil
	}
	return err
}

// A Present tells whether an object is there; {} is, and null, false and [] are not.
type Present bool

func (p *Present) UnmarshalJSON(b []byte) error {
	*p = len(b) > 0 && b[0] == '{'
	return nil
}

// An Implementation names a program.
type Implementation struct {
	Name    string `json:"name"`
	Title   string `json:"title,omitempty"`
	Version string `json:"version"`
}

// InitializeParams are what a client says of itself.
type InitializeParams struct {
	ClientCapabilities ClientCapabilities `json:"clientCapabilities"`
	ClientInfo         Implementation     `json:"clientInfo"`
}

// ClientCapabilities say what a client can do, as far as cursord asks for it.
type ClientCapabilities struct {
	FS struct {
		ReadTextFile  bool `json:"readTextFile"`
		WriteTextFile bool `json:"writeTextFile"`
	} `json:"fs"`
	Session struct {
		ConfigOptions struct {
			Boolean Present `json:"boolean"`
		} `json:"configOptions"`
	} `json:"session"`
	Elicitation struct {
		Form Present `json:"form"`
	} `json:"elicitation"`
}

// InitializeResult is what cursord says of itself.
type InitializeResult struct {
	ProtocolVersion   int               `json:"protocolVersion"`
	AgentCapabilities AgentCapabilities `json:"agentCapabilities"`
	AgentInfo         Implementation    `json:"agentInfo"`
	AuthMethods       []struct{}        `json:"authMethods"` // none: see README.md
}

// AgentCapabilities say what cursord can do.
type AgentCapabilities struct {
	LoadSession         bool                `json:"loadSession"`
	PromptCapabilities  PromptCapabilities  `json:"promptCapabilities"`
	MCPCapabilities     MCPCapabilities     `json:"mcpCapabilities"`
	SessionCapabilities SessionCapabilities `json:"sessionCapabilities"`
	Meta                AgentMeta           `json:"_meta"`
}

// PromptCapabilities are the kinds of content that a prompt may have.
type PromptCapabilities struct {
	Image           bool `json:"image"`
	Audio           bool `json:"audio"`
	EmbeddedContext bool `json:"embeddedContext"`
}

// MCPCapabilities are the kinds of MCP servers that are used.
type MCPCapabilities struct {
	HTTP bool `json:"http"`
	SSE  bool `json:"sse"`
}

// SessionCapabilities are the methods of sessions that there are.
type SessionCapabilities struct {
	List                  struct{} `json:"list"`
	Resume                struct{} `json:"resume"`
	Close                 struct{} `json:"close"`
	Delete                struct{} `json:"delete"`
	AdditionalDirectories struct{} `json:"additionalDirectories"`
}

// AgentMeta announces cursord's own methods.
type AgentMeta struct {
	Cursord struct {
		Methods []string `json:"methods"`
	} `json:"cursord"`
}

// AuthenticateParams are those of authenticate.
type AuthenticateParams struct {
	MethodID string `json:"methodId"`
}

// SessionParams are those of session/new, load and resume, and of the methods that only name a session.
type SessionParams struct {
	SessionID             string      `json:"sessionId"`
	CWD                   string      `json:"cwd"`
	AdditionalDirectories Directories `json:"additionalDirectories"`
}

// Directories are a list of paths. They say where the agent may work, so anything else than a list of strings is no empty list, but for
// null and {}.
type Directories struct {
	Paths []string
	Wrong bool
}

// UnmarshalJSON never fails.
func (d *Directories) UnmarshalJSON(b []byte) error {
	d.Wrong = json.Unmarshal(b, &d.Paths) != nil && string(bytes.Join(bytes.Fields(b), nil)) != "{}"
	return nil
}

// NewResult is the answer to session/new; to session/load and session/resume without SessionID.
type NewResult struct {
	SessionID     string         `json:"sessionId,omitempty"`
	Modes         Modes          `json:"modes"`
	ConfigOptions []ConfigOption `json:"configOptions"`
}

// Modes are the modes of a session.
type Modes struct {
	CurrentModeID  string `json:"currentModeId"`
	AvailableModes []Mode `json:"availableModes"`
}

// A Mode is one of them.
type Mode struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// A ConfigOption is a choice of a session: of type select with Options, or boolean.
type ConfigOption struct {
	ID           string   `json:"id"`
	Name         string   `json:"name"`
	Description  string   `json:"description,omitempty"`
	Category     string   `json:"category,omitempty"`
	Type         string   `json:"type"`
	CurrentValue any      `json:"currentValue"` // a string or a bool
	Options      []Choice `json:"options,omitempty"`
}

// A Choice is a value of a ConfigOption.
type Choice struct {
	Value       string `json:"value"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// SetOptionParams are those of session/set_config_option; Value is a string or a bool.
type SetOptionParams struct {
	SessionID string `json:"sessionId"`
	ConfigID  string `json:"configId"`
	Value     any    `json:"value"`
}

// SetModeParams are those of session/set_mode.
type SetModeParams struct {
	SessionID string `json:"sessionId"`
	ModeID    string `json:"modeId"`
}

// OptionsResult is the answer to session/set_config_option.
type OptionsResult struct {
	ConfigOptions []ConfigOption `json:"configOptions"`
}

// ListParams are those of session/list.
type ListParams struct {
	CWD    string `json:"cwd"`
	Cursor string `json:"cursor"`
}

// ListResult is the answer to session/list.
type ListResult struct {
	Sessions   []SessionInfo `json:"sessions"`
	NextCursor string        `json:"nextCursor,omitempty"`
}

// SessionInfo is an entry of it; UpdatedAt is as RFC 3339 has it.
type SessionInfo struct {
	SessionID string `json:"sessionId"`
	CWD       string `json:"cwd"`
	Title     string `json:"title,omitempty"`
	UpdatedAt string `json:"updatedAt,omitempty"`
}

// PromptParams are those of session/prompt.
type PromptParams struct {
	SessionID string  `json:"sessionId"`
	Prompt    []Block `json:"prompt"`
}

// A Block is a piece of content: text, resource_link, resource or image.
type Block struct {
	Type     string    `json:"type"`
	Text     string    `json:"text"`
	URI      string    `json:"uri"`
	Name     string    `json:"name"`
	Data     string    `json:"data"` // in base64
	MimeType string    `json:"mimeType"`
	Resource *Resource `json:"resource"`
}

// A Resource is embedded in a prompt: Text or Blob, in base64.
type Resource struct {
	URI      string  `json:"uri"`
	MimeType string  `json:"mimeType"`
	Text     *string `json:"text"`
	Blob     *string `json:"blob"`
}

// PromptResult is the answer to session/prompt: StopReason is end_turn or cancelled.
type PromptResult struct {
	StopReason string `json:"stopReason"`
}

// CancelParams are those of $/cancel_request.
type CancelParams struct {
	RequestID json.RawMessage `json:"requestId"`
}

// PermissionParams are those of session/request_permission.
type PermissionParams struct {
	SessionID string             `json:"sessionId"`
	ToolCall  ToolCall           `json:"toolCall"`
	Options   []PermissionOption `json:"options"`
}

// A PermissionOption is an answer that a person may give; Kind is allow_once, allow_always, reject_once or reject_always.
type PermissionOption struct {
	OptionID string `json:"optionId"`
	Name     string `json:"name"`
	Kind     string `json:"kind"`
}

// PermissionResult is what a client answers; Outcome is selected or cancelled.
type PermissionResult struct{ Outcome, OptionID string }

// UnmarshalJSON takes the names of members as they are written only: encoding/json takes "OptionId" for "optionId", and what is no answer
// must be no yes.
func (r *PermissionResult) UnmarshalJSON(b []byte) error {
	var result, outcome map[string]json.RawMessage
	_ = Decode(b, &result)
	_ = Decode(result["outcome"], &outcome)
	_ = Decode(outcome["outcome"], &r.Outcome)
	_ = Decode(outcome["optionId"], &r.OptionID)
	return nil
}

// FormParams are those of elicitation/create, with a form for a person.
type FormParams struct {
	SessionID  string `json:"sessionId"`
	ToolCallID string `json:"toolCallId,omitempty"`
	Mode       string `json:"mode"` // form
	Message    string `json:"message"`
	Schema     Form   `json:"requestedSchema"`
}

// A Form has fields by their names.
type Form struct {
	Type       string           `json:"type"` // object
	Properties map[string]Field `json:"properties"`
	Required   []string         `json:"required,omitempty"`
}

// A Field is a text, or one of OneOf; of the type array, some of Items.
type Field struct {
	Type     string      `json:"type"` // string or array
	Title    string      `json:"title"`
	OneOf    []FormValue `json:"oneOf,omitempty"`
	Items    *FieldItems `json:"items,omitempty"`
	MinItems int         `json:"minItems,omitempty"`
}

// FieldItems are the values of which a Field may have several.
type FieldItems struct {
	AnyOf []FormValue `json:"anyOf"`
}

// A FormValue is a value to choose.
type FormValue struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

// FormResult is what a client answers; Action is accept, decline or cancel.
type FormResult struct {
	Action  string
	content map[string]json.RawMessage
}

// UnmarshalJSON takes the names of members as they are written only, as that of PermissionResult.
func (r *FormResult) UnmarshalJSON(b []byte) error {
	var result map[string]json.RawMessage
	_ = Decode(b, &result)
	_ = Decode(result["action"], &r.Action)
	_ = Decode(result["content"], &r.content)
	return nil
}

// Text returns the text of a field, "" if there is none.
func (r *FormResult) Text(field string) (text string) {
	_ = Decode(r.content[field], &text)
	return text
}

// Texts returns the values of a field that may have several.
func (r *FormResult) Texts(field string) (all []string) {
	_ = Decode(r.content[field], &all)
	return all
}

// WriteParams are those of fs/write_text_file.
type WriteParams struct {
	SessionID string `json:"sessionId"`
	Path      string `json:"path"`
	Content   string `json:"content"`
}

// ReadParams are those of fs/read_text_file.
type ReadParams struct {
	SessionID string `json:"sessionId"`
	Path      string `json:"path"`
}

// ReadResult is the answer to fs/read_text_file.
type ReadResult struct {
	Content *string `json:"content"`
}
