package lsp

import (
	"encoding/json"

	"cursord/rpc"
)

// The types below are LSP's, as far as they are used here.

const (
	source          = "cursord" // of diagnostics, and the section of settings
	syncIncremental = 2

	severityWarning     = 2
	severityInformation = 3

	kindQuickFix = "quickfix"
	kindSource   = "source"
)

type initializeResult struct {
	Capabilities serverCapabilities `json:"capabilities"`
	ServerInfo   rpc.Info           `json:"serverInfo"`
}

type serverCapabilities struct {
	PositionEncoding       encoding           `json:"positionEncoding"`
	TextDocumentSync       syncOptions        `json:"textDocumentSync"`
	HoverProvider          bool               `json:"hoverProvider"`
	CodeActionProvider     codeActionOptions  `json:"codeActionProvider"`
	ExecuteCommandProvider executeOptions     `json:"executeCommandProvider"`
	CompletionProvider     *completionOptions `json:"completionProvider,omitempty"`
	CodeLensProvider       *struct{}          `json:"codeLensProvider,omitempty"`
	InlayHintProvider      *struct{}          `json:"inlayHintProvider,omitempty"`
	DiagnosticProvider     *diagnosticOptions `json:"diagnosticProvider,omitempty"`
	Workspace              workspaceOptions   `json:"workspace"`
}

type syncOptions struct {
	OpenClose bool        `json:"openClose"`
	Change    int         `json:"change"`
	Save      saveOptions `json:"save"`
}

type saveOptions struct {
	IncludeText bool `json:"includeText"`
}

type codeActionOptions struct {
	CodeActionKinds []string `json:"codeActionKinds"`
}

type executeOptions struct {
	Commands []string `json:"commands"`
}

type diagnosticOptions struct {
	Identifier            string `json:"identifier"`
	InterFileDependencies bool   `json:"interFileDependencies"`
	WorkspaceDiagnostics  bool   `json:"workspaceDiagnostics"`
}

type workspaceOptions struct {
	WorkspaceFolders foldersOptions `json:"workspaceFolders"`
}

type foldersOptions struct {
	Supported           bool `json:"supported"`
	ChangeNotifications bool `json:"changeNotifications"`
}

type documentID struct {
	URI     string `json:"uri"`
	Version *int   `json:"version,omitempty"`
}

type documentParams struct {
	TextDocument documentID `json:"textDocument"`
}

type diagnostic struct {
	Range    Range           `json:"range"`
	Severity int             `json:"severity,omitempty"`
	Code     json.RawMessage `json:"code,omitempty"`
	Source   string          `json:"source,omitempty"`
	Message  string          `json:"message"`
}

type publishParams struct {
	URI         string       `json:"uri"`
	Version     *int         `json:"version,omitempty"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type showMessageParams struct {
	Type    int             `json:"type"`
	Message string          `json:"message"`
	Actions []messageAction `json:"actions,omitempty"`
}

type messageAction struct {
	Title string `json:"title"`
}

type showDocumentParams struct {
	URI       string `json:"uri"`
	TakeFocus bool   `json:"takeFocus"`
	Selection *Range `json:"selection,omitempty"`
}

type configurationParams struct {
	Items []configurationItem `json:"items"`
}

type configurationItem struct {
	Section string `json:"section"`
}

type command struct {
	Title     string `json:"title"`
	Command   string `json:"command"`
	Arguments []any  `json:"arguments,omitempty"`
}

type codeAction struct {
	Title       string       `json:"title"`
	Kind        string       `json:"kind,omitempty"`
	Diagnostics []diagnostic `json:"diagnostics,omitempty"`
	IsPreferred bool         `json:"isPreferred,omitempty"`
	Disabled    *disabled    `json:"disabled,omitempty"`
	Command     *command     `json:"command,omitempty"`
}

type disabled struct {
	Reason string `json:"reason"`
}

type textEdit struct {
	Range   Range  `json:"range"`
	NewText string `json:"newText"`
}

// A workspaceEdit has one of the two, as the editor can take them.
type workspaceEdit struct {
	Changes         map[string][]textEdit `json:"changes,omitempty"`
	DocumentChanges []any                 `json:"documentChanges,omitempty"` // documentEdit, resourceOperation
}

type documentEdit struct {
	TextDocument documentID `json:"textDocument"`
	Edits        []textEdit `json:"edits"`
}

type resourceOperation struct {
	Kind   string `json:"kind"` // delete or rename
	URI    string `json:"uri,omitempty"`
	OldURI string `json:"oldUri,omitempty"`
	NewURI string `json:"newUri,omitempty"`
}

type applyEditParams struct {
	Label string         `json:"label"`
	Edit  *workspaceEdit `json:"edit"`
}

type applyEditResult struct {
	Applied       bool   `json:"applied"`
	FailureReason string `json:"failureReason,omitempty"`
}

type markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

type hover struct {
	Contents markup `json:"contents"`
	Range    Range  `json:"range"`
}

type codeLens struct {
	Range   Range   `json:"range"`
	Command command `json:"command"`
}

type inlayHint struct {
	Position    Position `json:"position"`
	Label       string   `json:"label"`
	Tooltip     *markup  `json:"tooltip,omitempty"`
	PaddingLeft bool     `json:"paddingLeft"`
}

type progressParams struct {
	Token string `json:"token"`
	Value any    `json:"value,omitempty"`
}

type progressValue struct {
	Kind        string `json:"kind"` // begin, report or end
	Title       string `json:"title,omitempty"`
	Cancellable bool   `json:"cancellable,omitempty"`
	Message     string `json:"message,omitempty"`
}
