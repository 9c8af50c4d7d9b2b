package api

import "cursord/sessions"

// An AttemptGroup is the attempts at one prompt that are left, by number.
type AttemptGroup struct {
	Group     string         `json:"group"`
	Prompt    string         `json:"prompt"` // its beginning
	Of        int            `json:"of"`     // how many were asked for; those that were dropped are not listed
	CreatedAt sessions.Time  `json:"createdAt"`
	Attempts  []AttemptState `json:"attempts"`
}

// An AttemptState is one session of a group, and what of it is left to review. The counts of lines and hunks leave out what only checks have
// written.
type AttemptState struct {
	Number    int                 `json:"number"`
	SessionID string              `json:"sessionId"`
	TurnID    string              `json:"turnId"` // the latest turn of its agent
	Status    sessions.TurnStatus `json:"status"`
	Waiting   bool                `json:"waiting,omitempty"` // its agent waits for the answer of a person
	Error     *sessions.TurnError `json:"error,omitempty"`
	Model     *string             `json:"model,omitempty"`
	StartedAt *sessions.Time      `json:"startedAt,omitempty"`
	EndedAt   *sessions.Time      `json:"endedAt,omitempty"`
	Answer    string              `json:"answer"` // the last line of what the agent said, cut
	Files     int                 `json:"files"`
	Hunks     int                 `json:"hunks"`
	Added     int                 `json:"added"`
	Removed   int                 `json:"removed"`
	Beside    int                 `json:"beside,omitempty"` // of the hunks, those where a person has changed the same place
	Check     *AttemptCheck       `json:"check,omitempty"`  // the latest; nil: there was none yet
}

// An AttemptCheck is the run of a command in an attempt's tree.
type AttemptCheck struct {
	TurnID   string              `json:"turnId"`
	Command  string              `json:"command"`
	Status   sessions.TurnStatus `json:"status"` // completed: the exit code was 0
	Error    *sessions.TurnError `json:"error,omitempty"`
	ExitCode *int                `json:"exitCode,omitempty"`
	Output   string              `json:"output"`          // its last lines
	Stale    bool                `json:"stale,omitempty"` // the agent has worked on since
	Hunks    int                 `json:"hunks,omitempty"` // of what it has written
	EndedAt  *sessions.Time      `json:"endedAt,omitempty"`
}
