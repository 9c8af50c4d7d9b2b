package search

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"
)

// A Store is what a search and an Indexer need of a database.
type Store struct {
	// Read calls read with a workspace's index in a transaction, or with nil if it has none.
	Read func(root string, read func(*bolt.Bucket) error) error
	// After returns the objects of a workspace that changed after a seq, in the order of their seqs: about 1 MiB of them, but
	// at least one if there is any.
	After func(root string, seq uint64) ([]Object, error)
	// At returns the object of a workspace that has a seq; ok is false if there is none.
	At func(root string, seq uint64) (o Object, ok bool, err error)
	// Put stores a segment.
	Put func(root string, made Made) error
}

// A Kind is what an object is.
type Kind byte

const (
	Other Kind = iota // it is not searched
	Session
	Turn
	Item
)

// An Object is a stored object in JSON.
type Object struct {
	Kind Kind
	Seq  uint64
	JSON []byte
}

// A searchable is what Search reads of an object.
type searchable struct {
	ID        string `json:"id"`
	SessionID string `json:"sessionId"`
	TurnID    string `json:"turnId"`
	Title     string `json:"title"`
	Prompt    string `json:"prompt"`
	Text      string `json:"text"`
	Kind      string `json:"kind"`
	Status    string `json:"status"`
	Tool      *struct {
		Name    string   `json:"name"`
		Title   string   `json:"title"`
		Output  string   `json:"output"`
		Error   string   `json:"error"`
		Command string   `json:"command"`
		Paths   []string `json:"paths"`
	} `json:"tool"`
	CreatedAt time.Time `json:"createdAt"`
	StartedAt time.Time `json:"startedAt"`
	UpdatedAt time.Time `json:"updatedAt"`
}

// A passage is a text in which Search looks, and what it is.
type passage struct{ in, text string }

// passages returns an object's texts and its time. Running items, notices, diffs and approvals have none.
func passages(e *Object) (of searchable, list []passage, at time.Time) {
	if json.Unmarshal(e.JSON, &of) != nil {
		return of, nil, at
	}
	add := func(in, text string) {
		if text != "" {
			list = append(list, passage{in, text})
		}
	}
	switch e.Kind {
	case Session:
		add("title", of.Title)
		return of, list, of.UpdatedAt
	case Turn:
		add("prompt", of.Prompt)
		return of, list, of.CreatedAt
	}
	if e.Kind != Item || of.Status == "running" || of.Kind == "notice" {
		return of, nil, at
	}
	add("text", of.Text)
	if of.Tool != nil {
		add("command", of.Tool.Command)
		for _, path := range of.Tool.Paths {
			add("path", path)
		}
		if of.Tool.Name == "question" {
			add("text", asked(e, of.Tool.Title, of.Tool.Output))
		}
		if of.Tool.Name == "question" || of.Kind == "plan" {
			add("text", of.Tool.Error)
		}
	}
	return of, list, of.StartedAt
}

// asked returns what an agent has asked, and what was answered. The output has that only if a person was asked; no output has the
// options that were not chosen.
func asked(e *Object, title, output string) string {
	var of struct {
		Tool struct {
			Args struct {
				Title     string `json:"title"`
				Questions []struct {
					Prompt   string `json:"prompt"`
					Question string `json:"question"`
					Options  []struct {
						Label string `json:"label"`
						Name  string `json:"name"`
					} `json:"options"`
				} `json:"questions"`
			} `json:"args"`
		} `json:"tool"`
	}
	_ = json.Unmarshal(e.JSON, &of) // what does not look so is not searched
	args, text := of.Tool.Args, strings.TrimSpace(output)
	if len(args.Questions) == 0 {
		return cmp.Or(text, title)
	}
	has := func(line string) bool {
		text := "\n" + text + "\n"
		return line == "" || strings.Contains(text, "\n"+line+"\n") || strings.Contains(text, "\n→ "+line+"\n")
	}
	lines := []string{args.Title}
	for _, q := range args.Questions {
		lines = append(lines, cmp.Or(q.Prompt, q.Question))
		for _, o := range q.Options {
			lines = append(lines, cmp.Or(o.Label, o.Name))
		}
	}
	for _, line := range lines {
		if line = strings.TrimSpace(line); !has(line) {
			text = strings.TrimSpace(text + "\n" + line)
		}
	}
	return text
}
