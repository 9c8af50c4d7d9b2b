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
	Workspaces    int               `json:"workspaces"` // that are loaded: in use, or a moment ago
	Turns         TurnCounts        `json:"turns"`
	MemoryBytes   uint64            `json:"memoryBytes"` // resident, as ps shows it
	Storage       Storage           `json:"storage"`
	Lag           Lag               `json:"lag"`
	PerWorkspace  []WorkspaceStatus `json:"perWorkspace"`
	Watching      Watching          `json:"watching"`
	Agent         AgentStatus       `json:"agent"`              // as it was last known; nothing is run to find it out
	Messages      []StatusMessage   `json:"messages,omitempty"` // what people should know of the daemon at present
}

// A StatusMessage is something that people should know of the daemon itself.
type StatusMessage struct {
	Level   string `json:"level"` // error, warning, info or debug
	Message string `json:"message"`
}

// A Storage is the state of the database.
type Storage struct {
	Bytes     int64  `json:"bytes"`             // of its file
	FreeBytes int64  `json:"freeBytes"`         // of them, what holds nothing
	Waiting   int    `json:"waiting"`           // changes that are not on disk yet
	Trouble   string `json:"trouble,omitempty"` // why it takes no changes at present
	Damaged   int    `json:"damaged,omitempty"` // objects that were found damaged and set aside, and not forgotten
}

// A Lag says how long it takes until a change is published, in ms.
type Lag struct {
	CommitMS Span `json:"commitMs"` // until it is on disk
	LoopMS   Span `json:"loopMs"`   // from then on, in the workspace's own queue
}

// A Span is one that is measured over and over: the latest, and the longest of the last minute or two.
type Span struct {
	Last  float64 `json:"last"`
	Worst float64 `json:"worst"`
}

// A WorkspaceStatus counts what goes on in a workspace.
type WorkspaceStatus struct {
	Workspace   string `json:"workspace"`
	Running     int    `json:"running"` // turns
	Queued      int    `json:"queued"`
	Background  int    `json:"background,omitempty"` // commands in the background that turns only wait for
	Subscribers int    `json:"subscribers"`
	Waiting     int    `json:"waiting"` // messages in its queues
}

// Watching says how changes by people to files under review are noticed.
type Watching struct {
	Directories int       `json:"directories"`       // that are watched
	Polling     []Polling `json:"polling,omitempty"` // workspaces whose folders cannot be watched
}

// A Polling is a workspace whose files under review are looked at every other second, and why.
type Polling struct {
	Workspace string `json:"workspace"`
	Reason    string `json:"reason"`
}

// TurnCounts counts the turns that have not ended.
type TurnCounts struct {
	Running    int `json:"running"`
	Queued     int `json:"queued"`
	Background int `json:"background,omitempty"` // commands in the background that turns only wait for
}
