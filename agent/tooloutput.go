package agent

import (
	"fmt"
	"strings"
)

// output returns what a call gave, in a form for people.
func output(call *Call, out outcome) string {
	var s string
	switch call.Name {
	case "read":
		s = out.body.text("content")
	case "grep":
		s = grepOutput(out.body.get("workspaceResults"))
	case "glob":
		s = lines(out.body.get("files"))
	case "ls":
		s = treeOutput(out.body.get("directoryTreeRoot"))
	case "search":
		s = searchOutput(out.body)
	case "fetch":
		s = out.body.text("markdown")
	case "mcp":
		s = contentText(out.body.get("content"))
		if s == "" {
			s = resourcesOutput(out.body)
		}
	case "task":
		s = taskOutput(out.body.get("conversationSteps"))
	case "lints":
		s = lintsOutput(out.body)
	}
	if s == "" {
		s = shellOutput(out.body)
	}
	if s == "" {
		s = out.body.text("output", "text", "content", "message", "resultForModel")
	}
	if s == "" && out.state == CallCompleted {
		s = out.text
	}
	return s
}

func shellOutput(body object) string {
	if s := body.text("interleavedOutput"); s != "" {
		return s
	}
	out, err := body.text("stdout"), body.text("stderr")
	if out != "" && err != "" && !strings.HasSuffix(out, "\n") {
		out += "\n"
	}
	if out+err != "" {
		return out + err
	}
	head, tail := body.text("outputHead"), body.text("outputTail")
	if n, ok := body.get("elidedChars").int(); ok && n > 0 {
		return fmt.Sprintf("%s\n… %d characters left out …\n%s", head, n, tail)
	}
	return head + tail
}

// lines puts an array's strings on lines of their own.
func lines(list value) string {
	var b strings.Builder
	for v := range list.elems() {
		if s := v.text(); s != "" {
			b.WriteString(s + "\n")
		}
	}
	return b.String()
}

// grepOutput writes matches as grep does, "file:line:text" and "file-line-text" for context, for each of the forms
// that a result can have.
func grepOutput(results value) string {
	var b strings.Builder
	for _, result := range results.fields() {
		for file := range result.get("content").get("matches").elems() {
			name := file.get("file").text()
			for match := range file.get("matches").elems() {
				m, sep := match.object(nil), ":"
				if is, _ := m.get("isContextLine").bool(); is {
					sep = "-"
				}
				fmt.Fprintf(&b, "%s%s%s%s%s\n", name, sep, m.get("lineNumber").name(), sep, strings.TrimRight(m.text("content"), "\r\n"))
			}
		}
		b.WriteString(lines(result.get("files").get("files")))
		for count := range result.get("count").get("counts").elems() {
			n := count.get("count").name()
			if n == "" {
				n = "0"
			}
			fmt.Fprintf(&b, "%s:%s\n", count.get("file").text(), n)
		}
	}
	return b.String()
}

// treeOutput lists a directory: its directories with a slash, then its files.
func treeOutput(root value) string {
	var b strings.Builder
	for dir := range root.get("childrenDirs").elems() {
		name := dir.get("name").text()
		if name == "" {
			name = strings.TrimRight(dir.get("absPath").text(), `/\`)
			name = name[strings.LastIndexAny(name, `/\`)+1:]
		}
		if name != "" {
			b.WriteString(name + "/\n")
		}
	}
	for file := range root.get("childrenFiles").elems() {
		if name := file.get("name").text(); name != "" {
			b.WriteString(name + "\n")
		}
	}
	return b.String()
}

// searchOutput covers the searches of code, of the web and of earlier conversations.
func searchOutput(body object) string {
	if s := body.text("results"); s != "" {
		return s
	}
	var b strings.Builder
	for _, key := range []string{"references", "hits", "codeResults"} {
		for v := range body.get(key).elems() {
			r := v.object(nil)
			parts := []string{}
			for _, part := range []string{r.text("title"), r.text("url", "source", "path"), oneLine("", r.text("snippet", "chunk"))} {
				if part != "" {
					parts = append(parts, part)
				}
			}
			if len(parts) > 0 {
				b.WriteString(strings.Join(parts, "\n  ") + "\n")
			}
		}
	}
	return b.String()
}

// contentText joins the text of content blocks: {text: {text}} as the agent nests it, {type, text}, or strings.
func contentText(blocks value) string {
	if blocks.isString() {
		return blocks.text()
	}
	var parts []string
	for block := range blocks.elems() {
		text := block.get("text")
		if text.isObject() {
			text = text.get("text")
		}
		switch {
		case block.isString():
			parts = append(parts, block.text())
		case text.isString():
			parts = append(parts, text.text())
		case block.get("image") != nil:
			parts = append(parts, "(image)")
		}
	}
	return strings.Join(parts, "\n")
}

func resourcesOutput(body object) string {
	var b strings.Builder
	for _, key := range []string{"resources", "tools"} {
		for v := range body.get(key).elems() {
			r := v.object(nil)
			if line := strings.TrimSpace(r.text("uri") + " " + r.text("name", "toolName")); line != "" {
				b.WriteString(line + "\n")
			}
		}
	}
	return b.String()
}

// taskOutput is what a sub-agent said.
func taskOutput(steps value) string {
	var parts []string
	for step := range steps.elems() {
		if s := step.get("assistantMessage").get("text").text(); s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "\n\n")
}

func lintsOutput(body object) string {
	var b strings.Builder
	for v := range body.get("fileDiagnostics").elems() {
		file := v.object(nil)
		for diagnostic := range file.get("diagnostics").elems() {
			d := diagnostic.object(nil)
			fmt.Fprintf(&b, "%s: %s\n", file.text("path", "file"), oneLine(d.text("severity"), d.text("message")))
		}
	}
	if b.Len() == 0 {
		if n, ok := body.get("totalDiagnostics").int(); ok {
			return fmt.Sprintf("%d diagnostics", n)
		}
	}
	return b.String()
}
