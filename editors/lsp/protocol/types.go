package protocol

import (
	"encoding/json"

	"cursord/daemon/api"
	"cursord/rpc"
)

// Positions and ranges of LSP are also the daemon's.
type (
	Position = api.Position
	Range    = api.Range
)

const (
	Source          = "cursord" // of diagnostics, and the section of settings
	SyncFull        = 1
	SyncIncremental = 2

	SeverityWarning     = 2
	SeverityInformation = 3

	KindQuickFix = "quickfix"
	KindSource   = "source"
)

type InitializeResult struct {
	Capabilities ServerCapabilities `json:"capabilities"`
	ServerInfo   rpc.Info           `json:"serverInfo"`
}

type ServerCapabilities struct {
	PositionEncoding       Encoding           `json:"positionEncoding"`
	TextDocumentSync       SyncOptions        `json:"textDocumentSync"`
	HoverProvider          bool               `json:"hoverProvider"`
	CodeActionProvider     CodeActionOptions  `json:"codeActionProvider"`
	ExecuteCommandProvider ExecuteOptions     `json:"executeCommandProvider"`
	CompletionProvider     *CompletionOptions `json:"completionProvider,omitempty"`
	DefinitionProvider     bool               `json:"definitionProvider"`
	SymbolProvider         bool               `json:"workspaceSymbolProvider,omitempty"`
	CodeLensProvider       *struct{}          `json:"codeLensProvider,omitempty"`
	InlayHintProvider      *struct{}          `json:"inlayHintProvider,omitempty"`
	DiagnosticProvider     *DiagnosticOptions `json:"diagnosticProvider,omitempty"`
	Workspace              WorkspaceOptions   `json:"workspace"`
}

type SyncOptions struct {
	OpenClose bool        `json:"openClose"`
	Change    int         `json:"change"`
	Save      SaveOptions `json:"save"`
}

type SaveOptions struct {
	IncludeText bool `json:"includeText"`
}

type CodeActionOptions struct {
	CodeActionKinds []string `json:"codeActionKinds"`
}

type ExecuteOptions struct {
	Commands []string `json:"commands"`
}

type DiagnosticOptions struct {
	Identifier            string `json:"identifier"`
	InterFileDependencies bool   `json:"interFileDependencies"`
	WorkspaceDiagnostics  bool   `json:"workspaceDiagnostics"`
}

type WorkspaceOptions struct {
	WorkspaceFolders FoldersOptions `json:"workspaceFolders"`
}

type FoldersOptions struct {
	Supported           bool `json:"supported"`
	ChangeNotifications bool `json:"changeNotifications"`
}

type DocumentID struct {
	URI     string `json:"uri"`
	Version *int   `json:"version,omitempty"`
}

type DocumentParams struct {
	TextDocument DocumentID `json:"textDocument"`
}

type Diagnostic struct {
	Range    Range           `json:"range"`
	Severity int             `json:"severity,omitempty"`
	Code     json.RawMessage `json:"code,omitempty"`
	Source   string          `json:"source,omitempty"`
	Message  string          `json:"message"`
}

type PublishParams struct {
	URI         string       `json:"uri"`
	Version     *int         `json:"version,omitempty"`
	Diagnostics []Diagnostic `json:"diagnostics"`
}

type ShowMessageParams struct {
	Type    int             `json:"type"`
	Message string          `json:"message"`
	Actions []MessageAction `json:"actions,omitempty"`
}

type MessageAction struct {
	Title string `json:"title"`
}

type ShowDocumentParams struct {
	URI       string `json:"uri"`
	TakeFocus bool   `json:"takeFocus"`
	Selection *Range `json:"selection,omitempty"`
}

type ConfigurationParams struct {
	Items []ConfigurationItem `json:"items"`
}

type ConfigurationItem struct {
	Section string `json:"section"`
}

type Command struct {
	Title     string `json:"title"`
	Command   string `json:"command"`
	Arguments []any  `json:"arguments,omitempty"`
}

type CodeAction struct {
	Title       string       `json:"title"`
	Kind        string       `json:"kind,omitempty"`
	Diagnostics []Diagnostic `json:"diagnostics,omitempty"`
	IsPreferred bool         `json:"isPreferred,omitempty"`
	Disabled    *Disabled    `json:"disabled,omitempty"`
	Command     *Command     `json:"command,omitempty"`
}

type Disabled struct {
	Reason string `json:"reason"`
}

type TextEdit struct {
	Range   Range  `json:"range"`
	NewText string `json:"newText"`
}

// A workspaceEdit has one of the two, as the editor can take them.
type WorkspaceEdit struct {
	Changes         map[string][]TextEdit `json:"changes,omitempty"`
	DocumentChanges []any                 `json:"documentChanges,omitempty"` // documentEdit, resourceOperation
}

type DocumentEdit struct {
	TextDocument DocumentID `json:"textDocument"`
	Edits        []TextEdit `json:"edits"`
}

type ResourceOperation struct {
	Kind   string `json:"kind"` // delete or rename
	URI    string `json:"uri,omitempty"`
	OldURI string `json:"oldUri,omitempty"`
	NewURI string `json:"newUri,omitempty"`
}

type ApplyEditParams struct {
	Label string         `json:"label"`
	Edit  *WorkspaceEdit `json:"edit"`
}

type ApplyEditResult struct {
	Applied       bool   `json:"applied"`
	FailureReason string `json:"failureReason,omitempty"`
}

type Markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

type Hover struct {
	Contents Markup `json:"contents"`
	Range    *Range `json:"range,omitempty"`
}

type DefinitionParams struct {
	TextDocument DocumentID `json:"textDocument"`
	Position     Position   `json:"position"`
}

type Location struct {
	URI   string `json:"uri"`
	Range Range  `json:"range"`
}

type SymbolParams struct {
	Query string `json:"query"`
}

type Symbol struct {
	Name          string   `json:"name"`
	Kind          int      `json:"kind"`
	Location      Location `json:"location"`
	ContainerName string   `json:"containerName,omitempty"`
}

type CodeLens struct {
	Range   Range   `json:"range"`
	Command Command `json:"command"`
}

type InlayHint struct {
	Position    Position `json:"position"`
	Label       string   `json:"label"`
	Tooltip     *Markup  `json:"tooltip,omitempty"`
	PaddingLeft bool     `json:"paddingLeft"`
}

type ProgressParams struct {
	Token string `json:"token"`
	Value any    `json:"value,omitempty"`
}

type ProgressValue struct {
	Kind        string `json:"kind"` // begin, report or end
	Title       string `json:"title,omitempty"`
	Cancellable bool   `json:"cancellable,omitempty"`
	Message     string `json:"message,omitempty"`
}

type CompletionOptions struct {
	TriggerCharacters []string `json:"triggerCharacters"`
}

type RegistrationParams struct {
	Registrations []Registration `json:"registrations"`
}

type Registration struct {
	ID              string `json:"id"`
	Method          string `json:"method"`
	RegisterOptions any    `json:"registerOptions"`
}

type DocumentFilter struct {
	Scheme  string `json:"scheme"`
	Pattern string `json:"pattern"`
}

type RegisteredCompletion struct {
	DocumentSelector  []DocumentFilter `json:"documentSelector"`
	TriggerCharacters []string         `json:"triggerCharacters"`
}

type CompletionParams struct {
	TextDocument DocumentID `json:"textDocument"`
	Position     Position   `json:"position"`
}

type CompletionList struct {
	IsIncomplete bool             `json:"isIncomplete"`
	Items        []CompletionItem `json:"items"`
}

type CompletionItem struct {
	Label    string   `json:"label"`
	Kind     int      `json:"kind"`
	Detail   string   `json:"detail,omitempty"`
	SortText string   `json:"sortText"`
	TextEdit TextEdit `json:"textEdit"`
}

type HoverParams struct {
	TextDocument DocumentID `json:"textDocument"`
	Position     Position   `json:"position"`
}

type InlayHintParams struct {
	TextDocument DocumentID `json:"textDocument"`
	Range        Range      `json:"range"`
}

type CodeActionParams struct {
	TextDocument DocumentID `json:"textDocument"`
	Range        Range      `json:"range"`
	Context      struct {
		Diagnostics json.RawMessage `json:"diagnostics,omitempty"`
		Only        []string        `json:"only,omitempty"`
		TriggerKind int             `json:"triggerKind,omitempty"`
	} `json:"context,omitempty"`
}

type DidOpenParams struct {
	TextDocument struct {
		URI     string `json:"uri"`
		Version int    `json:"version"`
		Text    string `json:"text"`
	} `json:"textDocument"`
}

type DidChangeParams struct {
	TextDocument struct {
		URI     string `json:"uri"`
		Version *int   `json:"version,omitempty"`
	} `json:"textDocument"`
	ContentChanges []struct {
		Range *Range `json:"range,omitempty"`
		Text  string `json:"text"`
	} `json:"contentChanges"`
}

type DidSaveParams struct {
	TextDocument DocumentID `json:"textDocument"`
	Text         *string    `json:"text,omitempty"`
}

type WatchedFilesParams struct {
	Changes []struct {
		URI string `json:"uri"`
	} `json:"changes"`
}

type DocumentReport struct {
	Kind  string       `json:"kind"`
	Items []Diagnostic `json:"items"`
}

type WorkspaceReport struct {
	Items []WorkspaceDocumentReport `json:"items"`
}

type WorkspaceDocumentReport struct {
	Kind    string       `json:"kind"`
	URI     string       `json:"uri"`
	Version *int         `json:"version"`
	Items   []Diagnostic `json:"items"`
}

type ExecuteParams struct {
	Command   string            `json:"command"`
	Arguments []json.RawMessage `json:"arguments,omitempty"`
}

type CancelProgressParams struct {
	Token string `json:"token"`
}

type FoldersChange struct {
	Event struct {
		Added   []rpc.WorkspaceFolder `json:"added,omitempty"`
		Removed []rpc.WorkspaceFolder `json:"removed,omitempty"`
	} `json:"event"`
}

type InitializeParams struct {
	ClientInfo            *rpc.Info             `json:"clientInfo,omitempty"`
	RootURI               string                `json:"rootUri,omitempty"`
	RootPath              string                `json:"rootPath,omitempty"`
	WorkspaceFolders      []rpc.WorkspaceFolder `json:"workspaceFolders,omitempty"`
	Capabilities          json.RawMessage       `json:"capabilities,omitempty"`
	InitializationOptions json.RawMessage       `json:"initializationOptions,omitempty"`
	Trace                 string                `json:"trace,omitempty"`
}

type ConfigurationChange struct {
	Settings json.RawMessage `json:"settings,omitempty"`
}
