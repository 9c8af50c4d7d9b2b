package rpc

import (
	"slices"

	"cursord/daemon/api"
	"cursord/sessions"
)

// ChatLostItems is how many of the last items ChatLost needs: the notice is the first of its turn.
const ChatLostItems = 1000

// ChatLost reports whether the agent has lost the session's chat: whether the last completed turn, or a turn after it, has the notice that says
// so. page is the end of the session's transcript. Only then does a recap help.
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

// Again returns the files, texts and images that went with a turn's prompt, for a client that sends the prompt again. lost counts texts that the
// daemon has not kept, because they were too long.
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

// AgainOne is Again for one entry of a turn's context. kept is false if the daemon has not kept its text, because it was too long.
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
