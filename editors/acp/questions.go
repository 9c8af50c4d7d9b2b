package acp

import (
	"slices"
	"strconv"
	"strings"

	"cursord/agent/plaintext"
	"cursord/editors/acp/protocol"
	"cursord/rpc"
	"cursord/sessions"
)

// This file asks an editor that has forms the agent's questions by these. Nothing answers a form but a person.

// The fields of a form.
const (
	fieldAnswer = "answer" // one of the options, or several
	fieldWords  = "words"  // a text in place of one
)

func formOf(a *sessions.Approval, session, call string) protocol.FormParams {
	p := protocol.FormParams{SessionID: session, ToolCallID: call, Mode: "form", Message: plaintext.InFull(a.Title), Schema: protocol.Form{
		Type: "object", Properties: map[string]protocol.Field{},
	}}
	if detail := plaintext.InFull(a.Detail); detail != "" {
		p.Message += "\n\n" + detail
	}
	var values []protocol.FormValue
	for _, o := range a.Options {
		values = append(values, protocol.FormValue{Const: o.ID, Title: plaintext.InFull(o.Label)})
	}
	answer := protocol.Field{Type: "string", Title: "Answer", OneOf: values}
	if a.Several {
		answer = protocol.Field{Type: "array", Title: "Answers", Items: &protocol.FieldItems{AnyOf: values}, MinItems: 1}
	}
	words := protocol.Field{Type: "string", Title: "Answer"}
	switch fields := p.Schema.Properties; {
	case len(values) == 0:
		fields[fieldWords], p.Schema.Required = words, []string{fieldWords}
	case a.Text && !a.Several:
		words.Title = "In your own words"
		fields[fieldAnswer], fields[fieldWords] = answer, words
	default:
		fields[fieldAnswer], p.Schema.Required = answer, []string{fieldAnswer}
	}
	return p
}

// answerForm gives the daemon what a person has filled in. A form that is closed, or has no answer in it, is none.
func (s *Server) answerForm(a *sessions.Approval, m rpc.Message) {
	var said protocol.FormResult
	if m.Error != nil || protocol.Decode(m.Result, &said) != nil {
		s.remark(a, couldNotAsk, tagOf(a))
		return
	}
	params := rpc.ApprovalAnswerParams{ApprovalID: a.ID, OptionID: nobodyAnswers}
	if said.Action == "accept" {
		answer, words := said.Text(fieldAnswer), ""
		if a.Text {
			words = strings.TrimSpace(said.Text(fieldWords))
		}
		numbers, known := numbersOf(a, said.Texts(fieldAnswer))
		switch {
		case a.Several && known:
			params.OptionID, params.Text = "", numbers
		case !a.Several && a.Option(answer) != nil:
			params.OptionID, params.Text = answer, words
		case !a.Several && answer == "" && words != "":
			params.OptionID, params.Text = "", words
		default:
			s.remark(a, noSuchAnswer, plaintext.FirstLine(plaintext.Visible(answer, ""), 60))
		}
	}
	call(s, "approval/answer", params, func(rpc.ApprovalResult, error) {}) // an error means that it has ended, which is told
}

// numbersOf returns the text that names several options, by their numbers. It returns false if there are none, or one is not known.
func numbersOf(a *sessions.Approval, ids []string) (text string, ok bool) {
	var numbers []string
	for _, id := range ids {
		i := slices.IndexFunc(a.Options, func(o sessions.ApprovalOption) bool { return o.ID == id })
		if i < 0 {
			return "", false
		}
		numbers = append(numbers, strconv.Itoa(i+1))
	}
	return strings.Join(numbers, ", "), len(numbers) > 0
}
