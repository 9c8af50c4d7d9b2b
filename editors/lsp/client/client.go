package client

import (
	"path/filepath"
	"slices"

	"cursord/daemon/paths"
	"cursord/editors/lsp/protocol"
	"cursord/rpc"
)

// A Client is what is known of the editor. The fields below Settings say what the editor can do.
type Client struct {
	Name     string
	Version  string
	Encoding protocol.Encoding
	Settings Settings

	Pulls           bool // it asks for diagnostics and takes none by notifications
	RefreshesPulled bool
	Markdown        bool
	DocumentChanges bool
	Resources       []string // the operations on files that a workspace edit may have: create, rename, delete
	ApplyEdit       bool
	LiteralActions  bool
	DisabledActions bool
	Preferred       bool
	Lenses          bool
	RefreshesLenses bool
	Hints           bool
	RefreshesHints  bool
	Progress        bool
	Questions       bool
	Versions        bool // diagnostics may name the version of their document
	Configuration   bool
	Completes       bool
	Registers       bool // completion may be registered after initialize
}

// Settings are the user's for this editor: from initializationOptions, then from the section cursord of its configuration.
type Settings struct {
	Isolation string `json:"isolation,omitempty"` // of new sessions: none or copy; "": as the daemon is set
	Model     string `json:"model,omitempty"`
	Mode      string `json:"mode,omitempty"`

	// The limits of the agent, as turn/start has them. A missing one is that of the session or of the daemon.
	Sandbox    string   `json:"sandbox,omitempty"`
	AutoReview *bool    `json:"autoReview,omitempty"`
	AddDirs    []string `json:"addDirs,omitempty"`

	// Notify says whether the end of a turn is shown; nil means yes. A failed turn is always shown.
	Notify *bool `json:"notify,omitempty"`

	// Symbols says whether sessions are searched for the editor's list of symbols; nil means yes.
	Symbols *bool `json:"symbols,omitempty"`

	// Completion makes an editor that takes no registrations ask for completion in all documents.
	Completion bool `json:"completion,omitempty"`
	// Status asks for the notification cursord/status, which counts each folder's turns and hunks.
	Status bool `json:"status,omitempty"`
	// LiveTranscript makes an open transcript follow its session by edits of the document; else only its file follows.
	LiveTranscript bool `json:"liveTranscript,omitempty"`
}

// Capabilities are the capabilities of an editor that are used here. One with another type than LSP's counts as absent.
type Capabilities struct {
	General struct {
		PositionEncodings []protocol.Encoding
	}
	TextDocument struct {
		PublishDiagnostics *struct {
			VersionSupport bool
		}
		Diagnostic *struct{}
		Hover      struct {
			ContentFormat []string
		}
		CodeAction struct {
			CodeActionLiteralSupport *struct{}
			DisabledSupport          bool
			IsPreferredSupport       bool
		}
		Completion *struct{ DynamicRegistration bool }
		CodeLens   *struct{}
		InlayHint  *struct{}
	}
	Workspace struct {
		ApplyEdit     bool
		Configuration bool
		WorkspaceEdit struct {
			DocumentChanges    bool
			ResourceOperations []string
		}
		CodeLens    struct{ RefreshSupport bool }
		InlayHint   struct{ RefreshSupport bool }
		Diagnostics struct{ RefreshSupport bool }
		Diagnostic  struct{ RefreshSupport bool }
	}
	Window struct {
		WorkDoneProgress bool
		ShowMessage      *struct{}
	}
}

// New returns the client with these capabilities, without a name and settings.
func New(c *Capabilities) Client {
	doc, ws := &c.TextDocument, &c.Workspace
	return Client{
		Encoding:        encodingOf(c.General.PositionEncodings),
		Pulls:           doc.Diagnostic != nil && doc.PublishDiagnostics == nil,
		RefreshesPulled: ws.Diagnostics.RefreshSupport || ws.Diagnostic.RefreshSupport,
		Markdown:        len(doc.Hover.ContentFormat) == 0 || slices.Contains(doc.Hover.ContentFormat, "markdown"),
		DocumentChanges: ws.WorkspaceEdit.DocumentChanges,
		Resources:       ws.WorkspaceEdit.ResourceOperations,
		ApplyEdit:       ws.ApplyEdit,
		LiteralActions:  doc.CodeAction.CodeActionLiteralSupport != nil,
		DisabledActions: doc.CodeAction.DisabledSupport,
		Preferred:       doc.CodeAction.IsPreferredSupport,
		Lenses:          doc.CodeLens != nil,
		RefreshesLenses: ws.CodeLens.RefreshSupport,
		Hints:           doc.InlayHint != nil,
		RefreshesHints:  ws.InlayHint.RefreshSupport,
		Progress:        c.Window.WorkDoneProgress,
		Questions:       c.Window.ShowMessage != nil,
		Versions:        doc.PublishDiagnostics != nil && doc.PublishDiagnostics.VersionSupport,
		Configuration:   ws.Configuration,
		Completes:       doc.Completion != nil,
		Registers:       doc.Completion != nil && doc.Completion.DynamicRegistration,
	}
}

// encodingOf returns the first encoding that the editor offers and that is known here; without one, UTF-16, which all editors have.
func encodingOf(offered []protocol.Encoding) protocol.Encoding {
	for _, e := range offered {
		if e == protocol.UTF8 || e == protocol.UTF16 || e == protocol.UTF32 {
			return e
		}
	}
	return protocol.UTF16
}

// Answer returns the result of initialize for a server of that version with these commands.
func (c *Client) Answer(version string, commands []string) any {
	sync := protocol.SyncIncremental
	if c.ChangesOvertake() {
		sync = protocol.SyncFull
	}
	offers := protocol.ServerCapabilities{
		PositionEncoding:   c.Encoding,
		TextDocumentSync:   protocol.SyncOptions{OpenClose: true, Change: sync, Save: protocol.SaveOptions{IncludeText: true}},
		HoverProvider:      true,
		DefinitionProvider: true,
		SymbolProvider:     c.Settings.Symbols == nil || *c.Settings.Symbols,
		CodeActionProvider: protocol.CodeActionOptions{
			CodeActionKinds: []string{protocol.KindQuickFix, protocol.KindSource},
		},
		ExecuteCommandProvider: protocol.ExecuteOptions{Commands: commands},
		Workspace:              protocol.WorkspaceOptions{WorkspaceFolders: protocol.FoldersOptions{Supported: true, ChangeNotifications: true}},
	}
	if c.Completes && !c.Registers && c.Settings.Completion {
		offers.CompletionProvider = &protocol.CompletionOptions{TriggerCharacters: CompletionTriggers}
	}
	if c.Lenses {
		offers.CodeLensProvider = &struct{}{}
	}
	if c.Hints {
		offers.InlayHintProvider = &struct{}{}
	}
	if c.Pulls {
		offers.DiagnosticProvider = &protocol.DiagnosticOptions{Identifier: protocol.Source, WorkspaceDiagnostics: true}
	}
	return protocol.InitializeResult{Capabilities: offers, ServerInfo: rpc.Info{Name: "cursord", Version: version}}
}

// RootsOf returns the URIs of the folders in which the editor works, as the editor writes them.
func RootsOf(p *protocol.InitializeParams) (uris []string) {
	for _, f := range p.WorkspaceFolders {
		uris = append(uris, f.URI)
	}
	if len(uris) == 0 && p.RootURI != "" {
		uris = append(uris, p.RootURI)
	}
	if len(uris) == 0 && filepath.IsAbs(p.RootPath) {
		uris = append(uris, paths.URI(p.RootPath))
	}
	return uris
}

// Update takes newer settings; those that they leave out stay.
func (s *Settings) Update(now Settings) {
	if now.Isolation != "" {
		s.Isolation = now.Isolation
	}
	if now.Model != "" {
		s.Model = now.Model
	}
	if now.Mode != "" {
		s.Mode = now.Mode
	}
	if now.Sandbox != "" {
		s.Sandbox = now.Sandbox
	}
	if now.AutoReview != nil {
		s.AutoReview = now.AutoReview
	}
	if now.AddDirs != nil {
		s.AddDirs = now.AddDirs
	}
	if now.Notify != nil {
		s.Notify = now.Notify
	}
	if now.Symbols != nil {
		s.Symbols = now.Symbols
	}
	if now.LiveTranscript {
		s.LiveTranscript = true
	}
}

// CompletionTriggers are the characters behind which an editor asks for completion.
var CompletionTriggers = []string{"@", "/", ":"}
