package agent

import (
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"cursord/agent/jsontext"
	"cursord/agent/plaintext"
)

// argsObject returns arguments as an object: JSON in a string is decoded, and any other value becomes a member.
func argsObject(args jsontext.Value) jsontext.Value {
	if args.IsString() {
		if inner := []byte(strings.TrimSpace(args.Text())); len(inner) > 0 && inner[0] == '{' && json.Valid(inner) {
			return inner
		}
	}
	return wrap(args, "arguments")
}

// wrap returns an object that has the value as a member.
func wrap(v jsontext.Value, key string) jsontext.Value {
	if v == nil || v.IsObject() {
		return v
	}
	return append(append(append([]byte{'{'}, strconv.Quote(key)+":"...), v...), '}')
}

// mergeArgs returns the arguments of a call's start, overlaid with those of its end, as a copy.
func mergeArgs(old json.RawMessage, now jsontext.Value) json.RawMessage {
	if now == nil {
		return old
	}
	after := now.Object(nil)
	has := make(map[string]bool, len(after))
	for _, f := range after {
		has[string(f.Key)] = true
	}
	var merged jsontext.Object
	for k, v := range jsontext.Value(old).Members() {
		if !has[string(k)] {
			merged = append(merged, jsontext.Member{Key: k, Value: v})
		}
	}
	if merged == nil {
		return now.Copy()
	}
	return jsontext.Value(append(merged, after...).Without()).Copy()
}

// describe fills in what a call's arguments say.
func (d *Decoder) describe(call *Call) {
	args := jsontext.Value(call.Args).Object(nil)
	if call.Name == "shell" {
		call.Command = args.Text("command", "cmd")
		if call.Command == "" {
			call.Command = commandOf(args.Get("command", "cmd"))
		}
		if call.Command == "" && call.RawName == "writeShellStdin" {
			call.Command = args.Text("chars", "input", "data", "stdin")
		}
	}
	if call.Name != "mcp" {
		d.addPaths(call, args)
	}
	if call.RawName == "createPlan" {
		call.Plan = PlanText(args)
	}
	call.Todos = todosOf(args, call.Todos)
	if call.Title = d.title(call, args); call.Title == "" { // of a blank command
		call.Title = plaintext.OneLine(call.RawName, "")
	}
}

// commandOf returns a list of words as a command line; "" for another value.
func commandOf(list jsontext.Value) string {
	var words []string
	for v := range list.Elements() {
		word := v.Text()
		if !v.IsString() {
			return ""
		}
		if strings.ContainsFunc(word, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_./:@%+,-", r)
		}) || word == "" {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// addPaths adds every path that an object of arguments or a result names.
func (d *Decoder) addPaths(call *Call, o jsontext.Object) {
	var named []string
	for _, key := range []string{"path", "file_path", "filePath", "target_file", "targetFile", "target_notebook",
		"notebook_path", "targetDirectory", "target_directory"} {
		named = append(named, o.Get(key).Text())
	}
	for _, key := range []string{"paths", "targetDirectories", "target_directories"} {
		for p := range o.Get(key).Elements() {
			named = append(named, p.Text())
		}
	}
	d.list(call, named)
}

// list adds paths as they are written, each file once.
func (d *Decoder) list(call *Call, paths []string) {
	paths = slices.DeleteFunc(paths, func(p string) bool { return p == "" })
	if len(paths) == 0 || len(paths) == 1 && slices.Contains(call.Paths, paths[0]) {
		return
	}
	listed := make(map[string]bool, len(call.Paths)+len(paths))
	for _, p := range call.Paths {
		listed[d.absolute(p)] = true
	}
	call.Paths = slices.Clip(call.Paths)
	for _, p := range paths {
		if full := d.absolute(p); !listed[full] {
			listed[full] = true
			call.Paths = append(call.Paths, p)
		}
	}
}

func (d *Decoder) absolute(p string) string {
	if d.dir == "" || path.IsAbs(p) || strings.Contains(p, ":") {
		return path.Clean(p)
	}
	return path.Join(d.dir, p)
}

// relative shortens a path for people.
func (d *Decoder) relative(p string) string {
	if rest, ok := strings.CutPrefix(p, d.dir); ok && d.dir != "" && len(rest) > 1 && (rest[0] == '/' || rest[0] == '\\') {
		return rest[1:]
	}
	return p
}

// title says in one line what a call does.
func (d *Decoder) title(call *Call, args jsontext.Object) string {
	first := ""
	if len(call.Paths) > 0 {
		first = d.relative(call.Paths[0])
	}
	in := ""
	if first != "" && first != d.dir {
		in = " in " + first
	}
	return toolNamed(call.Name).title(call, args, first, in)
}

// words makes "switchMode" into "Switch mode". What is no bare name of a tool is a line for people already, and stays.
func words(name string) string {
	if !isBare(name) {
		return name
	}
	letters := []rune(name)
	capital := func(i int) bool { return i < len(letters) && 'A' <= letters[i] && letters[i] <= 'Z' }
	small := func(i int) bool { return i < len(letters) && unicode.IsLower(letters[i]) }
	var b strings.Builder
	for i, r := range letters {
		switch {
		case i == 0:
			b.WriteRune(unicode.ToUpper(r))
		case r == '_':
			b.WriteByte(' ')
		case !capital(i), capital(i-1) && !small(i+1): // "HTTP" stays
			b.WriteRune(r)
		default:
			if letters[i-1] != '_' {
				b.WriteByte(' ')
			}
			if capital(i + 1) {
				b.WriteRune(r)
			} else {
				b.WriteRune(unicode.ToLower(r))
			}
		}
	}
	return b.String()
}

// isBare reports whether a name is nothing but one word, as the names of tools are.
func isBare(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_' })
}

// todosOf reads a list of todos, or returns what was known where there is none.
func todosOf(o jsontext.Object, known []Todo) []Todo {
	list := o.Get("todos")
	if !list.IsArray() {
		return known
	}
	todos := []Todo{}
	for v := range list.Elements() {
		t := v.Object(nil)
		status := strings.TrimPrefix(strings.ToLower(t.Text("status")), "todo_status_")
		switch status {
		case "in_progress", "completed", "cancelled":
		case "inprogress", "in-progress":
			status = "in_progress"
		case "done":
			status = "completed"
		case "canceled":
			status = "cancelled"
		default:
			status = "pending"
		}
		todos = append(todos, Todo{ID: t.Get("id").Name(), Content: t.Text("content", "title", "text"), Status: status})
	}
	return todos
}
