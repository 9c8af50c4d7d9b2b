package agent

import (
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"cursord/agent/jsontext"
)

// maxTitle is the length of a title in characters.
const maxTitle = 120

// argsObject makes arguments an object: JSON inside a string is taken out, anything else becomes a member.
func argsObject(args jsontext.Value) jsontext.Value {
	if args.IsString() {
		if inner := []byte(strings.TrimSpace(args.Text())); len(inner) > 0 && inner[0] == '{' && json.Valid(inner) {
			return inner
		}
	}
	return wrap(args, "arguments")
}

// wrap makes a value that is no object a member of one.
func wrap(v jsontext.Value, key string) jsontext.Value {
	if v == nil || v.IsObject() {
		return v
	}
	return append(append(append([]byte{'{'}, strconv.Quote(key)+":"...), v...), '}')
}

// mergeArgs returns the arguments of a call's start with those of its end on top; the result is a copy.
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
		if call.Command == "" && call.RawName == "writeShellStdin" {
			call.Command = args.Text("chars", "input", "data", "stdin")
		}
	}
	if call.Name != "mcp" {
		d.addPaths(call, args)
	}
	if call.RawName == "createPlan" {
		call.Plan = args.Text("plan")
	}
	call.Todos = todosOf(args, call.Todos)
	if call.Title = d.title(call, args); call.Title == "" { // of a blank command
		call.Title = oneLine(call.RawName, "")
	}
}

// addPaths adds every path that an object of arguments or of a result names.
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

// list adds paths as they are written, unless the same file is listed.
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
	switch call.Name {
	case "read":
		return oneLine("Read", first)
	case "write":
		return oneLine("Write", first)
	case "edit":
		return oneLine("Edit", first)
	case "delete":
		return oneLine("Delete", first)
	case "ls":
		return oneLine("List", first)
	case "shell":
		if call.Command == "" {
			return "Run a command"
		}
		return oneLine("", call.Command)
	case "grep":
		return oneLine("Grep", args.Text("pattern", "query")+in)
	case "glob":
		return oneLine("Find", args.Text("globPattern", "glob_pattern", "pattern")+in)
	case "search":
		return oneLine("Search", args.Text("query", "searchTerm", "search_term"))
	case "fetch":
		return oneLine("Fetch", args.Text("url"))
	case "mcp":
		if name := args.Text("name", "toolName", "tool_name"); name != "" {
			return oneLine("", name)
		}
		return oneLine("", strings.TrimSpace(words(call.RawName)+" "+args.Text("uri", "server")))
	case "todo":
		if call.RawName == "readTodos" || call.RawName == "TodoRead" {
			return "Read todos"
		}
		return "Update todos"
	case "task":
		return oneLine("Task", args.Text("description", "prompt"))
	case "lints":
		return oneLine("Read lints", first)
	case "question":
		if title := args.Text("title"); title != "" {
			return oneLine("Ask", title)
		}
		for q := range args.Get("questions").Elements() {
			return oneLine("Ask", q.Get("prompt", "question").Text())
		}
		return "Ask a question"
	}
	if call.RawName == "createPlan" {
		return oneLine("Plan", args.Text("name"))
	}
	return oneLine(words(call.RawName), first)
}

// words makes "switchMode" into "Switch mode".
func words(name string) string {
	var b strings.Builder
	for i, r := range name {
		switch {
		case i == 0:
			b.WriteString(strings.ToUpper(string(r)))
		case 'A' <= r && r <= 'Z':
			b.WriteString(" " + strings.ToLower(string(r)))
		case r == '_':
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// oneLine joins a verb and the first line of its object, cut to maxTitle characters.
func oneLine(verb, what string) string {
	what = strings.TrimSpace(what)
	if line, _, more := strings.Cut(what, "\n"); more {
		what = strings.TrimSpace(line) + " …"
	}
	s := strings.Join(strings.Fields(cutAt(verb+" "+what, 4*maxTitle+8)), " ")
	if utf8.RuneCountInString(s) <= maxTitle {
		return s
	}
	return string([]rune(s)[:maxTitle-1]) + "…"
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
