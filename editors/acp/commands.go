package acp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"

	"cursord/agent/plaintext"
	"cursord/daemon/paths"
	"cursord/editors/acp/protocol"
	"cursord/rpc"
	"cursord/sessions"
)

const (
	// titleColumns bounds the title that a command gives a session.
	titleColumns = 60
	// maxListed bounds the sessions of /sessions.
	maxListed = 50
)

// A command is a prompt that begins with a slash and its name. The agent does not get it.
type command struct {
	name, hint, description string

	run func(s *Server, at *session, r *request, rest string)
}

var commands []command

// The table refers to functions that refer to it.
func init() {
	commands = []command{
		{"review", "FILE, HUNK or all", "Show what is left to review of this session, or what you name", (*Server).reviewCommand},
		{"accept", "FILE, HUNK or all", "Accept what this session has changed, or what you name", func(s *Server, at *session, r *request, rest string) {
			s.decideCommand(at, r, rest, "diff/accept")
		}},
		{"reject", "FILE, HUNK or all", "Take back what this session has changed, or what you name", func(s *Server, at *session, r *request, rest string) {
			s.decideCommand(at, r, rest, "diff/reject")
		}},
		{"undo", "", "Take the last decision back", (*Server).undoCommand},
		{"rewind", "how many turns, or a TURN", "Take back the last turn, or more, with what it changed in files", (*Server).rewindCommand},
		{"steer", "TEXT", "Tell the running turn something more", (*Server).steerCommand},
		{"recap", "", "Ask the last prompt again, in a fresh chat that gets the transcript", (*Server).recapCommand},
		{"sessions", "", "List the sessions of this folder", (*Server).sessionsCommand},
	}
}

// commandsUpdate returns the update that offers the commands. It is made when it is needed, because each start of cursord would
// wait for it.
var commandsUpdate = sync.OnceValue(func() json.RawMessage {
	offered := protocol.Commands{Update: "available_commands_update"}
	for _, c := range commands {
		one := protocol.Command{Name: c.name, Description: c.description}
		if c.hint != "" {
			one.Input = &protocol.Input{Hint: c.hint}
		}
		offered.AvailableCommands = append(offered.AvailableCommands, one)
	}
	return protocol.Encode(offered)
})

// commandOf returns the command that a prompt is, and what follows its name; nil if it is one for the agent.
func commandOf(blocks []protocol.Block) (c *command, rest string) {
	if len(blocks) == 0 || blocks[0].Type != "text" {
		return nil, ""
	}
	words := strings.TrimSpace(blocks[0].Text)
	for _, b := range blocks[1:] {
		if b.Type == "text" {
			words += " " + b.Text
		} else {
			words += " " + quoted(named(b))
		}
	}
	name, rest := words, ""
	if i := strings.IndexFunc(words, unicode.IsSpace); i > 0 {
		name, rest = words[:i], strings.TrimSpace(words[i:])
	}
	for i := range commands {
		if strings.EqualFold(name, "/"+commands[i].name) {
			return &commands[i], rest
		}
	}
	return nil, ""
}

// named returns the name that a block stands for which is no text: the path of its file, else a name that no command knows. It is never "",
// because a command without a name may be about everything.
func named(b protocol.Block) string {
	uri := b.URI
	if b.Resource != nil {
		uri = b.Resource.URI
	}
	if path, _, ok := fileOf(uri); ok {
		return path
	}
	return cmp.Or(uri, "the "+b.Type)
}

// runCommand runs a command. Words behind one that takes none are an error: the person expected something of them.
func (s *Server) runCommand(c *command, at *session, r *request, rest string) {
	r.command = "/" + c.name
	if c.hint == "" && rest != "" {
		s.saysError(at, r, invalid("/"+c.name, "takes nothing behind it"))
		return
	}
	if at.info.Turns == 0 && at.info.Title == "" {
		s.title(at, plaintext.FirstLine("/"+c.name+" "+rest, titleColumns))
	}
	at.commands = append(slices.DeleteFunc(at.commands, func(old *request) bool { return old.answered }), r)
	r.endsAsPrompt(at)
	c.run(s, at, r, rest)
}

// title gives a session without a turn a title: that of its first command, or "", which leaves it to the first prompt.
func (s *Server) title(at *session, title string) {
	title = strings.TrimSpace(title)
	call(s, "session/update", rpc.SessionUpdateParams{SessionID: at.info.ID, Title: &title}, func(now rpc.SessionResult, err error) {
		if err == nil && now.Session.Seq > at.info.Seq {
			s.tellSession(at, now.Session)
		}
	})
}

// says answers a command.
func (s *Server) says(at *session, r *request, text string) {
	if !r.answered {
		s.update(at.info.ID, protocol.Chunk(protocol.AgentChunk, s.remarkID(), text))
	}
	r.answer(protocol.PromptResult{StopReason: "end_turn"}, nil)
}

// steerCommand adds a text to the turn that runs. A notice of the turn says what became of it.
func (s *Server) steerCommand(at *session, r *request, rest string) {
	switch {
	case rest == "":
		s.saysError(at, r, invalid("/steer", "needs a text behind it"))
		return
	case at.turn == "":
		s.says(at, r, "No turn runs in this session: send it as a prompt, without `/steer`.")
		return
	}
	call(s, "turn/steer", rpc.TurnSteerParams{TurnID: at.turn, Text: rest}, func(done rpc.TurnSteerResult, err error) {
		switch {
		case err != nil:
			s.saysError(at, r, err)
		case done.QueuedTurnID != "":
			s.says(at, r, "The agent takes nothing while it works: this is the next prompt of the session.")
		default:
			s.says(at, r, "The running turn has been told.")
		}
	})
}

// saysError answers a command that has failed. Its words are for the person who typed the command, so it is no error of the request.
func (s *Server) saysError(at *session, r *request, err error) {
	s.says(at, r, "That did not work: "+failure(err, r.command).Message)
}

// pending calls then with what is left to review in a session's folder.
func (s *Server) pending(at *session, r *request, then func([]*sessions.Diff)) {
	call(s, "diff/list", rpc.DiffParams{Workspace: at.folder.path}, func(list rpc.DiffList, err error) {
		if err != nil {
			s.saysError(at, r, err)
			return
		}
		then(list.Diffs)
	})
}

func ofSession(id string) func(*sessions.Hunk) bool {
	return func(h *sessions.Hunk) bool {
		return slices.ContainsFunc(h.Sources, func(from sessions.Source) bool { return from.SessionID == id })
	}
}

func (s *Server) decideCommand(at *session, r *request, rest, method string) {
	s.pending(at, r, func(diffs []*sessions.Diff) {
		reject := method == "diff/reject"
		words, how := rest, rpc.DecideParams{}
		if named, ok := strings.CutPrefix(rest, "replace "); ok && !reject {
			words, how.Replace = strings.TrimSpace(named), true
		}
		ids, left, others, err := chosen(at, diffs, words, reject)
		switch {
		case err != nil:
			s.saysError(at, r, err)
			return
		case len(ids) == 0 && left+others > 0:
			s.says(at, r, leftText(left, others))
			return
		case len(ids) == 0:
			s.says(at, r, "Nothing to decide.")
			return
		}
		how.Workspace, how.Hunks = at.folder.path, &ids
		s.decide(at, how, method, func(done accepted, err error) {
			if err != nil {
				s.saysError(at, r, err)
				return
			}
			verb := "Accepted"
			if method == "diff/reject" {
				verb = "Rejected"
			}
			text := fmt.Sprintf("%s %s. `/undo` takes that back.\n", verb, plaintext.Count(done.Applied, "hunk"))
			switch {
			case done.Applied == 0:
				text = verb + " nothing.\n"
			case done.decisions > 1:
				text = fmt.Sprintf("%s %s by %d decisions. `/undo` takes back one of these each time, the last one first.\n", verb, plaintext.Count(done.Applied, "hunk"), done.decisions)
			}
			for _, stayed := range done.Skipped {
				text += fmt.Sprintf("\n- `%s` stays to be reviewed: %s\n", stayed.Path, cmp.Or(stayed.Message, string(stayed.Kind)))
			}
			if left+others > 0 {
				text += "\n" + leftText(left, others)
			}
			s.says(at, r, text)
		})
	})
}

func leftText(left, others int) (text string) {
	if left > 0 {
		text = fmt.Sprintf("%s may be your own and stayed: name each by its id to reject it.\n", plaintext.Count(left, "hunk"))
	}
	if others > 0 {
		text += fmt.Sprintf("%s of other sessions there stayed. `/review all` shows them; name each by its id to decide about it.\n", plaintext.Count(others, "hunk"))
	}
	return text
}

// chosen returns the hunks that the words of a command name: those of the session without words, and its own in files. Those that may be a
// person's are only rejected by their ids; left counts the others. others counts those of other sessions in the files that are named.
func chosen(at *session, diffs []*sessions.Diff, words string, reject bool) (ids []string, left, others int, err error) {
	own, foreign := ofSession(at.info.ID), map[string]bool{}
	add := func(d *sessions.Diff, h *sessions.Hunk, named bool) {
		switch {
		case slices.Contains(ids, h.ID):
		case reject && !named && d.MaybeYours()[h.ID]:
			left++
		default:
			ids = append(ids, h.ID)
		}
	}
	fields := fieldsOf(words)
	if slices.ContainsFunc(diffs, func(d *sessions.Diff) bool { return isAt(at, d, words) }) {
		fields = []string{words} // a path with blanks
	}
	if len(fields) == 0 {
		fields = []string{""}
	} else if slices.Contains(fields, "") {
		return nil, 0, 0, invalid(words, "has an empty name: name a file or a hunk, or nothing")
	}
	for _, word := range fields {
		found := false
		for _, d := range diffs {
			for i := range d.Hunks {
				h := &d.Hunks[i]
				named := word == h.ID // not its beginning: 1.2 is not 1.25
				within := word != "" && isAt(at, d, word)
				if named || word == "all" || (word == "" || within) && own(h) {
					add(d, h, named)
				} else if within {
					foreign[h.ID] = true
				}
				found = found || named || within
			}
		}
		if word != "" && word != "all" && !found {
			return nil, 0, 0, invalid(word, "no file and no hunk to review has this name; /review lists them")
		}
	}
	for _, id := range ids {
		delete(foreign, id)
	}
	return ids, left, len(foreign), nil
}

// isAt reports whether a diff is at a path: of the file, or of a folder that has it.
func isAt(at *session, d *sessions.Diff, path string) bool {
	if path = strings.TrimPrefix(path, "@"); path == "" {
		return false
	}
	if local, _, ok := fileOf(path); ok {
		path = local
	}
	for _, folder := range []string{at.cwd, at.folder.path} {
		if inside, ok := paths.Within(folder, path); ok && filepath.IsAbs(path) {
			path = inside
		}
	}
	path = filepath.ToSlash(filepath.Clean(path))
	return path == "." || d.Path == path || strings.HasPrefix(d.Path, path+"/")
}

func (s *Server) undoCommand(at *session, r *request, _ string) {
	s.undo(at, rpc.UndoParams{Workspace: at.folder.path}, func(undone rpc.UndoResult, err error) {
		if err != nil {
			s.saysError(at, r, err)
			return
		}
		what := "the last decision"
		if undone.Step != nil {
			what = fmt.Sprintf("the %s of %s", undone.Step.Kind, plaintext.Count(undone.Step.Hunks, "hunk"))
		}
		s.says(at, r, "Took back "+what+".\n")
	})
}

func (s *Server) sessionsCommand(at *session, r *request, _ string) {
	call(s, "session/list", rpc.SessionListParams{Workspace: at.folder.path, Limit: maxListed}, func(list rpc.SessionList, err error) {
		if err != nil {
			s.saysError(at, r, err)
			return
		}
		var b strings.Builder
		for _, one := range list.Sessions {
			if one.Turns == 0 && one.ID != at.info.ID {
				continue
			}
			title := plaintext.FirstLine(one.Title, 60)
			if title == "" {
				title = "(no title)"
			}
			note := ""
			if one.ID == at.info.ID {
				note = " · this one"
			}
			if one.State != sessions.SessionIdle {
				note += " · " + string(one.State)
			}
			fmt.Fprintf(&b, "- %s · %s · %s · `%s`%s\n", title, one.UpdatedAt.Local().Format("2006-01-02 15:04"), plaintext.Count(one.Turns, "turn"), one.ID, note)
		}
		if list.NextCursor != "" {
			b.WriteString("\nThere are more: `cursord sessions` lists them all.\n")
		}
		s.says(at, r, b.String())
	})
}
