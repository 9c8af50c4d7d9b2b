package rpc

import (
	"slices"

	"cursord/daemon/api"
	"cursord/sessions"
)

// ChatLostItems is how many of the last items ChatLost needs: the notice is the first of its turn.
const ChatLostItems = 1000

// ChatLost reports whether the last turn that has come to a good end, or one since, began without the chat of the session; page is the end of its
// transcript. Only then does a recap help.
func ChatLost(page *api.Transcript) bool {
	for _, t := range slices.Backward(page.Turns) {
		if slices.ContainsFunc(page.Items, func(it *sessions.Item) bool { return it.TurnID == t.ID && it.Reason == sessions.ReasonChatLost }) {
			return true
		}
		if t.Status == sessions.TurnCompleted {
			return false
		}
	}
	return false
}

// Again returns what went with a turn's prompt, to go with a prompt once more. lost counts texts that were too long to be kept.
func Again(t *sessions.Turn) (context []Context, lost int) {
	for i := range t.Context {
		if one, kept := AgainOne(&t.Context[i]); kept {
			context = append(context, one)
		} else {
			lost++
		}
	}
	for i := range t.Images {
		context = append(context, Context{Kind: "image", Path: &t.Images[i]})
	}
	return context, lost
}

// AgainOne is Again for one of a turn's context; it returns false if its text was too long to be kept.
func AgainOne(s *sessions.Sent) (again Context, kept bool) {
	if (s.Kind == "text" || s.Kind == "selection") && s.Text == nil {
		return again, false
	}
	again = Context{Kind: s.Kind, Range: s.Range, Text: s.Text, Title: s.Title}
	if s.Path != "" {
		again.Path = &s.Path
	}
	if s.Kind == "diagnostics" {
		again.Items = &s.Items
	}
	return again, true
}
