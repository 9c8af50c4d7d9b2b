package agent

import (
	"strings"

	"cursord/agent/jsontext"
	"cursord/agent/plaintext"
)

// Writes is what calls of a tool may write.
type Writes int

const (
	unclassified   Writes = iota // counts as WritesAnything
	WritesNothing                // no files of the workspace
	WritesNamed                  // the files that the call names
	WritesAnything               // any files, whether the call names them or not
)

// A tool is a kind of call. Its row of tools has what every kind has. What only some kinds have is read by their names: arguments in
// toolargs.go, results in toolresult.go, outputs in tooloutput.go, commands in background.go and denial.go, ACP's kinds in agent/acp.
// ARCHITECTURE.md, "a kind of tool", lists the clients that have names of tools.
type tool struct {
	name        string   // as clients see it
	aliases     []string // what the agent's builds and models call it, in lower case, without _, - and spaces
	writes      Writes
	text        []string // the arguments that may hold all that the file is to hold
	leavesEmpty bool     // its report leaves empty texts out: a missing text may be an empty one
	removes     bool     // it removes the paths that it names, also a link, and not what the link leads to
	title       title
}

// A title says in one line what a call does. first is the first path that the call names; in is the same after " in ", or ""
// if the path is the whole workspace. Both are "" if the call names no path.
type title func(call *Call, args jsontext.Object, first, in string) string

// tools are all kinds of calls, in the order of PROTOCOL.md. The last row is for calls of no known kind.
var tools = []tool{
	{name: "read", writes: WritesNothing, title: ofFile("Read"), aliases: []string{"read", "readfile", "piread"}},
	{name: "write", writes: WritesNamed, title: ofFile("Write"), aliases: []string{"write", "writefile", "createfile", "piwrite"},
		text: []string{"fileText", "contents", "content", "file_text"}},
	{name: "edit", writes: WritesNamed, title: ofFile("Edit"), aliases: []string{"edit", "editfile", "strreplace", "multistrreplace",
		"multiedit", "searchreplace", "applypatch", "editnotebook", "piedit", "applyagentdiff"}, leavesEmpty: true},
	{name: "delete", writes: WritesNamed, title: ofFile("Delete"), aliases: []string{"delete", "deletefile"}, removes: true},
	{name: "shell", writes: WritesAnything, title: ofShell, aliases: []string{"shell", "bash", "pibash", "runterminalcmd", "writeshellstdin"}},
	{name: "grep", writes: WritesNothing, title: ofSearchIn("Grep", "pattern", "query"), aliases: []string{"grep", "pigrep"}},
	{name: "glob", writes: WritesNothing, title: ofSearchIn("Find", "globPattern", "glob_pattern", "pattern"),
		aliases: []string{"glob", "find", "pifind", "globfilesearch", "filesearch"}},
	{name: "ls", writes: WritesNothing, title: ofFile("List"), aliases: []string{"ls", "pils", "listdir"}},
	{name: "search", writes: WritesNothing, title: ofText("Search", "query", "searchTerm", "search_term"),
		aliases: []string{"semsearch", "semanticsearch", "codebasesearch", "websearch", "searchconversations"}},
	{name: "fetch", writes: WritesNothing, title: ofText("Fetch", "url"), aliases: []string{"fetch", "webfetch"}},
	{name: "mcp", writes: WritesAnything, title: ofMCP, aliases: []string{"mcp", "callmcptool", "listmcpresources", "readmcpresource",
		"fetchmcpresource", "getmcptools", "mcpauth"}},
	{name: "todo", writes: WritesNothing, title: ofTodo, aliases: []string{"todo", "updatetodos", "readtodos", "todowrite", "todoread"}},
	{name: "task", writes: WritesAnything, title: ofText("Task", "description", "prompt"), aliases: []string{"task"}},
	{name: "lints", writes: WritesNothing, title: ofFile("Read lints"), aliases: []string{"readlints", "lints"}},
	{name: "question", writes: WritesNothing, title: ofQuestion, aliases: []string{"askquestion", "question"}},
	{name: "other", writes: WritesAnything, title: ofOther},
}

// ToolNames returns all values of Call.Name, in the order of PROTOCOL.md.
func ToolNames() []string {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.name
	}
	return names
}

// WritesOf returns what calls of a tool may write, by the tool's name: anything, if it is not known.
func WritesOf(name string) Writes {
	if w := toolNamed(name).writes; w != unclassified {
		return w
	}
	return WritesAnything
}

// Writes returns what the call may write. A plan is a call of no known kind, but writes nothing: without a window it has no file.
func (c *Call) Writes() Writes {
	if c.RawName == "createPlan" {
		return WritesNothing
	}
	return WritesOf(c.Name)
}

// LeavesEmpty reports whether a text that the call's report lacks may be an empty one.
func (c *Call) LeavesEmpty() bool { return toolNamed(c.Name).leavesEmpty }

// Removes reports whether calls of a tool, by its name, remove the paths that they name: also a link, and not what the link leads to.
func Removes(name string) bool { return toolNamed(name).removes }

// toolNamed returns the tool with this Call.Name, else the last row.
func toolNamed(name string) *tool {
	for i := range tools {
		if tools[i].name == name {
			return &tools[i]
		}
	}
	return &tools[len(tools)-1]
}

var plainName = strings.NewReplacer("_", "", "-", "", " ", "")

// toolByAlias has the name of each tool by its aliases.
var toolByAlias = func() map[string]string {
	m := map[string]string{}
	for _, t := range tools {
		for _, alias := range t.aliases {
			m[alias] = t.name
		}
	}
	return m
}()

// toolName returns the Call.Name for the agent's own name of a tool: a key of the stream without its suffix, or the name
// that a model uses.
func toolName(raw string) string {
	name := strings.ToLower(raw)
	if strings.HasPrefix(name, "mcp:") || strings.HasPrefix(name, "mcp_") {
		return "mcp"
	}
	if known, ok := toolByAlias[plainName.Replace(name)]; ok {
		return known
	}
	return "other"
}

func ofFile(verb string) title {
	return func(_ *Call, _ jsontext.Object, first, _ string) string { return plaintext.OneLine(verb, first) }
}

func ofText(verb string, keys ...string) title {
	return func(_ *Call, args jsontext.Object, _, _ string) string {
		return plaintext.OneLine(verb, args.Text(keys...))
	}
}

func ofSearchIn(verb string, keys ...string) title {
	return func(_ *Call, args jsontext.Object, _, in string) string {
		return plaintext.OneLine(verb, args.Text(keys...)+in)
	}
}

func ofShell(call *Call, _ jsontext.Object, _, _ string) string {
	if call.Command == "" {
		return "Run a command"
	}
	return plaintext.OneLine("", call.Command)
}

func ofMCP(call *Call, args jsontext.Object, _, _ string) string {
	if name := args.Text("name", "toolName", "tool_name"); name != "" {
		return plaintext.OneLine("", name)
	}
	return plaintext.OneLine("", strings.TrimSpace(words(call.RawName)+" "+args.Text("uri", "server")))
}

func ofTodo(call *Call, _ jsontext.Object, _, _ string) string {
	if call.RawName == "readTodos" || call.RawName == "TodoRead" {
		return "Read todos"
	}
	return "Update todos"
}

func ofQuestion(_ *Call, args jsontext.Object, _, _ string) string {
	if title := args.Text("title"); title != "" {
		return plaintext.OneLine("Ask", title)
	}
	for q := range args.Get("questions").Elements() {
		return plaintext.OneLine("Ask", q.Get("prompt", "question").Text())
	}
	return "Ask a question"
}

func ofOther(call *Call, args jsontext.Object, first, _ string) string {
	if call.RawName == "createPlan" {
		return plaintext.OneLine("Plan", args.Text("name"))
	}
	if !isBare(call.RawName) {
		first = ""
	}
	return plaintext.OneLine(words(call.RawName), first)
}
