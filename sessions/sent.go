package sessions

// A Sent is something that went with a prompt beside its images, as a client gave it: a client that sends the prompt anew sends
// it again.
type Sent struct {
	Kind  string       `json:"kind"` // file, selection, diagnostics or text
	Path  string       `json:"path,omitempty"`
	Range *Range       `json:"range,omitempty"`
	Text  *string      `json:"text,omitempty"` // of a selection or a text; nil if it was too long to be kept
	Title string       `json:"title,omitempty"`
	Items []Diagnostic `json:"items,omitempty"`
}

// A Range is LSP's: lines and characters from 0, the end exclusive.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// A Position is LSP's.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// A Diagnostic is one message about a file, in LSP's terms.
type Diagnostic struct {
	Range    Range  `json:"range"`
	Severity int    `json:"severity,omitempty"` // from 1, error, to 4, hint; absent: 1
	Message  string `json:"message"`
	Source   string `json:"source,omitempty"`
}
