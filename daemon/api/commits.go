package api

import "cursord/sessions"

// Commits are what the agent of an isolated session has committed in its copy, and the workspace's repository does not have.
type Commits struct {
	Commits []Commit `json:"commits"`         // the oldest first
	Patch   []byte   `json:"patch,omitempty"` // mails for git am, one for each commit that is no merge; only if it was asked for
}

// A Commit is one of an agent.
type Commit struct {
	ID      string         `json:"id"`      // its object name
	Parents []string       `json:"parents"` // object names; with two or more it is a merge, and Patch has no mail of it
	Author  string         `json:"author"`  // Name <address>
	At      *sessions.Time `json:"at"`      // when it was written
	Subject string         `json:"subject"`
}
