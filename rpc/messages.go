package rpc

import (
	"encoding/json"

	"cursord/daemon/api"
	"cursord/sessions"
)

// The types below are the parameters and results of the native protocol's methods. A field without omitempty is
// required in parameters and always there in results. The JSON Schema is made from them.

// ProtocolVersion is the version of the native protocol.
const ProtocolVersion = 1

// InitializeParams are the parameters of initialize. Fields that LSP has beside them are ignored.
type InitializeParams struct {
	ProcessID        *int              `json:"processId,omitempty"`
	ClientInfo       *Info             `json:"clientInfo,omitempty"`
	ProtocolVersion  *int              `json:"protocolVersion,omitempty"` // absent: 1
	WorkspaceFolders []WorkspaceFolder `json:"workspaceFolders,omitempty"`
	Capabilities     json.RawMessage   `json:"capabilities,omitempty"`
	Trace            string            `json:"trace,omitempty"`

	Environment *ClientEnvironment `json:"environment,omitempty"`
}

// Info names a program.
type Info struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

// A WorkspaceFolder is LSP's.
type WorkspaceFolder struct {
	URI  string `json:"uri"`
	Name string `json:"name,omitempty"`
}

// InitializeResult is the answer to initialize.
type InitializeResult struct {
	ProtocolVersion int          `json:"protocolVersion"`
	ServerInfo      Info         `json:"serverInfo"`
	Capabilities    Capabilities `json:"capabilities"`
	Agent           AgentInfo    `json:"agent"`
	AgentEnv        string       `json:"agentEnv,omitempty"` // client: the client is to tell its environment, by agent/environment
}

// Capabilities say what the daemon offers, and its limits.
type Capabilities struct {
	Methods         []string `json:"methods"` // sorted
	Notifications   []string `json:"notifications"`
	Features        []string `json:"features"` // sorted
	MaxMessageBytes int      `json:"maxMessageBytes"`
	MaxPromptBytes  int      `json:"maxPromptBytes"`
}

// AgentInfo is what initialize says of cursor-agent; State is unknown, ready, notInstalled or notLoggedIn.
type AgentInfo struct {
	State   string `json:"state"`
	Version string `json:"version,omitempty"`
}

// None is the type of the parameters of methods that take none.
type None struct{}

// Done is the type of the result of methods that return nothing.
type Done struct{}

// WorkspaceParams name a workspace, by any path or file:// URI of it.
type WorkspaceParams struct {
	Workspace string `json:"workspace"`
}

// SubscribeParams are the parameters of workspace/subscribe.
type SubscribeParams struct {
	Workspace     string  `json:"workspace"`
	After         *uint64 `json:"after,omitempty"`         // absent: a bounded snapshot; 0: everything
	Epoch         string  `json:"epoch,omitempty"`         // the store that After is from
	DeltaInterval int     `json:"deltaInterval,omitempty"` // ms between the deltas of an item; 0: at once
	Diffs         string  `json:"diffs,omitempty"`         // full, the default, or summary
}

// AgentStatusParams are the parameters of agent/status.
type AgentStatusParams struct {
	Workspace string                 `json:"workspace,omitempty"` // whose hooks the answer names
	Compare   *api.EnvironmentDigest `json:"compare,omitempty"`   // what of the daemon's environment is to be compared with the client's
}

// WorkspaceList is the result of workspace/list.
type WorkspaceList struct {
	Workspaces []api.WorkspaceInfo `json:"workspaces"`
}

// TrustParams are the parameters of workspace/trust.
type TrustParams struct {
	Workspace string `json:"workspace"`
	Trusted   bool   `json:"trusted"`
	DryRun    bool   `json:"dryRun,omitempty"` // change nothing
}

// SessionCreateParams are the parameters of session/create.
type SessionCreateParams struct {
	Workspace      string         `json:"workspace"`
	Title          *string        `json:"title,omitempty"`
	Model          *string        `json:"model,omitempty"`
	Mode           *sessions.Mode `json:"mode,omitempty"`
	Isolation      *string        `json:"isolation,omitempty"`
	Driver         *string        `json:"driver,omitempty"`  // print or acp; absent: as the configuration says
	Sandbox        *string        `json:"sandbox,omitempty"` // enabled, disabled, or default: as the configuration says
	AutoReview     *bool          `json:"autoReview,omitempty"`
	AddDirs        *[]string      `json:"addDirs,omitempty"`        // absolute, or relative to the workspace
	AgentSessionID string         `json:"agentSessionId,omitempty"` // a chat that cursor-agent has
}

// SessionListParams are the parameters of session/list.
type SessionListParams struct {
	Workspace string `json:"workspace,omitempty"`
	Limit     int    `json:"limit,omitempty"`
	Cursor    string `json:"cursor,omitempty"` // the nextCursor of the page before
}

// SessionList is the result of session/list, most recently updated first.
type SessionList struct {
	Sessions   []*sessions.Session `json:"sessions"`
	NextCursor string              `json:"nextCursor,omitempty"`
}

// TurnListParams are the parameters of turn/list. With SessionID the result has that session's turns. Otherwise it has, of each session of the
// workspace or of all workspaces, the turns that run or wait, else the latest.
type TurnListParams struct {
	Workspace string `json:"workspace,omitempty"`
	SessionID string `json:"sessionId,omitempty"`
	Active    bool   `json:"active,omitempty"` // only turns that run or wait
	Limit     int    `json:"limit,omitempty"`
	Cursor    string `json:"cursor,omitempty"` // the nextCursor of the page before
}

// TurnList is the result of turn/list.
type TurnList struct {
	Turns      []*sessions.Turn `json:"turns"`
	NextCursor string           `json:"nextCursor,omitempty"`
}

// SessionParams name a session.
type SessionParams struct {
	SessionID string `json:"sessionId"`
}

// SessionReadParams are the parameters of session/read, which answers with an api.Transcript.
type SessionReadParams struct {
	SessionID string `json:"sessionId"`
	Before    string `json:"before,omitempty"` // an item's id; absent: the newest page
	Limit     int    `json:"limit,omitempty"`
}

// SessionExportParams are the parameters of session/export, which answers with an api.SessionExport.
type SessionExportParams struct {
	SessionID string `json:"sessionId"`
	Cursor    string `json:"cursor,omitempty"` // the nextCursor of the part before
}

// SessionCommitsParams are the parameters of session/commits, which answers with api.Commits.
type SessionCommitsParams struct {
	SessionID string   `json:"sessionId"`
	Commits   []string `json:"commits,omitempty"` // names of commits, or their beginnings; absent: all
	Patch     bool     `json:"patch,omitempty"`   // the answer has the mails, too
}

// SessionImportParams are the parameters of session/import, which answers with the session.
type SessionImportParams struct {
	Path      string `json:"path"`                // absolute; of a file on the daemon's machine
	Workspace string `json:"workspace,omitempty"` // absent: the one it was exported from
	NewIDs    bool   `json:"newIds,omitempty"`
}

// SessionForkParams are the parameters of session/fork, which answers with the new session.
type SessionForkParams struct {
	SessionID string  `json:"sessionId"`
	TurnID    string  `json:"turnId,omitempty"` // the last turn to keep; absent: the last that has ended
	Title     *string `json:"title,omitempty"`
	Isolation *string `json:"isolation,omitempty"` // absent: that of the session
}

// SearchParams are the parameters of search.
type SearchParams struct {
	Query     string `json:"query"`
	Workspace string `json:"workspace,omitempty"` // absent: all
	Limit     int    `json:"limit,omitempty"`
	Cursor    string `json:"cursor,omitempty"` // the nextCursor of the page before
}

// SearchResult is the result of search, the newest first.
type SearchResult struct {
	Matches    []sessions.Match `json:"matches"`
	NextCursor string           `json:"nextCursor,omitempty"`
}

// SessionRewindParams are the parameters of session/rewind.
type SessionRewindParams struct {
	SessionID  string `json:"sessionId"`
	TurnID     string `json:"turnId"`
	LastTurnID string `json:"lastTurnId,omitempty"`
	Files      *bool  `json:"files,omitempty"` // absent: true
	DryRun     bool   `json:"dryRun,omitempty"`
}

// WhyParams are the parameters of file/why.
type WhyParams struct {
	Workspace string         `json:"workspace"`
	Path      string         `json:"path"`
	Lines     *api.LineRange `json:"lines,omitempty"` // absent: all
}

// WhyResult is the result of file/why: runs of lines that follow each other without a gap.
type WhyResult struct {
	Lines     []api.WhyLine `json:"lines"`
	Forgotten bool          `json:"forgotten,omitempty"` // a history of the file was dropped
}

// CommitWhyParams are the parameters of commit/why.
type CommitWhyParams struct {
	Workspace string `json:"workspace"`
	Rev       string `json:"rev,omitempty"`   // absent: what the index holds
	Amend     bool   `json:"amend,omitempty"` // the next commit takes the place of HEAD
}

// SessionUpdateParams are the parameters of session/update; what is absent stays.
type SessionUpdateParams struct {
	SessionID  string         `json:"sessionId"`
	Title      *string        `json:"title,omitempty"`
	Model      *string        `json:"model,omitempty"`
	Mode       *sessions.Mode `json:"mode,omitempty"`
	Isolation  *string        `json:"isolation,omitempty"` // another than the session's own only before its first turn
	Driver     *string        `json:"driver,omitempty"`    // the session's own; another is refused
	Sandbox    *string        `json:"sandbox,omitempty"`   // enabled, disabled, or default: as the configuration says
	AutoReview *bool          `json:"autoReview,omitempty"`
	AddDirs    *[]string      `json:"addDirs,omitempty"` // absolute, or relative to the workspace
}

// SessionResult is a session.
type SessionResult struct {
	Session *sessions.Session `json:"session"`
}

// ItemReadParams are the parameters of item/read.
type ItemReadParams struct {
	ItemID string `json:"itemId"`
}

// ItemResult is an item with nothing cut.
type ItemResult struct {
	Item *sessions.Item `json:"item"`
}

// TurnStartParams are the parameters of turn/start.
type TurnStartParams struct {
	Workspace  string         `json:"workspace"`
	SessionID  string         `json:"sessionId,omitempty"` // absent: a new session
	Prompt     string         `json:"prompt"`
	Context    []Context      `json:"context,omitempty"`
	Model      *string        `json:"model,omitempty"`
	Mode       *sessions.Mode `json:"mode,omitempty"`
	Isolation  *string        `json:"isolation,omitempty"` // of the new session, else the session's own
	Driver     *string        `json:"driver,omitempty"`    // likewise: print or acp
	Force      bool           `json:"force,omitempty"`
	Sandbox    *string        `json:"sandbox,omitempty"` // enabled or disabled
	AutoReview *bool          `json:"autoReview,omitempty"`
	AddDirs    *[]string      `json:"addDirs,omitempty"`   // absolute, or relative to the workspace
	Approvals  string         `json:"approvals,omitempty"` // ask, the default, or deny
	TurnID     string         `json:"turnId,omitempty"`    // a name for the turn, so that the call may be repeated
	Recap      bool           `json:"recap,omitempty"`     // begin a fresh chat with the session's transcript as context
	Rewind     string         `json:"rewind,omitempty"`    // take back this turn of the session and the later ones, with their files, in the same step

	Attempt *sessions.Attempt `json:"attempt,omitempty"` // the new session is one of several at the same prompt
}

// A Context is something put into the prompt beside the user's words. Which fields it has depends on Kind: file has
// path and perhaps range; selection path, range and text; diagnostics path and items; text text and perhaps title;
// image path, or data and perhaps mimeType.
type Context struct {
	Kind     string        `json:"kind"`
	Path     *string       `json:"path,omitempty"`
	Range    *api.Range    `json:"range,omitempty"`
	Text     *string       `json:"text,omitempty"`
	Title    string        `json:"title,omitempty"`
	Items    *[]Diagnostic `json:"items,omitempty"`
	Data     *string       `json:"data,omitempty"`     // the bytes of an image, in base64
	MimeType string        `json:"mimeType,omitempty"` // of an image, as the client knows it; the bytes decide
}

// A Diagnostic is LSP's.
type Diagnostic = sessions.Diagnostic

// TurnStartResult is the result of turn/start.
type TurnStartResult struct {
	Session *sessions.Session `json:"session"`
	Turn    *sessions.Turn    `json:"turn"`
	Rewound *api.Rewound      `json:"rewound,omitempty"` // with rewind: what was taken back
}

// TurnSteerParams are the parameters of turn/steer.
type TurnSteerParams struct {
	TurnID string `json:"turnId"`
	Text   string `json:"text"`
}

// TurnSteerResult is the result of turn/steer.
type TurnSteerResult struct {
	Turn         *sessions.Turn `json:"turn"`
	QueuedTurnID string         `json:"queuedTurnId,omitempty"` // a new turn with the text as its prompt, if the running turn did not take it
}

// TurnParams name a turn.
type TurnParams struct {
	TurnID string `json:"turnId"`
}

// TurnResult is a turn.
type TurnResult struct {
	Turn *sessions.Turn `json:"turn"`
}

// ChatList is the result of agent/chats, the latest first.
type ChatList struct {
	Chats []api.Chat `json:"chats"`
}

// ModelList is the result of agent/models.
type ModelList struct {
	Models []api.Model `json:"models"`
}

// DidOpenParams are the parameters of document/didOpen.
type DidOpenParams struct {
	URI     string  `json:"uri"`
	Version int     `json:"version,omitempty"` // grows with each change
	Text    *string `json:"text,omitempty"`    // the whole of it; absent: as on disk
	Saved   bool    `json:"saved,omitempty"`   // the client has no unsaved changes: it has loaded or saved the text
}

// DidChangeParams are the parameters of document/didChange.
type DidChangeParams struct {
	URI     string `json:"uri"`
	Version int    `json:"version"`
	Text    string `json:"text"`            // the whole of it
	Saved   bool   `json:"saved,omitempty"` // as in document/didOpen
}

// DidSaveParams are the parameters of document/didSave.
type DidSaveParams struct {
	URI     string `json:"uri"`
	Version *int   `json:"version,omitempty"`
}

// DidCloseParams are the parameters of document/didClose.
type DidCloseParams struct {
	URI string `json:"uri"`
}

// GCParams are the parameters of daemon/gc, which answers with an api.Collected.
type GCParams struct {
	DryRun bool `json:"dryRun,omitempty"`
}

// BackupParams are the parameters of daemon/backup.
type BackupParams struct {
	Path    string `json:"path"` // absolute; on the daemon's machine
	Replace bool   `json:"replace,omitempty"`
}

// BackupResult is the result of daemon/backup.
type BackupResult struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

// ForgetDamagedResult is the result of daemon/forgetDamaged.
type ForgetDamagedResult struct {
	Forgotten int `json:"forgotten"`
}

// StopParams are the parameters of daemon/stop.
type StopParams struct {
	Force bool `json:"force,omitempty"`
}

// JoinParams are the parameters of daemon/join, which answers with an api.Joined. They say which program the client is; it replaces a daemon of
// an older build.
type JoinParams struct {
	Version string `json:"version"`
	Written int64  `json:"written"` // when the program's file was last changed: nanoseconds since 1970
	Program string `json:"program"` // its absolute path

	Environment *ClientEnvironment `json:"environment,omitempty"`
}
