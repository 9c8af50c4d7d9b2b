package lsp

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cursord/daemon"
	"cursord/rpc"
	"cursord/sessions"
)

// The commands of workspace/executeCommand.
const (
	commandAsk        = "cursord.ask"
	commandCompose    = "cursord.compose"
	commandFix        = "cursord.fix"
	commandExplain    = "cursord.explain"
	commandAccept     = "cursord.accept"
	commandAcceptFile = "cursord.acceptFile"
	commandAcceptAll  = "cursord.acceptAll"
	commandAccepted   = "cursord.accepted"
	commandReject     = "cursord.reject"
	commandRejectFile = "cursord.rejectFile"
	commandRejectAll  = "cursord.rejectAll"
	commandUndo       = "cursord.undo"
	commandRedo       = "cursord.redo"
	commandNext       = "cursord.next"
	commandPrev       = "cursord.prev"
	commandDiff       = "cursord.diff"
	commandCancel     = "cursord.cancel"
	commandNew        = "cursord.new"
	commandResume     = "cursord.resume"
	commandTranscript = "cursord.transcript"
	commandTrust      = "cursord.trust"
	commandAllow      = "cursord.allow"
	commandDeny       = "cursord.deny"
	commandStatus     = "cursord.status"
)

// A target is what a command's argument says: all of it is optional, and what it leaves out is where the person was last.
type target struct {
	Workspace  string      `json:"workspace,omitempty"`
	Path       string      `json:"path,omitempty"` // of a file, as people write it
	Line       int         `json:"line,omitempty"` // from 1, as people count
	URI        string      `json:"uri,omitempty"`
	Range      *Range      `json:"range,omitempty"`
	Hunks      []string    `json:"hunks,omitempty"`
	Turn       string      `json:"turn,omitempty"`
	Session    string      `json:"session,omitempty"`
	New        bool        `json:"new,omitempty"` // a session
	Prompt     string      `json:"prompt,omitempty"`
	Mode       string      `json:"mode,omitempty"`
	Model      string      `json:"model,omitempty"`
	Diagnostic *diagnostic `json:"diagnostic,omitempty"`
}

// A commander does a command, or begins to. It returns the command's result.
type commander func(s *Server, t *target) (any, error)

var commands map[string]commander

// The table refers to functions that refer to it.
func init() {
	commands = map[string]commander{
		commandAsk:        (*Server).askCommand,
		commandCompose:    (*Server).composeCommand,
		commandFix:        (*Server).fixCommand,
		commandExplain:    (*Server).explainCommand,
		commandAccept:     deciding(true, atTarget),
		commandAcceptFile: deciding(true, inFile),
		commandAcceptAll:  deciding(true, everywhere),
		commandAccepted:   (*Server).acceptedCommand,
		commandReject:     deciding(false, atTarget),
		commandRejectFile: deciding(false, inFile),
		commandRejectAll:  deciding(false, everywhere),
		commandUndo:       stepping("diff/undo", "took the last decision back", "nothing to undo"),
		commandRedo:       stepping("diff/redo", "made the last decision again", "nothing to redo"),
		commandNext:       func(s *Server, t *target) (any, error) { return s.goTo(t, 1) },
		commandPrev:       func(s *Server, t *target) (any, error) { return s.goTo(t, -1) },
		commandDiff:       (*Server).diffCommand,
		commandCancel:     (*Server).cancelCommand,
		commandNew:        (*Server).newCommand,
		commandResume:     (*Server).resumeCommand,
		commandTranscript: (*Server).transcriptCommand,
		commandTrust:      (*Server).trustCommand,
		commandAllow:      (*Server).trustCommand,
		commandDeny:       (*Server).denyCommand,
		commandStatus:     (*Server).statusCommand,
	}
}

// commandNames returns what an editor is told of, sorted.
func commandNames() (names []string) {
	for name := range commands {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

type executeParams struct {
	Command   string            `json:"command"`
	Arguments []json.RawMessage `json:"arguments,omitempty"`
}

func (s *Server) executeCommand(p *executeParams) (any, error) {
	do := commands[p.Command]
	if do == nil {
		return nil, invalidParams("command", fmt.Sprintf("there is no %q; there are %s", p.Command, strings.Join(commandNames(), ", ")))
	}
	t, err := targetOf(p)
	if err != nil {
		return nil, err
	}
	s.flushAll()
	return do(s, t)
}

// targetOf reads a command's arguments: objects, which add to each other, and words, which are the prompt of one that asks
// and else hunks.
func targetOf(p *executeParams) (*target, error) {
	t := &target{}
	var words []string
	for i, raw := range p.Arguments {
		switch raw = json.RawMessage(strings.TrimSpace(string(raw))); raw[0] {
		case '{':
			if err := rpc.DecodeParams(raw, t); err != nil {
				e := wrong(err)
				return nil, invalidParams(fmt.Sprintf("arguments[%d].%s", i, e.Data.Field), strings.TrimPrefix(e.Message, e.Data.Field+": "))
			}
		case '"':
			var word string
			_ = json.Unmarshal(raw, &word) // it was valid before
			words = append(words, word)
		case 'n':
		default:
			return nil, invalidParams(fmt.Sprintf("arguments[%d]", i), "must be a string or an object")
		}
	}
	switch p.Command {
	case commandAsk, commandCompose:
		if len(words) > 0 {
			t.Prompt = strings.Join(words, " ")
		}
	case commandResume, commandTranscript:
		if len(words) > 0 {
			t.Session = words[0]
		}
	case commandCancel:
		if len(words) > 0 {
			t.Turn = words[0]
		}
	default:
		t.Hunks = append(t.Hunks, words...)
	}
	return t, nil
}

func wrong(err error) *rpc.Error {
	e, ok := err.(*rpc.Error)
	if !ok {
		return &rpc.Error{Message: err.Error()}
	}
	return e
}

// touched is where a person was last, as far as requests tell.
type touched struct {
	uri string
	at  *Range
}

// touch notes where a person is; without a range only the document.
func (s *Server) touch(d *document, at *Range) {
	if d.workspace == nil {
		return
	}
	if at == nil && s.touched.uri == d.uri {
		return
	}
	s.touched = touched{uri: d.uri, at: at}
	if at != nil {
		d.workspace.at = spot{uri: d.uri, line: at.Start.Line}
	}
}

// folderAt returns the folder with a path, nil if there is none.
func (s *Server) folderAt(path string) *workspace {
	for _, w := range s.folders {
		if w.path == path || w.named == path {
			return w
		}
	}
	return nil
}

// folderOf returns the folder that a command is about.
func (s *Server) folderOf(t *target) (*workspace, error) {
	if t.Workspace != "" {
		path, err := daemon.LocalPath(t.Workspace)
		if err == nil {
			if w := s.folderAt(path); w != nil {
				return w, nil
			}
		}
		return nil, invalidParams("workspace", t.Workspace+" is not open here")
	}
	if t.URI != "" {
		if w, _ := s.locate(t.URI); w != nil {
			return w, nil
		}
		if w := s.stateFolder(t.URI); w != nil {
			return w, nil
		}
	}
	if t.Path != "" {
		if w, _ := s.fileOf(t.Path); w != nil {
			return w, nil
		}
	}
	if d := s.docs[s.touched.uri]; d != nil && d.workspace != nil {
		return d.workspace, nil
	}
	if len(s.folders) == 0 {
		return nil, &rpc.Error{Code: codeRequestFailed, Message: "no folder is open: open a file of the project first"}
	}
	return s.folders[len(s.folders)-1], nil
}

// fileOf returns the folder of a file and its path there, of a path as people and editors write it: absolute, below the
// home, or relative to a folder or to where the editor was started.
func (s *Server) fileOf(name string) (*workspace, string) {
	if rest, ok := strings.CutPrefix(name, "~"); ok && (rest == "" || rest[0] == '/' || rest[0] == filepath.Separator) {
		if home, err := os.UserHomeDir(); err == nil {
			name = home + rest
		}
	}
	if strings.HasPrefix(name, "file:") {
		return s.locate(name)
	}
	if filepath.IsAbs(name) {
		return s.locate(daemon.FileURI(name))
	}
	clean := filepath.ToSlash(filepath.Clean(name))
	for _, w := range s.folders {
		if s.docAt(w, clean) != nil || w.diffs[clean] != nil {
			return w, clean
		}
	}
	// An editor that was started in a folder within, or above.
	for _, d := range s.docs {
		if d.workspace != nil && (strings.HasSuffix(d.path, "/"+clean) || strings.HasSuffix(clean, "/"+d.path)) {
			return d.workspace, d.path
		}
	}
	for _, w := range s.folders {
		if _, err := os.Lstat(filepath.Join(w.path, filepath.FromSlash(clean))); err == nil {
			return w, clean
		}
	}
	return nil, ""
}

// spotOf returns the place that a command is about: that of its argument, else where the person was last.
func (s *Server) spotOf(w *workspace, t *target) (spot, error) {
	at := w.at
	switch {
	case t.URI != "":
		at = spot{uri: t.URI}
	case t.Path != "":
		in, file := s.fileOf(t.Path)
		if in == nil {
			return spot{}, invalidParams("path", t.Path+" is in no folder that is open")
		}
		at = spot{uri: s.uriOf(in, file)}
	}
	if t.Line > 0 {
		at.line = t.Line - 1
	} else if t.Range != nil {
		at.line = t.Range.Start.Line
	}
	return at, nil
}

// A chooser returns the hunks that a command is about.
type chooser func(s *Server, w *workspace, t *target) ([]string, error)

// atTarget chooses the hunks that are named, or the one at the place that the command is about.
func atTarget(s *Server, w *workspace, t *target) ([]string, error) {
	if len(t.Hunks) > 0 {
		return t.Hunks, nil
	}
	at, err := s.spotOf(w, t)
	if err != nil {
		return nil, err
	}
	for _, p := range s.placedAt(w, at.uri) {
		if r := p.lineRange(s.client.encoding); r.Start.Line <= at.line && r.End.Line >= at.line {
			return []string{p.hunk.ID}, nil
		}
	}
	return nil, &rpc.Error{Code: codeRequestFailed, Message: "no hunk here: cursord.next goes to one"}
}

func inFile(s *Server, w *workspace, t *target) ([]string, error) {
	file := t.Path
	if d := w.diffs[t.Path]; d == nil {
		at, err := s.spotOf(w, t)
		if err != nil {
			return nil, err
		}
		_, file = s.locate(at.uri)
	}
	d := w.diffs[file]
	if d == nil {
		return nil, &rpc.Error{Code: codeRequestFailed, Message: "nothing to review in this file"}
	}
	return ids(pointers(d.Hunks)), nil
}

func everywhere(_ *Server, w *workspace, _ *target) (all []string, _ error) {
	for _, path := range w.paths() {
		all = append(all, ids(pointers(w.diffs[path].Hunks))...)
	}
	if len(all) == 0 {
		return nil, &rpc.Error{Code: codeRequestFailed, Message: "nothing to review"}
	}
	return all, nil
}

func deciding(accept bool, choose chooser) commander {
	return func(s *Server, t *target) (any, error) {
		w, err := s.folderOf(t)
		if err != nil {
			return nil, err
		}
		chosen, err := choose(s, w, t)
		if err != nil {
			return nil, s.shown(err)
		}
		s.decide(w, accept, chosen)
		return nil, nil
	}
}

// shown also shows an error that a command is answered with: not all editors show those.
func (s *Server) shown(err error) error {
	s.show(levelWarning, "cursord: %s", err.Error())
	return err
}

func (s *Server) newCommand(t *target) (any, error) {
	w, err := s.folderOf(t)
	if err != nil {
		return nil, err
	}
	w.session = ""
	s.show(levelInfo, "cursord: the next prompt begins a new session")
	return nil, nil
}

func (s *Server) cancelCommand(t *target) (any, error) {
	w, err := s.folderOf(t)
	if err != nil {
		return nil, err
	}
	turns := []string{}
	for id := range w.running {
		if t.Turn == "" || t.Turn == id {
			turns = append(turns, id)
		}
	}
	if len(turns) == 0 {
		s.show(levelInfo, "cursord: no turn is running")
	}
	for _, id := range turns {
		s.cancelTurn(id)
	}
	return nil, nil
}

func (s *Server) cancelTurn(id string) {
	call(s, "turn/cancel", rpc.TurnParams{TurnID: id}, func(_ rpc.TurnResult, err error) {
		if err != nil {
			s.complain(err)
		}
	})
}

func (s *Server) statusCommand(t *target) (any, error) {
	w, err := s.folderOf(t)
	if err != nil {
		return nil, err
	}
	title := "a new session"
	if one := w.sessions[w.session]; one != nil {
		title = "session " + cut(one.Title, 60)
	}
	s.show(levelInfo, "cursord: %s, %d turns running, %s to review", title, len(w.running), number(w.hunks(), "hunk"))
	return map[string]any{"workspace": w.path, "session": w.session, "running": len(w.running), "hunks": w.hunks()}, nil
}

func number(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// modeOf returns a mode as the daemon takes it.
func modeOf(name string) *sessions.Mode {
	if name == "" {
		return nil
	}
	mode := sessions.Mode(name)
	return &mode
}
