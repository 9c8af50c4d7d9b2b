//go:build unix

package scenarios

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"cursord/cmd/cursord/tests/world"
)

// This file has the changes that agents and people make in files.

// quoted is a string in JSON.
func quoted(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s)
	return strings.TrimSuffix(b.String(), "\n")
}

// An agentWork is a piece of work that an agent does without a pause: calls of tools, or one command.
type agentWork struct {
	calls int
	lines []string
	shell strings.Builder
}

func (p *agentWork) call(tool, args, result string, do ...string) {
	p.calls++
	head := fmt.Sprintf(`"timestamp_ms":{{now_ms}},"call_id":"c%d","tool_call":{%q:{"args":%s`, p.calls, tool, args)
	p.lines = append(p.lines, `{"type":"tool_call","subtype":"started",`+head+`}}}`)
	p.lines = append(p.lines, do...)
	p.lines = append(p.lines, `{"type":"tool_call","subtype":"completed",`+head+`,"result":{"success":`+result+`}}}}`)
}

// agentActs has the agent change one file or two, by tools that name them or by a command.
func (s *episode) agentActs(p *agentWork, shell bool) {
	for range 1 + s.rng.IntN(2) {
		if shell {
			s.agentRuns(p)
		} else {
			s.agentCalls(p)
		}
	}
}

// target chooses an existing file or, now and then, a new path.
func (s *episode) target() (name string, old held, is bool) {
	if len(s.disk) == 0 || s.rng.IntN(6) == 0 {
		name = s.dir + "/" + []string{"new", "made/er/new", "sub/new", "b"}[s.rng.IntN(4)]
		if s.vacated[name] {
			name += "er"
		}
	} else {
		name = pick(s.rng, s.disk)
	}
	old, is = s.disk[name]
	if !is {
		old.mode = 0o644
	}
	return name, old, is
}

func (s *episode) agentText(old held, is bool) string {
	switch {
	case s.rng.IntN(60) == 0:
		return "bin\x00ary " + s.scribe.unique("agent")
	case !is, s.rng.IntN(12) == 0, strings.Contains(old.text, "\x00"):
		return s.scribe.text("agent")
	}
	return s.scribe.edited(old.text, "agent", 3)
}

// agentCalls returns a call of a tool that names the file, and that reports all or some of its former content.
func (s *episode) agentCalls(p *agentWork) {
	name, old, is := s.target()
	if s.silent[name] == p || s.opaque(name) {
		return // if a file is written twice at once, only the agent can know the content in between
	}
	if s.seen[name] {
		if old.text == "" {
			return // the agent reports no empty text
		}
		s.silent[name] = p
	}
	full := quoted("{{cwd}}/" + name)
	if is && s.rng.IntN(10) == 0 {
		s.does("agent deletes", "%s", name)
		result := `{"path":` + full + `}`
		if s.rng.IntN(2) == 0 || s.seen[name] {
			result = `{"path":` + full + `,"prevContent":` + quoted(old.text) + `}`
		}
		p.call("deleteToolCall", `{"path":`+full+`}`, result, `{"fake":"delete","path":`+quoted(name)+`}`)
		delete(s.disk, name)
		return
	}
	text := s.agentText(old, is)
	write := fmt.Sprintf(`{"fake":"write","path":%s,"text":%s}`, quoted(name), quoted(text))
	told := func(before, after string) string {
		out := `{"path":` + full
		if before != "" {
			out += `,"beforeFullFileContent":` + quoted(before)
		}
		if after != "" {
			out += `,"afterFullFileContent":` + quoted(after)
		}
		return out + `}`
	}
	tool, args, result := "editToolCall", `{"path":`+full+`}`, ""
	kind := s.rng.IntN(5)
	unix := func(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }
	if s.seen[name] || kind == 2 && unix(old.text) == unix(text) {
		kind = 4 // a report without the only change says that there was none; then the change looks like a person's
	}
	switch kind {
	case 0:
		s.silent[name] = p
		s.does("agent writes", "%s %s", name, brief(text))
		tool, args = "writeToolCall", `{"path":`+full+`,"fileText":`+quoted(text)+`}`
		result = fmt.Sprintf(`{"path":%s,"fileSize":%d}`, full, len(text))
	case 1:
		s.silent[name] = p
		s.does("agent edits, saying nothing", "%s %s", name, brief(text))
		result = `{"path":` + full + `}`
	case 2:
		s.silent[name] = p
		s.does("agent edits, line ends lost", "%s %s", name, brief(text))
		result = told(unix(old.text), unix(text))
	default:
		s.does("agent edits", "%s %s", name, brief(text))
		result = told(old.text, text)
	}
	p.call(tool, args, result, write)
	s.disk[name] = held{text, old.mode}
}

// opaque reports whether a change is pending that hunks do not show by lines. Its state after another write of the agent
// cannot be read from them.
func (s *episode) opaque(name string) bool {
	d := s.diffs[name]
	return d != nil && len(hunksOf(d, partOpaque)) > 0
}

// stage writes a text for a command to a file outside of the workspace.
func (s *episode) stage(text string) (file string) {
	s.scribe.made++
	file = filepath.Join(s.sp.w.Dir, fmt.Sprintf("stage%d.%d.%d", s.sp.n, s.n, s.scribe.made))
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		s.failf("%v", err)
	}
	return file
}

// agentRuns returns a part of a command.
func (s *episode) agentRuns(p *agentWork) {
	sh := func(format string, args ...any) { fmt.Fprintf(&p.shell, format+"\n", args...) }
	name, old, is := s.target()
	if s.opaque(name) {
		return
	}
	sh("mkdir -p '%s'", path.Dir(name))
	switch kind := s.rng.IntN(12); {
	case is && kind == 0:
		s.does("command removes", "%s", name)
		sh("rm '%s'", name)
		delete(s.disk, name)
	case is && kind < 3:
		to := s.dir + "/" + []string{"moved", "b", "sub/moved"}[s.rng.IntN(3)]
		if to == name || s.vacated[to] {
			return
		}
		s.vacated[name] = true
		s.does("command moves", "%s to %s", name, to)
		sh("mkdir -p '%s'; mv '%s' '%s'", path.Dir(to), name, to)
		s.disk[to] = old
		delete(s.disk, name)
		if s.rng.IntN(3) == 0 {
			text := s.agentText(old, true)
			s.tracef("    and writes it: %s", brief(text))
			sh("cat '%s' > '%s'", s.stage(text), to)
			s.disk[to] = held{text, old.mode}
		}
	case is && kind == 3:
		mode := old.mode ^ 0o111
		s.does("command changes the mode", "%s to %o", name, mode)
		sh("chmod %o '%s'", mode, name)
		s.disk[name] = held{old.text, mode}
	case is && kind < 6:
		more := s.scribe.unique("agent") + s.scribe.end()
		s.does("command appends", "%s %q", name, more)
		sh("cat '%s' >> '%s'", s.stage(more), name)
		s.disk[name] = held{old.text + more, old.mode}
	default:
		text := s.agentText(old, is)
		file := s.stage(text)
		if s.rng.IntN(2) == 0 {
			s.does("command writes", "%s %s", name, brief(text))
			sh("cat '%s' > '%s'", file, name)
		} else {
			s.does("command replaces", "%s %s", name, brief(text))
			sh("chmod %o '%s'; mv '%s' '%s'", old.mode, file, file, name)
		}
		s.disk[name] = held{text, old.mode}
	}
}

// userActs makes the person change none, one or two files.
func (s *episode) userActs() {
	for n := s.rng.IntN(3); n > 0; n-- {
		s.byHand(s.userAct)
	}
}

func (s *episode) userAct() {
	name, old, is := s.target()
	s.typed = nil
	s.unseen++
	s.seen[name] = true
	switch kind := s.rng.IntN(16); {
	case is && kind == 0:
		s.does("person removes", "%s", name)
		s.over[name] = true
		s.must(os.Remove(s.sp.w.Path(name)))
		delete(s.disk, name)
	case kind == 1 && len(s.base) > 0:
		name = pick(s.rng, s.base)
		if s.vacated[name] {
			return
		}
		old = s.disk[name]
		if _, is := s.disk[name]; !is || strings.Contains(old.text+s.base[name].text, "\x00") {
			s.over[name] = true
		}
		if old.mode == 0 {
			old.mode = s.base[name].mode
		}
		s.does("person brings back", "%s %s", name, brief(s.base[name].text))
		s.save(name, s.base[name].text, old.mode)
	case !is:
		s.over[name] = true
		text := s.scribe.text("user")
		s.does("person makes", "%s %s", name, brief(text))
		s.save(name, text, 0o644)
	case kind < 4:
		more := s.scribe.unique("user") + s.scribe.end()
		s.does("person appends", "%s %q", name, more)
		f, err := os.OpenFile(s.sp.w.Path(name), os.O_APPEND|os.O_WRONLY, 0)
		s.must(err)
		_, err = f.WriteString(more)
		s.must(err)
		s.must(f.Close())
		s.disk[name] = held{old.text + more, old.mode}
	default:
		text, at := s.scribe.typed(old.text)
		if strings.Contains(old.text, "\x00") {
			s.over[name] = true
			at = -1
		}
		if ends := strings.NewReplacer("\r\n", "\n"); s.sp.midTurn && text != old.text && ends.Replace(text) == ends.Replace(old.text) {
			// If the agent edits the file next and the daemon has not looked before, the new line ends count as the agent's.
			text += s.scribe.unique("user") + s.scribe.end()
		}
		if s.sp.midTurn && strings.Contains(old.text, "\r\n") && !strings.Contains(text, "\r\n") && text != "" {
			text, at = old.text+s.scribe.unique("user")+s.scribe.end(), -1 // the same, also with other changes
		}
		s.does("person writes", "%s %s", name, brief(text))
		s.save(name, text, old.mode)
		if at >= 0 && s.unseen == 1 { // one change at a time can be followed
			s.typed = s.follow(name, at, world.SplitAfter(text)[at])
		}
	}
}

// follow returns the baseline with a line that the person typed where nothing is pending beside it; otherwise nil.
func (s *episode) follow(name string, at int, line string) shelf {
	base, was, behind := s.base, name, 0
	if d := s.diffs[name]; d != nil {
		was = oldPath(d)
		for i := range d.Hunks {
			h := &d.Hunks[i]
			if h.Kind != "text" {
				if p := partOf(d, h); p != partMove && p != partMode {
					return nil
				}
				continue
			}
			start := h.NewStart
			if h.NewLines > 0 {
				start--
			}
			lead, trail := contextOf(h)
			from, to := start+lead, start+h.NewLines-trail
			switch {
			case at > to+1:
				behind += h.OldLines - h.NewLines
			case at > from-2:
				return nil
			}
		}
	}
	lines := world.SplitAfter(base[was].text)
	if at+behind > len(lines) || at+behind == len(lines) && len(lines) > 0 && !strings.HasSuffix(base[was].text, "\n") {
		return nil
	}
	after := base.clone()
	out := append(append([]string{}, lines[:at+behind]...), line)
	after[was] = held{strings.Join(append(out, lines[at+behind:]...), ""), base[was].mode}
	return after
}

// save writes a file in the way of an editor.
func (s *episode) save(name, text string, mode fs.FileMode) {
	full := s.sp.w.Path(name)
	s.must(os.MkdirAll(filepath.Dir(full), 0o755))
	if s.rng.IntN(2) == 0 {
		s.must(os.WriteFile(full, []byte(text), mode))
	} else {
		s.must(os.WriteFile(full+".new", []byte(text), mode))
		s.must(os.Rename(full+".new", full))
	}
	s.must(os.Chmod(full, mode))
	s.disk[name] = held{text, mode}
}

func (s *episode) must(err error) {
	if err != nil {
		s.failf("%v", err)
	}
}
