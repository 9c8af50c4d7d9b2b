package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"cursord/agent/jsontext"
)

// A PathMap, made by ParsePathMap, says which folders here are which on another machine. It changes only the members of
// messages that hold paths (pathMembers), not the words of an agent or lines of files.
type PathMap []mappedPath

type mappedPath struct{ from, to string }

// pathMembers are the members of messages that are paths or file:// URIs, or lists of them.
var pathMembers = []string{"workspace", "path", "oldPath", "uri", "paths", "rootUri", "rootPath"}

// ParsePathMap reads words of the form HERE=THERE, both absolute paths.
func ParsePathMap(words []string) (PathMap, error) {
	var m PathMap
	for _, w := range words {
		from, to, ok := strings.Cut(w, "=")
		if !ok || !path.IsAbs(from) || !path.IsAbs(to) {
			return nil, fmt.Errorf("%q is not a pair of absolute paths, HERE=THERE", w)
		}
		m = append(m, mappedPath{path.Clean(from), path.Clean(to)})
	}
	sorted := m.sorted()
	if len(m) > 0 && (sorted == nil || m.back().sorted() == nil) {
		return nil, errors.New("a folder is in two pairs; each folder may be in one")
	}
	return sorted, nil
}

// back returns the map for the other direction.
func (m PathMap) back() PathMap {
	var b PathMap
	for _, p := range m {
		b = append(b, mappedPath{p.to, p.from})
	}
	return b
}

// sorted returns the map with the longest paths first; nil if a path occurs twice.
func (m PathMap) sorted() PathMap {
	m = slices.Clone(m)
	slices.SortFunc(m, func(a, b mappedPath) int {
		if len(a.from) != len(b.from) {
			return len(b.from) - len(a.from)
		}
		return strings.Compare(a.from, b.from)
	})
	for i := range m {
		if i > 0 && m[i].from == m[i-1].from {
			return nil
		}
	}
	return m
}

// message returns a message with its paths changed.
func (m PathMap) message(body []byte) []byte {
	type container struct {
		object bool
		key    string // the container's own key, which is also that of its elements
	}
	var open []container
	var out []byte
	done, key, isKey := 0, "", false // how much of body is in out; the present key; whether the next string is a key
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '{', '[':
			open = append(open, container{body[i] == '{', key})
			if isKey = body[i] == '{'; isKey {
				key = ""
			}
		case '}', ']':
			if len(open) > 0 {
				key = open[len(open)-1].key
				open = open[:len(open)-1]
			}
			isKey = false
		case ',':
			isKey = len(open) > 0 && open[len(open)-1].object
		case '"':
			end := jsontext.StringEnd(body, i)
			if end < 0 {
				return body // not JSON
			}
			switch text := body[i:end]; {
			case isKey:
				key, isKey = string(text[1:len(text)-1]), false
			case slices.Contains(pathMembers, key):
				if changed := m.quoted(text); changed != nil {
					out = append(append(out, body[done:i]...), changed...)
					done = end
				}
			}
			i = end - 1
		}
	}
	if done == 0 {
		return body
	}
	return append(out, body[done:]...)
}

// quoted returns a JSON string with its path changed; nil if there is nothing to change.
func (m PathMap) quoted(text []byte) []byte {
	var s string
	if json.Unmarshal(text, &s) != nil {
		return nil
	}
	changed, ok := m.name(s)
	if !ok {
		return nil
	}
	return jsontext.Quote(changed)
}

// name returns a path or file:// URI with its path changed, and whether there was something to change.
func (m PathMap) name(s string) (string, bool) {
	if strings.HasPrefix(s, "file:") {
		u, err := url.Parse(s)
		if err != nil {
			return "", false
		}
		p, ok := m.path(u.Path)
		return (&url.URL{Scheme: "file", Path: p}).String(), ok
	}
	return m.path(s)
}

func (m PathMap) path(p string) (string, bool) {
	for _, pair := range m {
		rest, ok := strings.CutPrefix(p, pair.from)
		if pair.from == "/" && ok {
			return path.Join(pair.to, rest), true
		}
		if ok && (rest == "" || rest[0] == '/') {
			return strings.TrimSuffix(pair.to, "/") + rest, true
		}
	}
	return "", false
}
