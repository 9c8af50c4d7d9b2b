package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"cursord/cmd/cursord/internal/complete"
	"cursord/cmd/cursord/internal/naming"
	"cursord/cmd/cursord/internal/run"
	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/api"
	"cursord/daemon/config/similar"
	"cursord/rpc"
	"cursord/sessions"
)

// A command is a word behind a slash that the chat itself carries out. It is not sent to the agent.
type command struct {
	name, args, about string
	do                func(c *Chat, ctx context.Context, args []string) error
	inTurn            bool // runs after the prompts and commands before it, because it changes the prompts after it
	raw               bool // takes the text behind the name as one argument, as it was typed
	// The arguments are completed with words, with the results of find, or with files of the workspace.
	words []string
	find  complete.Finder
	files bool
}

// commands holds all commands in the order in which /help lists them.
var commands []command

func init() { // in init, because /help refers to the list that contains it
	modes := []string{string(sessions.ModeAgent), string(sessions.ModeAsk), string(sessions.ModePlan)}
	commands = []command{
		{name: "help", about: "list the commands", do: (*Chat).help},
		{name: "model", args: "[MODEL]", about: "the model of the next prompts; alone: which exist", do: (*Chat).model, inTurn: true, find: complete.Models},
		{name: "mode", args: "[MODE]", about: "the next prompts' mode: agent, ask (reads only), plan", do: (*Chat).mode, inTurn: true, words: modes},
		{name: "file", args: "[PATH[:FROM-TO]]", about: "attach a file to the next prompt; alone: detach all", do: (*Chat).file, inTurn: true, files: true},
		{name: "new", about: "begin a new session with the next prompt", do: (*Chat).fresh, inTurn: true},
		{name: "sessions", args: "[SESSION]", about: "go on in a session; alone: list them", do: (*Chat).sessions, inTurn: true, find: complete.Sessions},
		{name: "diff", args: "[PATH]", about: "show the changes to review", do: own("diff"), find: complete.Files},
		{name: "review", args: "[PATH]", about: "go through the changes hunk by hunk", do: own("review"), find: complete.Files},
		{name: "accept", args: "HUNK|FILE|--all", about: "keep changes", do: own("accept"), find: complete.Changes},
		{name: "reject", args: "HUNK|FILE|--all", about: "take changes back", do: own("reject"), find: complete.Changes},
		{name: "undo", about: "take the last decision back", do: own("undo")},
		{name: "redo", about: "make the undone decision again", do: own("redo")},
		{name: "approve", args: "[ANSWER]", about: "answer what the agent asks; alone: yes", do: (*Chat).approve},
		{name: "deny", about: "answer no", do: (*Chat).deny},
		{name: "trust", about: "let agents run in this folder", do: (*Chat).trust},
		{name: "steer", args: "TEXT", about: "add to the turn that is shown; where its agent cannot: the next turn", do: (*Chat).steer, raw: true},
		{name: "edit", about: "edit the last prompt, and send it in place of its turn", do: (*Chat).edit},
		{name: "recap", about: "where the agent has lost the chat: ask the last prompt again, with the transcript", do: (*Chat).recap, inTurn: true},
		{name: "rewind", args: "[TURN]", about: "take back from a turn on, with the files; alone: the last one", do: (*Chat).rewind, find: complete.Turns},
		{name: "fork", args: "[copy|none] [TURN]", about: "go on in another session, in a copy, with what was said up to TURN (@2 is the last but one); alone: with all", do: (*Chat).fork, inTurn: true, words: isolations, find: complete.Turns},
		{name: "search", args: "WORDS", about: "find words in all sessions", do: (*Chat).search, raw: true},
		{name: "cancel", args: "[TURN]", about: "cancel a turn, or take a queued prompt back: @1 is the last one; alone: the turn that is shown", do: (*Chat).cancelTurn, find: complete.Turns},
		{name: "quit", about: "leave; turns go on", do: func(*Chat, context.Context, []string) error { return errLeave }},
	}
}

// errLeave says that the person leaves the chat.
var errLeave = errors.New("the person leaves")

func commandOf(name string) *command {
	i := slices.IndexFunc(commands, func(c command) bool { return c.name == name || c.name == "quit" && name == "exit" })
	if i < 0 {
		return nil
	}
	return &commands[i]
}

// slashed splits a line into a command's name and arguments. It is no command if the first word has another slash or a dot,
// because that is a path.
func slashed(text string) (name, args string, is bool) {
	if !strings.HasPrefix(text, "/") {
		return "", "", false
	}
	text = text[1:]
	end := strings.IndexFunc(text, unicode.IsSpace)
	if end < 0 {
		end = len(text)
	}
	name = text[:end]
	is = strings.IndexFunc(name, func(r rune) bool {
		return r != '_' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) < 0
	return name, text[end:], is
}

// typed handles a line of the person: a command, a saved prompt or a prompt.
func (c *Chat) typed(ctx context.Context, text string) error {
	name, given, is := slashed(text)
	if !is {
		return c.prompt(ctx, text, nil)
	}
	if found := commandOf(name); found != nil {
		c.View.echo(text)
		args, err := found.split(given)
		if err != nil {
			return err
		}
		switch {
		case len(args) == 0 && found.args != "" && !strings.HasPrefix(found.args, "["):
			hint := " (/diff shows what there is)"
			if found.raw {
				hint = ""
			}
			return fmt.Errorf("/%s what? /%[1]s %s%s", found.name, found.args, hint)
		case len(args) > 0 && found.args == "":
			return fmt.Errorf("/%s takes nothing behind it, and was given %q", found.name, term.Clean(args[0]))
		}
		if !found.inTurn {
			return found.do(c, ctx, args)
		}
		return c.enqueue(func() error { return found.do(c, ctx, args) })
	}
	if path := savedPrompts(c.Params.Workspace)[name]; path != "" {
		saved, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("the saved prompt cannot be read: %w", err)
		}
		said := strings.ToValidUTF8(string(saved), "\ufffd")
		return c.prompt(ctx, text, &rpc.Context{Kind: "text", Text: &said, Title: filepath.Base(path)})
	}
	c.View.echo(text)
	names := make([]string, len(commands))
	for i, known := range commands {
		names[i] = "/" + known.name
	}
	return fmt.Errorf(`unknown command "/%s"%s (/help lists them; a prompt that begins with / is sent with a space before it)`,
		term.Clean(name), similar.DidYouMean("/"+name, names))
}

// savedPrompts returns the files of the user's Cursor commands by their names. A file of the workspace hides one of the home
// folder that has the same name.
func savedPrompts(root string) map[string]string {
	found := map[string]string{}
	home, _ := os.UserHomeDir()
	for _, dir := range []string{home, root} {
		if dir == "" {
			continue
		}
		entries, err := os.ReadDir(filepath.Join(dir, ".cursor", "commands"))
		if err != nil {
			continue
		}
		for _, e := range entries {
			if name, is := strings.CutSuffix(e.Name(), ".md"); is && e.Type().IsRegular() {
				found[name] = filepath.Join(dir, ".cursor", "commands", e.Name())
			}
		}
	}
	return found
}

// split returns the arguments in the text behind the command's name.
func (k *command) split(text string) ([]string, error) {
	if !k.raw {
		return split(text)
	}
	if text = strings.TrimSpace(text); text == "" {
		return nil, nil
	}
	return []string{text}, nil
}

// split splits arguments at blanks as a shell does. Quotes and a backslash keep blanks.
func split(text string) (args []string, err error) {
	var word strings.Builder
	var quote rune
	begun, escaped := false, false
	for _, r := range text {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			begun, escaped = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			begun, quote = true, r
		case strings.ContainsRune(" \t\r\n", r):
			if begun {
				args = append(args, word.String())
				word.Reset()
				begun = false
			}
		default:
			begun = true
			word.WriteRune(r)
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("the quote %c is not closed", quote)
	}
	if begun {
		args = append(args, word.String())
	}
	return args, nil
}

func (c *Chat) help(context.Context, []string) error {
	widest := 0
	for _, k := range commands {
		widest = max(widest, len(k.name+k.args)+2)
	}
	var lines []string
	for _, k := range commands {
		lines = append(lines, fmt.Sprintf("  /%-*s  %s", widest, strings.TrimSpace(k.name+" "+k.args), k.about))
	}
	saved := savedPrompts(c.Params.Workspace)
	for _, name := range slices.Sorted(maps.Keys(saved)) {
		lines = append(lines, fmt.Sprintf("  /%-*s  the saved prompt %s", widest, term.Clean(name), term.Clean(saved[name])))
	}
	c.View.line(append(lines,
		"Enter sends; Alt-Enter begins another line; what you send while a turn runs waits for its end.",
		"/steer adds to the turn that runs instead; /cancel @1 takes the last queued prompt back.",
		"@ and Tab complete names of files; Up and Ctrl-R bring back what was typed in this folder.",
		"Ctrl-C cancels the turn that is shown; where none runs it empties the line, or leaves; turns go on then.",
	)...)
	return nil
}

func (c *Chat) model(ctx context.Context, args []string) error {
	if len(args) == 0 {
		if c.Params.Model != nil {
			c.View.line("The next prompts use the model " + term.Clean(*c.Params.Model) + ".")
		}
		return c.own(ctx, "models")
	}
	name := strings.Join(args, " ")
	list, err := c.Client.AgentModels(ctx)
	if err == nil && len(list.Models) > 0 && !slices.ContainsFunc(list.Models, func(m api.Model) bool { return m.ID == name }) {
		var ids []string
		for _, m := range list.Models {
			ids = append(ids, m.ID)
		}
		return fmt.Errorf("there is no model %q%s (/model lists them)", term.Clean(name), similar.DidYouMean(name, ids))
	}
	c.Params.Model = &name
	c.View.line("The next prompts use the model " + term.Clean(name) + ".")
	return nil
}

func (c *Chat) mode(_ context.Context, args []string) error {
	modes := commandOf("mode").words
	now := "that of the session"
	if c.Params.Mode != nil {
		now = string(*c.Params.Mode)
	}
	switch {
	case len(args) == 0:
		c.View.line("The mode of the next prompts is " + now + "; /mode " + strings.Join(modes, "|") + " changes it.")
	case !slices.Contains(modes, args[0]) || len(args) > 1:
		return fmt.Errorf("the mode is %q; it must be agent, ask or plan", term.Clean(strings.Join(args, " ")))
	default:
		mode := sessions.Mode(args[0])
		c.Params.Mode = &mode
		c.View.line("The next prompts are sent in the mode " + args[0] + ".")
	}
	return nil
}

func (c *Chat) file(_ context.Context, args []string) error {
	if len(args) == 0 {
		c.Params.Context = nil
		c.View.attach(nil)
		c.View.line("No file goes with the next prompt.")
		return nil
	}
	for i, arg := range args {
		if !filepath.IsAbs(arg) {
			args[i] = filepath.Join(c.Params.Workspace, arg)
		}
	}
	with, err := run.NameFiles("/file", args)
	c.Params.Context = append(c.Params.Context, with...)
	c.View.attach(c.attached())
	if c.terminal == nil {
		c.View.line(c.attached()...)
	}
	return err
}

// attached returns a note for each file that goes with the next prompt.
func (c *Chat) attached() (notes []string) {
	for _, with := range c.Params.Context {
		name := *with.Path
		if rel, err := filepath.Rel(c.Params.Workspace, name); err == nil && filepath.IsLocal(rel) {
			name = rel
		}
		if r := with.Range; r != nil {
			name += fmt.Sprintf(":%d-%d", r.Start.Line+1, r.End.Line)
		}
		notes = append(notes, "with the next prompt: "+term.Clean(name))
	}
	return notes
}

func (c *Chat) fresh(context.Context, []string) error {
	c.begins = true
	c.View.line("The next prompt begins a new session.")
	return nil
}

func (c *Chat) sessions(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return c.own(ctx, "sessions", "--workspace", c.Params.Workspace)
	}
	id, err := naming.Names{Client: c.Client, Root: c.Params.Workspace}.Session(ctx, args[0])
	if err != nil {
		return err
	}
	page, err := c.Client.SessionRead(ctx, rpc.SessionReadParams{SessionID: id, Limit: 1})
	if err != nil {
		return err
	}
	if page.Session.Workspace != c.Params.Workspace {
		return fmt.Errorf("that session belongs to another folder; open it with: cursord chat --session %s", id)
	}
	c.begins = false
	c.View.goOn(id)
	c.View.line("The next prompts go on in: " + term.Clean(cmp.Or(page.Session.Title, id)))
	return nil
}

func (c *Chat) trust(ctx context.Context, args []string) error {
	return c.own(ctx, "trust", cmp.Or(strings.Join(args, " "), c.Params.Workspace))
}
