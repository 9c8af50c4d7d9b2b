package daemon

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
	"cursord/daemon/paths"
	"cursord/sessions"
)

// claimTime bounds the look at what the root's repository claims.
const claimTime = 5 * time.Second

// claims are what the repositories of a workspace name beside what they hold: filters, places elsewhere. They count if
// they stood there before the first turn, or when a person trusted the workspace; an agent can write others.
type claims struct {
	w *workspace

	mu      sync.Mutex
	trusted map[string]bool   // guarded by mu; by hashes
	open    bool              // guarded by mu; no turn has begun yet: what stands there counts
	changed bool              // guarded by mu; trusted is not stored
	tops    map[string]bool   // guarded by mu; repositories that claim something, by their places in the workspace
	refused map[string]string // guarded by mu; what does not count, by hashes, as messages name it
	untold  []string          // guarded by mu; of refused, what no turn has said
}

func newClaims(w *workspace, rec sessions.WorkspaceRecord) *claims {
	c := &claims{
		w: w, trusted: map[string]bool{}, open: rec.Claims == nil && rec.Sessions == 0, tops: map[string]bool{}, refused: map[string]string{},
	}
	for _, hash := range rec.Claims {
		c.trusted[hash] = true
	}
	return c
}

// gitHome is the folder in which askgit makes its own.
func (d *Daemon) gitHome() string { return filepath.Join(d.stateDir, "git") }

func newGuard(w *workspace) *askgit.Guard {
	return &askgit.Guard{Home: w.d.gitHome(), Root: w.root, Trust: w.claims.count, Slow: new(atomic.Bool)}
}

func claimHash(at, claim string) string {
	sum := sha256.Sum256([]byte(at + "\x00" + claim))
	return hex.EncodeToString(sum[:16])
}

// count reports whether a claim counts of the repository at a place in the workspace.
func (c *claims) count(at, claim string) bool {
	hash := claimHash(at, claim)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tops[at] = true
	if c.open && !c.trusted[hash] {
		c.trusted[hash], c.changed = true, true
	}
	if c.trusted[hash] || c.refused[hash] != "" {
		return c.trusted[hash]
	}
	text := cutClaim(claim)
	if at != "." {
		text = "in " + paths.Shown(at) + ": " + text
	}
	c.refused[hash] = text
	if c.untold = append(c.untold, text); c.w.running.Load() == 0 {
		c.w.d.messages.Post(c.topic(), slog.LevelWarn, c.w.root+": "+notUsed(c.untold))
	}
	return false
}

func (c *claims) topic() string { return "claims " + c.w.root }

func cutClaim(claim string) string {
	claim = strings.ToValidUTF8(strings.Join(strings.Fields(claim), " "), "\uFFFD")
	const most = 120
	if utf8.RuneCountInString(claim) > most {
		claim = string([]rune(claim)[:most]) + "…"
	}
	return claim
}

// Take says to a turn, once, what does not count; "" if there is nothing new.
func (c *claims) Take() string {
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
	return "The repository's configuration has come to name programs or places, which cursord does not use: " + text +
		`. Look at them; "cursord trust" (workspace/trust) has them used.`
}

// Look has what the repository of the root claims by now noticed.
func (c *claims) Look() {
	if repo, ok := askgit.Find(c.w.root); ok {
		ctx, cancel := context.WithTimeout(context.Background(), claimTime)
		defer cancel()
		_, _ = c.w.git.Open(ctx, repo) // count hears of it
	}
}

// Close says that a turn begins: what an agent can have written does not count from now on.
func (c *claims) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.open && !c.changed {
		return
	}
	c.open, c.changed = false, false
	op := c.opLocked()
	go c.w.do(func() {
		var com commit
		com.ops = append(com.ops, op)
		c.w.submit(&com)
	})
}

// opLocked stores what is trusted; c.mu must be held.
func (c *claims) opLocked() sessions.Op {
	return sessions.SetClaims{Hashes: slices.Sorted(maps.Keys(c.trusted))}
}

// trust has what stands in the repositories now count as well, or, unless all, nothing. It returns what is to be stored; nil
// if the first turn will do that.
func (c *claims) trust(all bool) sessions.Op {
	c.mu.Lock()
	first := c.open && all
	c.mu.Unlock()
	if first {
		c.Look()
		return nil
	}
	found := map[string]bool{}
	if all {
		found = c.standing()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if all {
		maps.Copy(found, c.trusted)
	}
	c.trusted, c.refused, c.untold, c.open = found, map[string]string{}, nil, false
	c.w.d.messages.Withdraw(c.topic(), "")
	return c.opLocked()
}

// standing returns the hashes of all that the workspace's repositories claim now, as far as it can be found out in time.
func (c *claims) standing() map[string]bool {
	found := map[string]bool{}
	g := *c.w.git
	g.Trust = func(at, claim string) bool {
		found[claimHash(at, claim)] = true
		return true
	}
	c.mu.Lock()
	known := slices.Collect(maps.Keys(c.tops))
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	for _, at := range known {
		if repo, ok := askgit.At(filepath.Join(c.w.root, filepath.FromSlash(at))); ok {
			_, _ = g.Open(ctx, repo) // whatever cannot be opened is of no use to git either
		}
	}
	_, _ = git.List(ctx, c.w.root, &g, false)
	return found
}
