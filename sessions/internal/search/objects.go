package search

import (
	"cmp"
	"encoding/json"
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
		if of.Tool.Name == "question" { // the output has the questions with the answers
			add("text", cmp.Or(of.Tool.Output, of.Tool.Title))
		}
		if of.Tool.Name == "question" || of.Kind == "plan" {
			add("text", of.Tool.Error)
		}
	}
	return of, list, of.StartedAt
}
