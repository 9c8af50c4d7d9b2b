package acp

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"cursord/agent/plaintext"
	"cursord/editors/acp/protocol"
	"cursord/editors/acp/updates"
	"cursord/rpc"
	"cursord/sessions"
)

// An asked approval is one that the editor's person is asked for.
type askedApproval struct {
	request    string // of the editor
	own        bool   // it is shown as a call of its own, and not as that of the agent
	turn, call string // of a permission, the agent's call that it is about; call may be ""
	linked     bool   // what is shown becomes the agent's call
}

// link has what is shown of an approval become the agent's call.
func (asked *askedApproval) link(at *session, id string) {
	asked.linked = asked.own && at.tell.Shown(asked.turn, asked.call, id)
}

// permissionKinds are ACP's names for the kinds of options. ACP has none for an answer to a question. An editor that allows everything by
// itself takes an option that allows, or the first; one that denies everything takes the one that rejects once. So an answer has the
// kind that neither takes, and a person can choose it all the same.
var permissionKinds = map[sessions.ApprovalOptionKind]string{
	sessions.AllowOnce: "allow_once", sessions.AllowAlways: "allow_always", sessions.RejectOnce: "reject_once",
	sessions.RejectAlways: "reject_always", sessions.AnswerOption: "reject_always",
}

// noAnswer is the option in front of the answers of a question that has no such option itself.
const noAnswer = "cursord:no-answer"

func (s *Server) approvalChanged(n *rpc.ApprovalChanged) {
	s.came(n.Workspace, n.Seq)
	at, a := s.sessions[n.Approval.SessionID], n.Approval
	if at == nil {
		return
	}
	if a.Status == sessions.ApprovalPending && at.misses(a.TurnID) {
		s.catchUp(at, a.TurnID)
	}
	if a.Status != sessions.ApprovalPending {
		at.over[a.ID] = true
	}
	if at.news == nil {
		s.approval(at, a)
	} else if a.Status == sessions.ApprovalPending {
		at.news.asked = append(at.news.asked, a)
	}
}

// askPending asks for what was asked before the session was opened here. What comes later comes as a notification, behind what the agent has
// said before it. If the session was open before, questions that have ended meanwhile are withdrawn; anew says that all are put again. A question
// may have ended since it was listed.
func (s *Server) askPending(at *session, pending []*sessions.Approval, anew bool) {
	pending = slices.DeleteFunc(pending, func(a *sessions.Approval) bool { return at.over[a.ID] })
	for id, asked := range at.approvals {
		waits := slices.ContainsFunc(pending, func(a *sessions.Approval) bool { return a.ID == id })
		if waits && !anew {
			continue
		}
		delete(at.approvals, id)
		s.withdraw(asked.request)
		if !waits && asked.own && (anew || !asked.linked) {
			s.showsQuestion(at, id, protocol.Failed)
		}
	}
	for _, a := range pending {
		if a.SessionID == at.info.ID && a.Seq <= at.folder.seq {
			s.approval(at, a)
		}
	}
}

// showsQuestion tells the state of the call as which a question is shown.
func (s *Server) showsQuestion(at *session, id, status string) {
	s.update(at.info.ID, protocol.Encode(&protocol.ToolCall{Update: "tool_call_update", ToolCallID: id, Status: status}))
}

// approval asks the editor's person, or withdraws the question once it has ended, here or elsewhere.
func (s *Server) approval(at *session, a *sessions.Approval) {
	asked := at.approvals[a.ID]
	if a.Status != sessions.ApprovalPending && a.Kind == sessions.ApprovalPermission {
		switch {
		case a.Allowed():
			at.tell.Settled(a.ItemID, true, "")
		case asked == nil:
			at.tell.Settled(a.ItemID, false, "This was not allowed.")
		}
	}
	switch {
	case a.Status == sessions.ApprovalPending && asked == nil:
		s.askApproval(at, a)
	case a.Status != sessions.ApprovalPending && asked != nil:
		delete(at.approvals, a.ID)
		s.withdraw(asked.request)
		if !asked.own || asked.linked {
			return
		}
		status := protocol.Failed
		if a.Answer != nil {
			if o := a.Option(a.Answer.OptionID); o == nil || !o.Kind.Rejects() {
				status = protocol.Completed
			}
		}
		s.showsQuestion(at, a.ID, status)
	}
}

func (s *Server) askApproval(at *session, a *sessions.Approval) {
	byForm := a.Kind == sessions.ApprovalQuestion && bool(s.client.Elicitation.Form)
	question := protocol.ToolCall{ToolCallID: a.ID, Title: updates.Titled(a.Title, a.Command), Kind: "other", Status: protocol.Pending}
	if !byForm {
		question.Content = aboutApproval(a)
	}
	if question.Title == "" {
		question.Title = "The agent asks"
	}
	if a.Command != "" {
		question.Kind = "execute"
	}
	for _, path := range a.Paths {
		question.Locations = append(question.Locations, protocol.Location{Path: at.tell.Absolute(path)})
	}
	call := at.tell.Waits(a.ItemID)
	asked := &askedApproval{own: call == ""}
	if a.Kind == sessions.ApprovalPermission {
		asked.turn, asked.call = a.TurnID, a.CallID
	}
	if asked.own {
		asked.link(at, a.ID)
		shown := question
		shown.Update = "tool_call"
		s.update(at.info.ID, protocol.Encode(&shown))
	} else {
		question.ToolCallID, question.Kind = call, "" // the editor knows it
		if byForm {
			s.showsQuestion(at, call, protocol.Pending)
		}
	}
	if byForm {
		asked.request = s.ask("elicitation/create", formOf(a, at.info.ID, question.ToolCallID), func(m rpc.Message) { s.answerForm(a, m) })
	} else {
		params := protocol.PermissionParams{SessionID: at.info.ID, ToolCall: question, Options: permissionOptions(a)}
		asked.request = s.ask("session/request_permission", params, func(m rpc.Message) { s.answerApproval(a, m) })
	}
	at.approvals[a.ID] = asked
}

// maxName is how many characters a button of an editor shows at least.
const maxName = 60

// longNames reports whether an answer may not fit its button. Then all answers are in the text, by number.
func longNames(a *sessions.Approval) bool {
	return slices.ContainsFunc(a.Options, func(o sessions.ApprovalOption) bool { return utf8.RuneCountInString(o.Label) > maxName })
}

func permissionOptions(a *sessions.Approval) (options []protocol.PermissionOption) {
	rejects, long := false, longNames(a)
	for i, o := range a.Options {
		kind := permissionKinds[o.Kind]
		if kind == "" {
			continue // of a later build: not to be chosen by mistake
		}
		rejects = rejects || o.Kind.Rejects()
		name := plaintext.InFull(o.Label)
		if long {
			name = fmt.Sprintf("%d: %s", i+1, name)
		}
		options = append(options, protocol.PermissionOption{OptionID: o.ID, Name: name, Kind: kind})
	}
	if !rejects {
		options = slices.Insert(options, 0, protocol.PermissionOption{OptionID: noAnswer, Name: "No answer", Kind: "reject_once"})
	}
	return options
}

// nobodyAnswers is the daemon's option of a question to which a person gives no answer.
const nobodyAnswers = "cursord:none"

// remark says something about an approval that is still asked for.
func (s *Server) remark(a *sessions.Approval, format string, args ...any) {
	if at := s.sessions[a.SessionID]; at != nil && at.approvals[a.ID] != nil {
		s.update(a.SessionID, protocol.Chunk(protocol.AgentChunk, s.remarkID(), fmt.Sprintf(format, args...)))
	}
}

const (
	couldNotAsk = "The agent waits for an answer, and this editor could not ask for it. Answer in a terminal (`cursord approvals` lists the answers, " +
		"`cursord approve %s ANSWER` gives one, `cursord deny %[1]s` none), in another editor, or cancel the prompt.\n"
	noSuchAnswer = "This editor gave an answer that was not offered (%q). It counts as a no.\n"
)

// tagOf returns the id by which people name an approval.
func tagOf(a *sessions.Approval) string {
	tag, _, _ := strings.Cut(a.ID, "-")
	return tag
}

// inWords says how to answer a question that takes a text alone: the request for a permission has no place for one.
const (
	inWords      = "Answer in a terminal: `cursord approve %s --text \"…\"`"
	orInTerminal = "Choose an answer here, or in a terminal: `cursord approve %s ANSWER`"
)

// answerApproval gives the daemon a person's answer. What is not understood is no yes: a person who closes the question says no, and an
// editor that cannot ask leaves it to the other clients.
func (s *Server) answerApproval(a *sessions.Approval, m rpc.Message) {
	var said protocol.PermissionResult
	if m.Error != nil || protocol.Decode(m.Result, &said) != nil {
		s.remark(a, couldNotAsk, tagOf(a))
		return
	}
	params := rpc.ApprovalAnswerParams{ApprovalID: a.ID}
	if said.Outcome == "selected" && a.Option(said.OptionID) != nil {
		params.OptionID = said.OptionID
	} else {
		if said.Outcome != "cancelled" && said.OptionID != noAnswer {
			s.remark(a, noSuchAnswer, plaintext.FirstLine(plaintext.Visible(cmp.Or(said.OptionID, said.Outcome), ""), 60))
		}
		for _, o := range a.Options {
			if o.Kind == sessions.RejectOnce {
				params.OptionID = o.ID
			}
		}
		switch {
		case params.OptionID != "":
		case a.Kind != sessions.ApprovalQuestion:
			return
		default:
			params.OptionID = nobodyAnswers
		}
	}
	call(s, "approval/answer", params, func(rpc.ApprovalResult, error) {}) // an error means that it has ended, which is told
}

// aboutApproval shows a person the whole of what is asked.
func aboutApproval(a *sessions.Approval) (all []protocol.Content) {
	if a.Command != "" {
		all = append(all, protocol.TextContent(protocol.Fenced("sh", plaintext.InFull(a.Command))))
	}
	if detail := plaintext.InFull(a.Detail); detail != "" && a.Kind == sessions.ApprovalPermission { // Markdown could hide a part of it
		language := ""
		if hasDiff(detail) {
			language = "diff"
		}
		all = append(all, protocol.TextContent(protocol.Fenced(language, detail)))
	} else if detail != "" {
		all = append(all, protocol.TextContent(detail))
	}
	if a.Text && len(a.Options) == 0 {
		all = append(all, protocol.TextContent(fmt.Sprintf(inWords, tagOf(a))))
	} else if a.Kind == sessions.ApprovalQuestion { // some editors show the kinds of options alone
		all = append(all, protocol.TextContent(fmt.Sprintf(orInTerminal, tagOf(a))))
	}
	if longNames(a) {
		var b strings.Builder
		for i, o := range a.Options {
			b.WriteString(wrapped(fmt.Sprintf("%d: %s", i+1, plaintext.InFull(o.Label))))
		}
		all = append(all, protocol.TextContent(protocol.Fenced("", b.String())))
	}
	return all
}

// wrapped returns a line as several, since editors do not wrap those of a block.
func wrapped(line string) string {
	const most = 80 // characters
	var b strings.Builder
	column := 0
	for i, word := range strings.Split(line, " ") {
		size := utf8.RuneCountInString(word)
		switch {
		case i > 0 && column+1+size > most:
			b.WriteString("\n   ")
			column = 3
		case i > 0:
			b.WriteByte(' ')
			column++
		}
		for size > most-column { // a word that is longer than a line
			head := string([]rune(word)[:most-column])
			b.WriteString(head + "\n   ")
			word, size, column = word[len(head):], size-(most-column), 3
		}
		b.WriteString(word)
		column += size
	}
	return b.String() + "\n"
}

// hasDiff reports whether a text has a diff in it.
func hasDiff(text string) bool { return strings.Contains(text, "\n+++ ") }
