package rpc

import (
	"context"

	"cursord/daemon/api"
	"cursord/sessions"
)

// ApprovalListParams are the parameters of approval/list.
type ApprovalListParams struct {
	Workspace string `json:"workspace,omitempty"` // absent: of all workspaces
}

// ApprovalList is the result of approval/list: what is pending, in the order in which it was asked.
type ApprovalList struct {
	Approvals []*sessions.Approval `json:"approvals"`
}

// ApprovalAnswerParams are the parameters of approval/answer.
type ApprovalAnswerParams struct {
	ApprovalID string `json:"approvalId"`
	OptionID   string `json:"optionId"` // "": the text alone is the answer
	Text       string `json:"text,omitempty"`
}

// ApprovalResult is an approval.
type ApprovalResult struct {
	Approval *sessions.Approval `json:"approval"`
}

// ApprovalRuleParams are the parameters of approval/removeRule.
type ApprovalRuleParams struct {
	Workspace string `json:"workspace"`
	N         uint64 `json:"n"`
}

// ApprovalRules is the result of approval/rules and approval/removeRule: the rules that hold now.
type ApprovalRules struct {
	Rules []api.ApprovalRule `json:"rules"`
}

// ApprovalChanged are the parameters of approval/changed.
type ApprovalChanged struct {
	Workspace string             `json:"workspace"`
	Seq       uint64             `json:"seq"`
	Approval  *sessions.Approval `json:"approval"`
}

func (f *face) listApprovals(_ context.Context, p *ApprovalListParams) (ApprovalList, error) {
	list, err := f.d.Approvals(p.Workspace)
	return ApprovalList{nonNil(list)}, err
}

func (f *face) answerApproval(_ context.Context, p *ApprovalAnswerParams) (ApprovalResult, error) {
	a, err := f.d.AnswerApproval(p.ApprovalID, p.OptionID, p.Text)
	return ApprovalResult{a}, err
}

func (f *face) approvalRules(_ context.Context, p *WorkspaceParams) (ApprovalRules, error) {
	list, err := f.d.ApprovalRules(p.Workspace, 0)
	return ApprovalRules{nonNil(list)}, err
}

func (f *face) removeApprovalRule(_ context.Context, p *ApprovalRuleParams) (ApprovalRules, error) {
	if p.N == 0 {
		return ApprovalRules{}, invalid("n", "must be the number of a rule that approval/rules lists")
	}
	list, err := f.d.ApprovalRules(p.Workspace, p.N)
	return ApprovalRules{nonNil(list)}, err
}
