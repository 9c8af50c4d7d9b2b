package rpc

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"cursord/agent"
	"cursord/daemon/config"
	"cursord/daemon/paths"
	"cursord/daemon/pictures"
	"cursord/sessions"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
)

// TestExamplesOfTheProtocol runs the examples of PROTOCOL.md in order on one connection to a daemon. Lines that begin with
// --> are sent; for a line that begins with <-- messages are read until one has everything in the line. The workspace
// replaces /home/me/app; "…" stands for anything, and "$name" for its value at its first place.
func TestExamplesOfTheProtocol(t *testing.T) {
	page, err := os.ReadFile("PROTOCOL.md")
	require.NoError(t, err)
	w := newWorld(t)
	p := w.dial(FramingLines)
	require.NoError(t, p.conn.SetDeadline(time.Now().Add(patience)))
	names := map[string]any{}
	examples := strings.Split(string(page), "```jsonc\n")[1:]
	require.NotEmpty(t, examples)
	for _, example := range examples {
		example, _, _ = strings.Cut(example, "```")
		for _, step := range steps(example) {
			text := strings.ReplaceAll(step[4:], "/home/me/app", w.workspace)
			if step[:3] == "-->" {
				for name, value := range names {
					raw, err := json.Marshal(value)
					require.NoError(t, err)
					text = strings.ReplaceAll(text, `"`+name+`"`, string(raw))
				}
				p.send(strings.Join(strings.Fields(text), " "))
				continue
			}
			var want any
			require.NoError(t, json.Unmarshal([]byte(text), &want), "%s", text)
			var seen []string
			for {
				body, err := p.reader.Read()
				require.NoError(t, err, "waiting for\n%s\nafter\n%s", text, strings.Join(seen, "\n"))
				var got any
				require.NoError(t, json.Unmarshal(body, &got))
				if shows(want, got, names, false) {
					shows(want, got, names, true)
					break
				}
				seen = append(seen, string(body))
			}
		}
	}
}

// steps joins the lines of an example that belong to one message.
func steps(example string) []string {
	var list []string
	for line := range strings.Lines(example) {
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "//"):
		case strings.HasPrefix(line, "-->"), strings.HasPrefix(line, "<--"):
			list = append(list, line)
		default:
			list[len(list)-1] += line
		}
	}
	return list
}

// shows reports whether got has everything in want; with bind it notes the values of names.
func shows(want, got any, names map[string]any, bind bool) bool {
	switch want := want.(type) {
	case string:
		if want == "…" {
			return true
		}
		if !strings.HasPrefix(want, "$") {
			return want == got
		}
		if known, ok := names[want]; ok {
			return reflect.DeepEqual(known, got)
		}
		if bind {
			names[want] = got
		}
		return true
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok {
			return false
		}
		for name, value := range want {
			member, there := object[name]
			if there && name == "waiting" {
				continue // the number of commits that wait for the disk at this moment
			}
			if !there || !shows(value, member, names, bind) {
				return false
			}
		}
		return true
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return false
		}
		for i := range want {
			if !shows(want[i], list[i], names, bind) {
				return false
			}
		}
		return true
	default:
		return reflect.DeepEqual(want, got)
	}
}

// TestProtocolNamesEverything: the page names every method and notification, and every member of the schema.
func TestProtocolNamesEverything(t *testing.T) {
	page, err := os.ReadFile("PROTOCOL.md")
	require.NoError(t, err)
	for _, name := range append(methodNames(), notificationNames()...) {
		if !strings.Contains(string(page), fmt.Sprintf("`%s`", name)) {
			t.Errorf("PROTOCOL.md does not name `%s`", name)
		}
	}
	words := map[string]bool{}
	for _, word := range regexp.MustCompile(`\w+`).FindAllString(string(page), -1) {
		words[word] = true
	}
	for kind, def := range schemaOf(t).Definitions {
		if def.Properties == nil {
			continue
		}
		for pair := def.Properties.Oldest(); pair != nil; pair = pair.Next() {
			if !words[pair.Key] && !strings.Contains(string(page), "`"+pair.Key+"`") {
				t.Errorf("PROTOCOL.md does not name %s.%s", kind, pair.Key)
			}
		}
	}
}

// membersAt says where PROTOCOL.md lists the members of an object: the section, and what stands in front of the list.
var membersAt = map[reflect.Type]struct{ section, before string }{
	reflect.TypeFor[sessions.Session]():  {"Sessions", "\n| member | |\n|---|---|\n"},
	reflect.TypeFor[sessions.Turn]():     {"Turns", "\n| member | |\n|---|---|\n"},
	reflect.TypeFor[sessions.Item]():     {"Items", "\n| member | |\n|---|---|\n"},
	reflect.TypeFor[sessions.Tool]():     {"Items", "\nA tool: `{"},
	reflect.TypeFor[sessions.Change]():   {"Items", "\n`changes` is what the call has changed in files, in order: `{"},
	reflect.TypeFor[sessions.Approval](): {"Approvals", "\n| member | |\n|---|---|\n"},
	reflect.TypeFor[sessions.Diff]():     {"Review", "\n| member | |\n|---|---|\n"},
	reflect.TypeFor[sessions.Hunk]():     {"Review", "\nA hunk: `{"},
}

// TestProtocolListsMembers: the list of an object's members has all of them, and those that may be missing have a "?". So no member
// hides behind a word elsewhere on the page.
func TestProtocolListsMembers(t *testing.T) {
	for object, at := range membersAt {
		_, list, found := strings.Cut(section(t, at.section), at.before)
		require.True(t, found, "PROTOCOL.md, %s, has no list of the members of %s any more: it began with %q", at.section, object.Name(), at.before)
		var listed []string
		if strings.HasSuffix(at.before, "{") {
			list, _, _ = strings.Cut(list, "}`")
			listed = strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune(", \n", r) })
		} else {
			list, _, _ = strings.Cut(list, "\n\n")
			for row := range strings.Lines(list) {
				for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(strings.SplitN(row, "|", 3)[1], -1) {
					listed = append(listed, name[1])
				}
			}
		}
		for _, field := range reflect.VisibleFields(object) {
			name, omitted, _ := strings.Cut(field.Tag.Get("json"), ",")
			if omitted != "" {
				name += "?"
			}
			if !slices.Contains(listed, name) {
				t.Errorf("PROTOCOL.md, %s: the list of the members of %s lacks `%s`; it has %s", at.section, object.Name(), name, strings.Join(listed, " "))
			}
		}
	}
}

// TestProtocolNamesParameters: the paragraphs that name a method name each of its parameters, so that no parameter hides behind
// a member of the same name elsewhere.
func TestProtocolNamesParameters(t *testing.T) {
	page, err := os.ReadFile("PROTOCOL.md")
	require.NoError(t, err)
	paragraphs := regexp.MustCompile(`\n\n|\n\* `).Split(string(page), -1)
	for name, m := range new(face).table().methods {
		if m.params == nil {
			continue
		}
		var about strings.Builder
		for _, text := range paragraphs {
			if strings.Contains(text, "`"+name+"`") {
				about.WriteString(text)
			}
		}
		for _, field := range reflect.VisibleFields(m.params) {
			param, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if param != "" && !regexp.MustCompile(`\b`+regexp.QuoteMeta(param)+`\b`).MatchString(about.String()) {
				t.Errorf("PROTOCOL.md does not name the parameter %s where it describes %s", param, name)
			}
		}
	}
}

// section returns the text below a heading of PROTOCOL.md.
func section(t *testing.T, name string) string {
	page, err := os.ReadFile("PROTOCOL.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(page), "\n## "+name+"\n")
	require.True(t, found, name)
	text, _, _ := strings.Cut(rest, "\n## ")
	return text
}

func TestProtocolNamesToolsAndErrors(t *testing.T) {
	if names := "`name` is one of `" + strings.Join(agent.ToolNames(), " ") + "`"; !strings.Contains(section(t, "Items"), names) {
		t.Errorf("PROTOCOL.md, Items, does not say: %s", names)
	}
	requests, turns, found := strings.Cut(section(t, "Errors"), "`kind` of a failed turn")
	require.True(t, found)
	for _, kind := range plain()[reflect.TypeFor[api.ErrorKind]()].Enum {
		if !slices.Contains([]string{string(api.KindMaybeYours), string(api.KindChangedSince), string(api.KindForgotten), string(api.KindImported)}, kind.(string)) { // only what is skipped has these kinds
			if !strings.Contains(requests, fmt.Sprintf(" | `%s` | ", kind)) {
				t.Errorf("PROTOCOL.md, Errors, has no row for the kind `%s` of a request", kind)
			}
		}
	}
	for _, kind := range wordsOf["TurnError.kind"] {
		if !strings.Contains(turns, fmt.Sprintf("`%s`", kind)) {
			t.Errorf("PROTOCOL.md, Errors, has no row for the kind `%s` of a failed turn", kind)
		}
	}
}

// TestProtocolNamesLimits: each limit that a client can meet has a row with its figure, and each row is compared here or in
// package daemon.
func TestProtocolNamesLimits(t *testing.T) {
	limits := section(t, "Limits")
	_, table, found := strings.Cut(limits, "\n\n|")
	if !found {
		table = limits
	}
	lines := strings.Split(strings.TrimSpace(table), "\n")
	for row, limit := range map[string]int{
		"a message from a client | %d MiB":                                        MaxMessage >> 20,
		"a header block | %d KiB":                                                 maxHeader >> 10,
		"a prompt with its context | %d MiB":                                      MaxPrompt >> 20,
		"requests `agent/…` and `diff/…` of a connection that run at once | %d;":  maxRunning,
		"requests of a connection that wait (`turn/wait`) | %d,":                  maxWaiting,
		"text in one `item/delta` | %d KiB":                                       api.MaxDelta >> 10,
		"notifications that wait for a client | %d MiB":                           maxNotes >> 20,
		"answers, `log/message` and `$/logTrace` that wait for a client | %d MiB": maxReplies >> 20,
		"a path, of a parameter or of the agent | %d bytes":                       paths.MaxPath,
		"bytes, %d characters in one name":                                        paths.MaxName,
		"an image | %d MiB":                                                       pictures.MaxBytes >> 20,
		"| images of a prompt | %d |":                                             pictures.Most,
		"| folders of `addDirs` | %d |":                                           config.MaxAddDirs,
	} {
		text := fmt.Sprintf(row, limit)
		if !strings.Contains(limits, text) {
			t.Errorf("PROTOCOL.md, Limits, has no row with: %s", text)
		}
		for i, line := range lines {
			if strings.Contains(line, text) {
				lines[i] = ""
			}
		}
	}
	for _, line := range lines[2:] {
		what, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " |")
		if line != "" && !slices.Contains([]string{"a session's title", "`turnId`", "attempts at a prompt; the name of their group", "a model, or the agent's name of a chat", "text in one item",
			"a command in an approval", "a text in an approval", "pending approvals of a turn", "a text in `approval/answer`", "rules of a workspace", "changes of a call (`changes`)", "`query` of `session/search`", "`variables` of `agent/environment`"}, what) {
			t.Errorf("no test compares this row with the code: %s\nadd it above; if its constant is in package daemon, "+
				"to TestProtocolNamesLimits there and to the list here", line)
		}
	}
}
