package agent

import (
	"fmt"
	"strings"

	"cursord/agent/jsontext"
	"cursord/agent/plaintext"
)

// output returns a call's output in a form for people.
func output(call *Call, out outcome) string {
	var s string
	switch call.Name {
	case "read":
		s = out.body.Text("content")
	case "grep":
		s = grepOutput(out.body.Get("workspaceResults"))
	case "glob":
		s = lines(out.body.Get("files"))
	case "ls":
		s = treeOutput(out.body.Get("directoryTreeRoot"))
	case "search":
		s = searchOutput(out.body)
	case "fetch":
		s = out.body.Text("markdown")
	case "mcp":
		s = contentText(out.body.Get("content"))
		if s == "" {
			s = resourcesOutput(out.body)
		}
	case "task":
		s = taskOutput(out.body.Get("conversationSteps"))
	case "lints":
		s = lintsOutput(out.body)
	}
	if s == "" {
		s = shellOutput(out.body)
	}
	if s == "" {
		s = out.body.Text("output", "text", "content", "message", "resultForModel")
	}
	if s == "" && out.state == CallCompleted {
		s = out.text
	}
	return s
}

func shellOutput(body jsontext.Object) string {
	if s := body.Text("interleavedOutput"); s != "" {
		return s
	}
	out, err := body.Text("stdout"), body.Text("stderr")
	if out != "" && err != "" && !strings.HasSuffix(out, "\n") {
		out += "\n"
	}
	if out+err != "" {
		return out + err
	}
	head, tail := body.Text("outputHead"), body.Text("outputTail")
	if n, ok := body.Get("elidedChars").Int(); ok && n > 0 {
		return fmt.Sprintf("%s\n… %d characters left out …\n%s", head, n, tail)
	}
	return head + tail
}

// lines puts an array's strings on separate lines.
func lines(list jsontext.Value) string {
	var b strings.Builder
	for v := range list.Elements() {
		if s := v.Text(); s != "" {
			b.WriteString(s + "\n")
		}
	}
	return b.String()
}

// grepOutput writes matches as grep does, "file:line:text", and "file-line-text" for context, from each form that a result
// can have.
func grepOutput(results jsontext.Value) string {
	var b strings.Builder
	for _, result := range results.Members() {
		for file := range result.Get("content").Get("matches").Elements() {
			name := file.Get("file").Text()
			for match := range file.Get("matches").Elements() {
				m, sep := match.Object(nil), ":"
				if is, _ := m.Get("isContextLine").Bool(); is {
					sep = "-"
				}
				fmt.Fprintf(&b, "%s%s%s%s%s\n", name, sep, m.Get("lineNumber").Name(), sep, strings.TrimRight(m.Text("content"), "\r\n"))
			}
		}
		b.WriteString(lines(result.Get("files").Get("files")))
		for count := range result.Get("count").Get("counts").Elements() {
			n := count.Get("count").Name()
			if n == "" {
				n = "0"
			}
			fmt.Fprintf(&b, "%s:%s\n", count.Get("file").Text(), n)
		}
	}
	return b.String()
}

// treeOutput lists a directory: its directories with a slash, then its files.
func treeOutput(root jsontext.Value) string {
	var b strings.Builder
	for dir := range root.Get("childrenDirs").Elements() {
		name := dir.Get("name").Text()
		if name == "" {
			name = strings.TrimRight(dir.Get("absPath").Text(), `/\`)
			name = name[strings.LastIndexAny(name, `/\`)+1:]
		}
		if name != "" {
			b.WriteString(name + "/\n")
		}
	}
	for file := range root.Get("childrenFiles").Elements() {
		if name := file.Get("name").Text(); name != "" {
			b.WriteString(name + "\n")
		}
	}
	return b.String()
}

// searchOutput returns the output of searches of code, of the web and of earlier conversations.
func searchOutput(body jsontext.Object) string {
	if s := body.Text("results"); s != "" {
		return s
	}
	var b strings.Builder
	for _, key := range []string{"references", "hits", "codeResults"} {
		for v := range body.Get(key).Elements() {
			r := v.Object(nil)
			parts := []string{}
			for _, part := range []string{r.Text("title"), r.Text("url", "source", "path"), plaintext.OneLine("", r.Text("snippet", "chunk"))} {
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
func contentText(blocks jsontext.Value) string {
	if blocks.IsString() {
		return blocks.Text()
	}
	var parts []string
	for block := range blocks.Elements() {
		text := block.Get("text")
		if text.IsObject() {
			text = text.Get("text")
		}
		switch {
		case block.IsString():
			parts = append(parts, block.Text())
		case text.IsString():
			parts = append(parts, text.Text())
		case block.Get("image") != nil:
			parts = append(parts, "(image)")
		}
	}
	return strings.Join(parts, "\n")
}

func resourcesOutput(body jsontext.Object) string {
	var b strings.Builder
	for _, key := range []string{"resources", "tools"} {
		for v := range body.Get(key).Elements() {
			r := v.Object(nil)
			if line := strings.TrimSpace(r.Text("uri") + " " + r.Text("name", "toolName")); line != "" {
				b.WriteString(line + "\n")
			}
		}
	}
	return b.String()
}

// taskOutput returns the words of a sub-agent.
func taskOutput(steps jsontext.Value) string {
	var parts []string
	for step := range steps.Elements() {
		if s := step.Get("assistantMessage").Get("text").Text(); s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "\n\n")
}

func lintsOutput(body jsontext.Object) string {
	var b strings.Builder
	for v := range body.Get("fileDiagnostics").Elements() {
		file := v.Object(nil)
		for diagnostic := range file.Get("diagnostics").Elements() {
			d := diagnostic.Object(nil)
			fmt.Fprintf(&b, "%s: %s\n", file.Text("path", "file"), plaintext.OneLine(d.Text("severity"), d.Text("message")))
		}
	}
	if b.Len() == 0 {
		if n, ok := body.Get("totalDiagnostics").Int(); ok {
			return fmt.Sprintf("%d diagnostics", n)
		}
	}
	return b.String()
}
