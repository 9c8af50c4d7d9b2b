package lsp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cursord/editors/lsp/approvals"
	"cursord/editors/lsp/protocol"
	"cursord/rpc"
	"cursord/sessions"
)

// approvalChanged takes the newest form of what an agent asks, and asks the user while it is pending.
func (s *Server) approvalChanged(w *workspace, a *sessions.Approval) {
	if a == nil {
		return
	}
	asked, known := w.approvals[a.ID]
	switch {
	case a.Status == sessions.ApprovalPending && !known:
		w.approvals[a.ID] = openApproval{approval: a}
		s.askApproval(w, a)
	case a.Status != sessions.ApprovalPending && known:
		delete(w.approvals, a.ID)
		if asked.request != "" { // the question has been answered elsewhere, or is no longer one
			delete(s.asked, asked.request)
			s.out.Send("", rpc.AppendRequest(nil, nil, "$/cancelRequest", paramsOf(map[string]json.RawMessage{"id": json.RawMessage(asked.request)})))
		}
	}
}

// An openApproval is a pending approval. request is the id of the question that the editor shows; "" if it shows none.
type openApproval struct {
	approval *sessions.Approval
	request  string
}

func (s *Server) askApproval(w *workspace, a *sessions.Approval) {
	actions := approvals.Actions(a)
	if !s.client.Questions || len(actions) == 0 {
		s.show(levelWarning, "%s\nAnswer with: %s", approvals.Message(a), approvals.Elsewhere(a))
		return
	}
	params := protocol.ShowMessageParams{Type: levelWarning, Message: approvals.Message(a), Actions: actions}
	s.ask("window/showMessageRequest", params, func(m rpc.Message) {
		one, pending := w.approvals[a.ID]
		if !pending {
			return
		}
		one.request = ""
		w.approvals[a.ID] = one
		var chosen *protocol.MessageAction
		option := ""
		if failedAnswer(m) == nil && decode(m.Result, &chosen) && chosen != nil {
			option = approvals.Chosen(a, chosen.Title)
		}
		if option == "" {
			s.show(levelInfo, "cursord: the agent waits for the answer – cursord.approvals asks again, and so does cursord approve %s in a terminal", approvals.Tag(a))
			return
		}
		call(s, "approval/answer", rpc.ApprovalAnswerParams{ApprovalID: a.ID, OptionID: option}, func(_ rpc.ApprovalResult, err error) {
			if err != nil {
				s.complain(err)
			}
		})
	})
	w.approvals[a.ID] = openApproval{a, fmt.Sprintf("%q", fmt.Sprintf("cursord-%d", s.askedID))}
}

// approvalsCommand asks again what is pending and not on the screen.
func (s *Server) approvalsCommand(*target) (any, error) {
	n := 0
	for _, w := range s.folders {
		list := slices.SortedFunc(maps.Values(w.approvals), func(a, b openApproval) int {
			return cmp.Or(a.approval.CreatedAt.Compare(b.approval.CreatedAt.Time), strings.Compare(a.approval.ID, b.approval.ID))
		})
		for _, one := range list {
			if n++; one.request == "" {
				s.askApproval(w, one.approval)
			}
		}
	}
	if n == 0 {
		s.show(levelInfo, "cursord: no agent asks anything")
	}
	return map[string]int{"pending": n}, nil
}
