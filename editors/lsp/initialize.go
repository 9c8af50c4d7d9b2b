package lsp

import (
	"encoding/json"
	"path/filepath"
	"slices"

	"cursord/daemon/paths"
	"cursord/rpc"
)

// A client is what is known of the editor.
type client struct {
	name     string
	encoding encoding
	settings settings

	pulls           bool // diagnostics, and takes none that are pushed
	refreshesPulled bool
	markdown        bool
	documentChanges bool
	resources       []string // operations on files that an edit may have
	applyEdit       bool
	literalActions  bool
	disabledActions bool
	preferred       bool
	lenses          bool
	refreshesLenses bool
	hints           bool
	refreshesHints  bool
	progress        bool
	questions       bool
	showDocument    bool
	versions        bool // of diagnostics
	configuration   bool
	completes       bool
	registers       bool // what is to be completed, after it has begun
}

// settings are what a person has set for this editor: initializationOptions, or the section cursord of the configuration.
type settings struct {
	Isolation string `json:"isolation,omitempty"` // of new sessions: none or copy; "": as the daemon is set
	Model     string `json:"model,omitempty"`
	Mode      string `json:"mode,omitempty"`

	// What the agent may do, as turn/start has it; what is missing is as the session, or the daemon, is set.
	Sandbox    string   `json:"sandbox,omitempty"`
	AutoReview *bool    `json:"autoReview,omitempty"`
	AddDirs    []string `json:"addDirs,omitempty"`

	// Notify is whether the end of a turn is shown; nil: it is. That one failed is shown all the same.
	Notify *bool `json:"notify,omitempty"`

	// Completion has an editor that takes no registrations ask for completion everywhere.
	Completion bool `json:"completion,omitempty"`
	// Status has the editor told of each folder's turns and changes, by cursord/status.
	Status bool `json:"status,omitempty"`
	// LiveTranscript has the transcript's document changed while a turn runs, and not its file alone.
	LiveTranscript bool `json:"liveTranscript,omitempty"`
}

type initializeParams struct {
	ClientInfo            *rpc.Info             `json:"clientInfo,omitempty"`
	RootURI               string                `json:"rootUri,omitempty"`
	RootPath              string                `json:"rootPath,omitempty"`
	WorkspaceFolders      []rpc.WorkspaceFolder `json:"workspaceFolders,omitempty"`
	Capabilities          json.RawMessage       `json:"capabilities,omitempty"`
	InitializationOptions json.RawMessage       `json:"initializationOptions,omitempty"`
	Trace                 string                `json:"trace,omitempty"`
}

// capabilities are those of an editor that matter here. What has another type than LSP says counts as absent.
type capabilities struct {
	General struct {
		PositionEncodings []encoding
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
		ShowDocument     struct{ Support bool }
	}
}

func (s *Server) initialize(params json.RawMessage) (any, error) {
	if s.phase != fresh {
		return nil, invalidRequest("initialize came before")
	}
	var p initializeParams
	if err := rpc.DecodeParams(params, &p); err != nil {
		return nil, err
	}
	var c capabilities
	// An error says that one of them has another type; the rest is there.
	_ = json.Unmarshal(p.Capabilities, &c)
	s.client = clientOf(&c)
	if p.ClientInfo != nil {
		s.client.name = p.ClientInfo.Name
	}
	_ = json.Unmarshal(p.InitializationOptions, &s.client.settings) // likewise
	s.phase, s.roots = serving, rootsOf(&p)
	return s.client.answer(s.opts.Version), nil
}

// rootsOf returns the folders that the editor works in, as it writes them.
func rootsOf(p *initializeParams) (uris []string) {
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

func clientOf(c *capabilities) client {
	doc, ws := &c.TextDocument, &c.Workspace
	return client{
		encoding:        encodingOf(c.General.PositionEncodings),
		pulls:           doc.Diagnostic != nil && doc.PublishDiagnostics == nil,
		refreshesPulled: ws.Diagnostics.RefreshSupport || ws.Diagnostic.RefreshSupport,
		markdown:        len(doc.Hover.ContentFormat) == 0 || slices.Contains(doc.Hover.ContentFormat, "markdown"),
		documentChanges: ws.WorkspaceEdit.DocumentChanges,
		resources:       ws.WorkspaceEdit.ResourceOperations,
		applyEdit:       ws.ApplyEdit,
		literalActions:  doc.CodeAction.CodeActionLiteralSupport != nil,
		disabledActions: doc.CodeAction.DisabledSupport,
		preferred:       doc.CodeAction.IsPreferredSupport,
		lenses:          doc.CodeLens != nil,
		refreshesLenses: ws.CodeLens.RefreshSupport,
		hints:           doc.InlayHint != nil,
		refreshesHints:  ws.InlayHint.RefreshSupport,
		progress:        c.Window.WorkDoneProgress,
		questions:       c.Window.ShowMessage != nil,
		showDocument:    c.Window.ShowDocument.Support,
		versions:        doc.PublishDiagnostics != nil && doc.PublishDiagnostics.VersionSupport,
		configuration:   ws.Configuration,
		completes:       doc.Completion != nil,
		registers:       doc.Completion != nil && doc.Completion.DynamicRegistration,
	}
}

// encodingOf returns the first encoding of the editor's that is known here; without any it is the one that all have.
func encodingOf(offered []encoding) encoding {
	for _, e := range offered {
		if e == utf8Encoding || e == utf16Encoding || e == utf32Encoding {
			return e
		}
	}
	return utf16Encoding
}

// answer returns the result of initialize.
func (c *client) answer(version string) any {
	offers := serverCapabilities{
		PositionEncoding: c.encoding,
		TextDocumentSync: syncOptions{OpenClose: true, Change: syncIncremental, Save: saveOptions{IncludeText: true}},
		HoverProvider:    true,
		CodeActionProvider: codeActionOptions{
			CodeActionKinds: []string{kindQuickFix, kindSource},
		},
		ExecuteCommandProvider: executeOptions{Commands: commandNames()},
		Workspace:              workspaceOptions{WorkspaceFolders: foldersOptions{Supported: true, ChangeNotifications: true}},
	}
	if c.completes && !c.registers && c.settings.Completion {
		offers.CompletionProvider = &completionOptions{TriggerCharacters: completionTriggers}
	}
	if c.lenses {
		offers.CodeLensProvider = &struct{}{}
	}
	if c.hints {
		offers.InlayHintProvider = &struct{}{}
	}
	if c.pulls {
		offers.DiagnosticProvider = &diagnosticOptions{Identifier: source, WorkspaceDiagnostics: true}
	}
	return initializeResult{Capabilities: offers, ServerInfo: rpc.Info{Name: "cursord", Version: version}}
}

// initialized is when the editor may be asked.
func (s *Server) initialized() {
	if s.phase != serving {
		return
	}
	if s.client.configuration {
		s.askConfiguration()
	}
	if s.client.registers {
		s.registerCompletion()
	}
}

func (s *Server) askConfiguration() {
	params := configurationParams{Items: []configurationItem{{Section: source}}}
	s.ask("workspace/configuration", params, func(m rpc.Message) {
		var answer []settings
		if failedAnswer(m) != nil || json.Unmarshal(m.Result, &answer) != nil || len(answer) == 0 {
			return
		}
		s.configure(answer[0])
	})
}

// configure takes settings; what they leave out stays.
func (s *Server) configure(now settings) {
	if now.Isolation != "" {
		s.client.settings.Isolation = now.Isolation
	}
	if now.Model != "" {
		s.client.settings.Model = now.Model
	}
	if now.Mode != "" {
		s.client.settings.Mode = now.Mode
	}
	if now.Sandbox != "" {
		s.client.settings.Sandbox = now.Sandbox
	}
	if now.AutoReview != nil {
		s.client.settings.AutoReview = now.AutoReview
	}
	if now.AddDirs != nil {
		s.client.settings.AddDirs = now.AddDirs
	}
	if now.Notify != nil {
		s.client.settings.Notify = now.Notify
	}
	if now.LiveTranscript {
		s.client.settings.LiveTranscript = true
	}
}

type configurationChange struct {
	Settings json.RawMessage `json:"settings,omitempty"`
}

func (s *Server) didChangeConfiguration(p *configurationChange) {
	if s.client.configuration {
		s.askConfiguration()
		return
	}
	var all struct{ Cursord settings }
	if json.Unmarshal(p.Settings, &all) == nil {
		s.configure(all.Cursord)
	}
}

func (s *Server) exit() {
	clean := s.phase == shutDown
	s.phase = exited
	s.clean = clean
}
