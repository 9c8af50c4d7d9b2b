// Package claims decides which claims of a workspace's repositories count. A claim is anything in a repository's settings
// besides data: a filter, or a place elsewhere. An agent can write claims, so a claim counts only if it was there before the
// workspace's first turn, or when a person last trusted the workspace. All others are refused. The notice of the next turn
// names them; while no turn runs, a status message does. Any goroutine may use Claims.
package claims

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"cursord/daemon/internal/askgit"
	"cursord/daemon/internal/git"
	"cursord/daemon/internal/statusmessages"
	"cursord/daemon/paths"
	"cursord/sessions"
)

// claimTime bounds the search for the claims of the root's repository.
const claimTime = 5 * time.Second

// A Setup is the surroundings of Claims: their workspace, and its git.
type Setup struct {
	Root     string // the workspace's folder
	Home     string // the folder in which askgit makes its own folders
	Messages *statusmessages.List
	Running  func() bool       // reports whether a turn runs
	Store    func(sessions.Op) // stores the op soon, and does not wait
}

// Claims are the claims of one workspace.
type Claims struct {
	Setup
	git *askgit.Guard

	mu      sync.Mutex
	trusted map[string]bool   // guarded by mu; by hash
	open    bool              // guarded by mu; no turn has begun yet, so all claims count
	changed bool              // guarded by mu; trusted has changes that are not stored
	tops    map[string]bool   // guarded by mu; repositories with claims, by their places in the workspace
	refused map[string]string // guarded by mu; texts for messages about refused claims, by hash
	untold  []string          // guarded by mu; refused claims that no turn's notice has named yet
}

// New returns Claims that trust the claims in rec.
func New(s Setup, rec sessions.WorkspaceRecord) *Claims {
	c := &Claims{
		Setup: s, trusted: map[string]bool{}, open: rec.Claims == nil && rec.Sessions == 0, tops: map[string]bool{}, refused: map[string]string{},
	}
	c.git = &askgit.Guard{Home: s.Home, Root: s.Root, Trust: c.count, Slow: new(atomic.Bool)}
	for _, hash := range rec.Claims {
		c.trusted[hash] = true
	}
	return c
}

// Git returns the guard for questions to git about the workspace: with it, only claims that count take effect.
func (c *Claims) Git() *askgit.Guard { return c.git }

func hashOf(at, claim string) string {
	sum := sha256.Sum256([]byte(at + "\x00" + claim))
	return hex.EncodeToString(sum[:16])
}

// count reports whether a claim of the repository at a place in the workspace counts.
func (c *Claims) count(at, claim string) bool {
	hash := hashOf(at, claim)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tops[at] = true
	if c.open && !c.trusted[hash] {
		c.trusted[hash], c.changed = true, true
	}
	if c.trusted[hash] || c.refused[hash] != "" {
		return c.trusted[hash]
	}
	text := textOf(at, claim)
	c.refused[hash] = text
	if c.untold = append(c.untold, text); !c.Running() {
		c.Messages.Post(c.topic(), c.Root, slog.LevelWarn, c.Root+": "+notUsed(c.untold))
	}
	return false
}

// textOf returns a claim for people.
func textOf(at, claim string) string {
	if at == "." {
		return short(claim)
	}
	return "in " + paths.Shown(at) + ": " + short(claim)
}

func (c *Claims) topic() string { return "claims " + c.Root }

func short(claim string) string {
	claim = strings.ToValidUTF8(strings.Join(strings.Fields(claim), " "), "\uFFFD")
	const most = 120
	if utf8.RuneCountInString(claim) > most {
		claim = string([]rune(claim)[:most]) + "…"
	}
	return claim
}

// Take returns the refused claims that no notice has named yet, for a turn's notice; "" if there are none.
func (c *Claims) Take() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.untold
	c.untold = nil
	return notUsed(list)
}

func notUsed(list []string) string {
	if len(list) == 0 {
		return ""
	}
	const most = 5
	text := strings.Join(list[:min(len(list), most)], "; ")
	if len(list) > most {
		text += "; …"
	}
	return "The repository's configuration now names programs or places, which cursord does not use: " + text +
		`. Look at them; "cursord trust" (workspace/trust) makes cursord use them.`
}

// Look reads the present claims of the root's repository.
func (c *Claims) Look() {
	if repo, ok := askgit.Find(c.Root); ok {
		ctx, cancel := context.WithTimeout(context.Background(), claimTime)
		defer cancel()
		_, _ = c.git.Open(ctx, repo) // Open calls count for each claim
	}
}

// Close marks the beginning of a turn: claims that appear later may be an agent's and do not count.
func (c *Claims) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.open && !c.changed {
		return
	}
	c.open, c.changed = false, false
	c.Store(c.opLocked())
}

// opLocked returns the op that stores which claims count; c.mu must be held.
func (c *Claims) opLocked() sessions.Op {
	return sessions.SetClaims{Hashes: slices.Sorted(maps.Keys(c.trusted))}
}

// Trust takes in a person's decision about the workspace. If it is trusted, all present claims count; otherwise none does.
// It returns the op to store with that decision; nil if the first turn stores it.
func (c *Claims) Trust(trusted bool) sessions.Op {
	c.mu.Lock()
	first := c.open && trusted
	c.mu.Unlock()
	if first {
		c.Look()
		return nil
	}
	found := map[string]bool{}
	if trusted {
		for hash := range c.standing() {
			found[hash] = true
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if trusted {
		maps.Copy(found, c.trusted)
	}
	c.trusted, c.refused, c.untold, c.open = found, map[string]string{}, nil, false
	c.Messages.Withdraw(c.topic(), "")
	return c.opLocked()
}

// Unused returns, for people, the present claims that count only after Trust(true), at most mostUnused.
func (c *Claims) Unused() []string {
	c.mu.Lock()
	open, trusted := c.open, maps.Clone(c.trusted)
	c.mu.Unlock()
	if open {
		return nil
	}
	var texts []string
	for hash, text := range c.standing() {
		if !trusted[hash] {
			texts = append(texts, text)
		}
	}
	slices.Sort(texts)
	return texts[:min(len(texts), mostUnused)]
}

const mostUnused = 100

// standing returns the present claims of the workspace's repositories, as far as they are found within a second: texts for
// people, by hash.
func (c *Claims) standing() map[string]string {
	found := map[string]string{}
	g := *c.git
	g.Trust = func(at, claim string) bool {
		found[hashOf(at, claim)] = textOf(at, claim)
		return true
	}
	c.mu.Lock()
	known := slices.Collect(maps.Keys(c.tops))
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	for _, at := range known {
		if repo, ok := askgit.At(filepath.Join(c.Root, filepath.FromSlash(at))); ok {
			_, _ = g.Open(ctx, repo) // a repository that cannot be opened is of no use to git either
		}
	}
	_, _ = git.List(ctx, c.Root, &g, nil)
	return found
}
