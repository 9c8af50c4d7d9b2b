package diffs

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWholeFileStories plays stories like those of TestCases in a file "a". A content may begin with a mode, and links begin
// with "@". "moves PATH" is a move by the agent, "mine PATH" one by the user; hunks are decided by position.
func TestWholeFileStories(t *testing.T) {
	for _, c := range []struct{ name, base, steps, now, path, kind, hunks string }{
		{"mode", `644:a\n`, `agent 755:a\n`, `755:a\n`, ``, `mode 644 755`, `file`},
		{"mode accepted", `644:a\n`, `agent 755:a\n; accept`, `755:a\n`, ``, `modified`, ``},
		{"mode rejected", `644:a\n`, `agent 755:a\n; reject`, `644:a\n`, ``, `modified`, ``},
		{"mode rejected, undone", `644:a\n`, `agent 755:a\n; reject; undo`, `755:a\n`, ``, `mode 644 755`, `file`},
		{"mode rejected, undone, redone", `644:a\n`, `agent 755:a\n; reject; undo; redo`, `644:a\n`, ``, `modified`, ``},
		{"mode accepted, undone after an edit", `644:a\n`, `agent 755:a\n; accept; user 755:b\n; undo`, `755:b\n`, ``, `mode 644 755`, `file`},
		{"mode beside lines", `644:a\nb\n`, `agent 755:a\nc\n`, `755:a\nc\n`, ``, `mode 644 755`, `file; text`},
		{"mode rejected beside lines", `644:a\nb\n`, `agent 755:a\nc\n; reject 0`, `644:a\nc\n`, ``, `modified`, `text`},
		{"lines rejected beside the mode", `644:a\nb\n`, `agent 755:a\nc\n; reject 1`, `755:a\nb\n`, ``, `mode 644 755`, `file`},
		{"mode restored by the user", `644:a\n`, `agent 755:a\n; user 644:a\n`, `644:a\n`, ``, `modified`, ``},
		{"mode restored by the agent", `644:a\n`, `agent 755:a\n; tool 644:a\n`, `644:a\n`, ``, `modified`, ``},
		{"the user's mode is final", `644:a\n`, `agent 755:a\n; user 600:a\n`, `600:a\n`, ``, `modified`, ``},
		{"the user's edit leaves the mode pending", `644:a\n`, `agent 755:a\n; user 755:a\nb\n`, `755:a\nb\n`, ``, `mode 644 755`, `file`},
		{"mode of a file whose mode was not known", `a\n`, `agent 755:a\nb\n; reject`, `755:a\n`, ``, `modified`, ``},
		{"mode of a created file", `-`, `agent 755:a\n`, `755:a\n`, ``, `created`, `file`},
		{"mode of a created file, changed", `-`, `agent 644:a\n; tool 755:a\n`, `755:a\n`, ``, `created`, `file`},
		{"mode after a creation was accepted", `-`, `agent 644:a\n; accept; tool 755:a\n; reject`, `644:a\n`, ``, `modified`, ``},
		{"deletion rejected", `755:a\n`, `agent -; reject`, `755:a\n`, ``, `modified`, ``},
		{"made again with another mode", `755:a\n`, `agent -; tool 644:a\n`, `644:a\n`, ``, `mode 755 644`, `file`},
		{"mode of a binary file", `644:\x00`, `agent 755:\x00`, `755:\x00`, ``, `mode 644 755`, `file`},
		{"mode and content of a binary file", `644:\x00`, `agent 755:\x00\x00; reject 1`, `755:\x00`, ``, `mode 644 755`, `file`},

		{"link created", `-`, `agent @x`, `@x`, ``, `symlink  x`, `file`},
		{"link created, rejected", `-`, `agent @x; reject`, `-`, ``, `modified`, ``},
		{"link created, rejected, undone", `-`, `agent @x; reject; undo`, `@x`, ``, `symlink  x`, `file`},
		{"link created, accepted", `-`, `agent @x; accept`, `@x`, ``, `symlink x x`, ``},
		{"link deleted", `@x`, `agent -`, `-`, ``, `symlink x `, `file`},
		{"link deleted, rejected", `@x`, `agent -; reject`, `@x`, ``, `symlink x x`, ``},
		{"link turned elsewhere, rejected", `@x`, `agent @y; reject`, `@x`, ``, `symlink x x`, ``},
		{"link turned back", `@x`, `agent @y; tool @x`, `@x`, ``, `symlink x x`, ``},
		{"link turned elsewhere by the user", `@x`, `user @y`, `@y`, ``, `symlink y y`, ``},
		{"file to link", `755:a\n`, `agent @x`, `@x`, ``, `symlink  x`, `file`},
		{"file to link, rejected", `755:a\n`, `agent @x; reject`, `755:a\n`, ``, `modified`, ``},
		{"file to link, rejected, undone", `755:a\n`, `agent @x; reject; undo`, `@x`, ``, `symlink  x`, `file`},
		{"file with lines to link", `755:a\n`, `agent 755:a\nb\n; tool @x; reject`, `755:a\n`, ``, `modified`, ``},
		{"link to file", `@x`, `agent 644:a\n`, `644:a\n`, ``, `symlink x `, `file`},
		{"link to file, rejected", `@x`, `agent 644:a\n; reject`, `@x`, ``, `symlink x x`, ``},
		{"link to file, accepted, then edited", `@x`, `agent 644:a\n; accept; tool 644:b\n`, `644:b\n`, ``, `modified`, `text`},
		{"link to binary", `@x`, `agent 644:\x00`, `644:\x00`, ``, `binary x `, `file`},
		{"file with the text of the link", `@x`, `agent 644:x`, `644:x`, ``, `symlink x `, `file`},

		{"moved", `a\n`, `moves b`, `a\n`, `a b`, `renamed`, `file`},
		{"moved, rejected", `a\n`, `moves b; reject`, `a\n`, `a`, `modified`, ``},
		{"moved, accepted", `a\n`, `moves b; accept`, `a\n`, `b`, `modified`, ``},
		{"moved, rejected, undone", `a\n`, `moves b; reject; undo`, `a\n`, `a b`, `renamed`, `file`},
		{"moved, accepted, undone after an edit", `a\n`, `moves b; accept; user b\n; undo`, `b\n`, `a b`, `renamed`, `file`},
		{"moved twice", `a\n`, `moves b; moves c`, `a\n`, `a c`, `renamed`, `file`},
		{"moved back", `a\n`, `moves b; moves a`, `a\n`, `a`, `modified`, ``},
		{"moved on by the user", `a\n`, `moves b; mine c`, `a\n`, `a c`, `renamed`, `file`},
		{"moved on by the user, rejected", `a\n`, `moves b; mine c; reject`, `a\n`, `a`, `modified`, ``},
		{"moved on by the user, accepted", `a\n`, `moves b; mine c; accept`, `a\n`, `c`, `modified`, ``},
		{"moved on by the user, undone", `a\n`, `moves b; mine c; reject; undo`, `a\n`, `a c`, `renamed`, `file`},
		{"moved back by the user", `a\n`, `moves b; mine a`, `a\n`, `a`, `modified`, ``},
		{"moved and edited", `a\nb\n`, `moves b; agent a\nc\n; reject 1`, `a\nb\n`, `a b`, `renamed`, `file`},
		{"moved, edited, mode", `644:a\nb\n`, `moves b; agent 755:a\nc\n`, `755:a\nc\n`, `a b`, `renamed 644 755`, `file; file; text`},
		{"moved by the user with lines pending", `a\nb\n`, `agent a\nc\n; mine b`, `a\nc\n`, `b`, `modified`, `text`},
		{"created and moved", `-`, `agent a\n; moves b`, `a\n`, `b`, `created`, `file`},
		{"moved and deleted", `a\n`, `moves b; agent -`, `-`, `a b`, `deleted`, `file`},
		{"moved and deleted, rejected", `a\n`, `moves b; agent -; reject`, `a\n`, `a`, `modified`, ``},
		{"moved, deleted, made again", `a\n`, `moves b; agent -; tool a\n`, `a\n`, `a b`, `renamed`, `file`},
		{"moved, deleted by the user", `a\n`, `moves b; user -`, `-`, `b`, `modified`, ``},
		{"link moved", `@x`, `moves b`, `@x`, `a b`, `renamed x x`, `file`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := New(moded(t, c.base))
			var done Decision
			at := "a"
			for step := range strings.SplitSeq(c.steps, "; ") {
				verb, rest, _ := strings.Cut(step, " ")
				switch verb {
				case "agent", "tool", "user":
					r.Observe(moded(t, rest), agents[verb])
				case "moves", "mine":
					r.Rename(at, rest, map[string]*Source{"moves": agents["agent"]}[verb])
					at = rest
				case "accept", "reject":
					var ids []uint64
					for i, h := range r.Hunks() {
						if rest == "" || rest == fmt.Sprint(i) {
							ids = append(ids, h.ID)
						}
					}
					var err error
					done, err = decide(t, r, ids, verb == "accept", nil)
					require.NoError(t, err)
				case "undo":
					require.NoError(t, r.Undo(done))
				case "redo":
					_, err := r.Redo(done)
					require.NoError(t, err)
				}
			}
			require.Equal(t, moded(t, c.now), normal(r.Current()))
			path := r.Path()
			if old := r.OldPath(); old != "" {
				path = old + " " + path
			}
			require.Equal(t, c.path, path)
			kind := string(r.Kind())
			old, now := r.Baseline(), r.Current()
			if old.Target != "" || now.Target != "" {
				kind += " " + old.Target + " " + now.Target
			}
			if old.Exists && now.Exists && old.Mode != now.Mode && old.Target == "" && now.Target == "" {
				kind += fmt.Sprintf(" %o %o", old.Mode, now.Mode)
			}
			require.Equal(t, c.kind, kind)
			var hunks []string
			for _, h := range r.Hunks() {
				hunks = append(hunks, h.Kind)
			}
			require.Equal(t, c.hunks, strings.Join(hunks, "; "))
			wellFormed(t, r)
			checkHunks(t, r)
			reloaded(t, r)
		})
	}
}

// moded reads a content that may begin with a mode.
func moded(t *testing.T, s string) Content {
	if target, link := strings.CutPrefix(s, "@"); link {
		return Content{Exists: true, Target: target}
	}
	mode, text, found := strings.Cut(s, ":")
	if !found {
		return unquoted(t, s)
	}
	c := unquoted(t, text)
	bits, err := strconv.ParseUint(mode, 8, 32)
	require.NoError(t, err)
	c.Mode = uint32(bits)
	return c
}

func TestUserTurnsTheAgentsLink(t *testing.T) {
	r := New(Content{})
	r.Observe(moded(t, "@x"), agents["agent"])
	r.Observe(moded(t, "@mine"), nil)
	require.ErrorIs(t, r.Decidable(r.Hunks()[0].ID, false), ErrUserChanged)
}

func TestAttrsAreSettledWithoutLinks(t *testing.T) {
	r := New(moded(t, `644:a\nb\n`))
	r.Rename("a", "b", agents["agent"])
	r.Observe(moded(t, `755:a\nc\n`), agents["tool"])
	hunks := r.Hunks()
	require.Len(t, hunks, 3)
	require.Equal(t, []Source{*agents["agent"]}, hunks[0].Sources)
	require.Equal(t, []Source{*agents["tool"]}, hunks[1].Sources)
	prints := r.Fingerprints()
	require.Len(t, prints, 3)
	r.Observe(moded(t, `700:a\nc\n`), agents["tool"])
	require.Equal(t, prints[hunks[0].ID], r.Fingerprint(hunks[0].ID))
	require.NotEqual(t, prints[hunks[1].ID], r.Fingerprint(hunks[1].ID), "the mode is another one")
	require.Equal(t, prints[hunks[2].ID], r.Fingerprint(hunks[2].ID))
	for _, h := range hunks {
		require.Empty(t, h.Linked)
	}
}
