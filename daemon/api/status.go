package api

import "cursord/sessions"

// A Status is the answer to daemon/status.
type Status struct {
	Version       string            `json:"version"`
	PID           int               `json:"pid"`
	StartedAt     sessions.Time     `json:"startedAt"`
	UptimeSeconds int64             `json:"uptimeSeconds"`
	Socket        string            `json:"socket"`
	Database      string            `json:"database"`
	Clients       int               `json:"clients"`
	Workspaces    int               `json:"workspaces"` // loaded workspaces: in use now, or a moment ago
	Turns         TurnCounts        `json:"turns"`
	MemoryBytes   uint64            `json:"memoryBytes"` // resident memory, as ps shows it
	Storage       Storage           `json:"storage"`
	Lag           Lag               `json:"lag"`
	PerWorkspace  []WorkspaceStatus `json:"perWorkspace"`
	Watching      Watching          `json:"watching"`
	Agent         AgentStatus       `json:"agent"`              // as last known; daemon/status runs no program
	Messages      []StatusMessage   `json:"messages,omitempty"` // present messages about the daemon, for people
}

// A StatusMessage is a message about the daemon itself, for people.
type StatusMessage struct {
	Level   string `json:"level"` // error, warning, info or debug
	Message string `json:"message"`
}

// A Storage is the state of the database.
type Storage struct {
	Bytes     int64  `json:"bytes"`             // size of the database file
	FreeBytes int64  `json:"freeBytes"`         // unused part of Bytes
	Waiting   int    `json:"waiting"`           // changes that are not on disk yet
	Trouble   string `json:"trouble,omitempty"` // why the database takes no changes at present
	Damaged   int    `json:"damaged,omitempty"` // objects that are set aside as damaged and not forgotten yet
}

// A Lag has the times from a change to its publication, in ms.
type Lag struct {
	CommitMS Span `json:"commitMs"` // from the change until it is on disk
	LoopMS   Span `json:"loopMs"`   // from then on, in the queue of the workspace
}

// A Span is a repeated measurement in ms: the latest value, and the greatest of the last one or two minutes.
type Span struct {
	Last  float64 `json:"last"`
	Worst float64 `json:"worst"`
}

// A WorkspaceStatus has the counts of a workspace.
type WorkspaceStatus struct {
	Workspace   string `json:"workspace"`
	Running     int    `json:"running"` // turns that run
	Queued      int    `json:"queued"`
	Background  int    `json:"background,omitempty"` // background commands that turns only wait for
	Subscribers int    `json:"subscribers"`
	Waiting     int    `json:"waiting"` // messages in the workspace's queues
}

// Watching is how the daemon notices people's changes of files under review.
type Watching struct {
	Directories int       `json:"directories"`       // watched directories
	Polling     []Polling `json:"polling,omitempty"` // workspaces whose folders cannot be watched
}

// A Polling is a workspace whose files under review the daemon reads every other second, and the reason.
type Polling struct {
	Workspace string `json:"workspace"`
	Reason    string `json:"reason"`
}

// TurnCounts counts the turns that have not ended.
type TurnCounts struct {
	Running    int `json:"running"`
	Queued     int `json:"queued"`
	Background int `json:"background,omitempty"` // background commands that turns only wait for
}
