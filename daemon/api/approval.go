package api

import "cursord/sessions"

// An ApprovalRule says which commands the agents of a workspace need not ask for: those that begin with Command, or with Exact that command
// alone. N is the number of
// a rule that is stored with the workspace; a rule of the configuration has none.
type ApprovalRule struct {
	N         uint64         `json:"n,omitempty"`
	Command   string         `json:"command"`
	Exact     bool           `json:"exact,omitempty"`
	Folder    string         `json:"folder,omitempty"` // of the configuration: the folder whose workspaces it is for
	CreatedAt *sessions.Time `json:"createdAt,omitempty"`
}
