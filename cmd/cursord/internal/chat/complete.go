package chat

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/filelist"
	"cursord/rpc"
)

// tab completes the word at the cursor, or selects the next or previous choice if choices are shown.
func (p *prompt) tab(by int) tea.Cmd {
	if c := p.choices; c != nil {
		c.at += by
		if c.at >= len(c.words) {
			c.at = 0
		} else if c.at < 0 {
			c.at = len(c.words) - 1
		}
		p.replace(c.before, word(c.words[c.at]))
		return nil
	}
	value, before, complete := p.value(), p.before(), p.complete
	find := func() tea.Msg {
		from, words := complete(before)
		return wordsMsg{value, before, from, words}
	}
	if strings.HasPrefix(before, "/") && !strings.ContainsAny(before, " \t\n") { // at once: it only reads a list and two folders
		p.found(find().(wordsMsg))
		return nil
	}
	return find
}

// found completes the word or shows the choices, unless the person has typed on meanwhile.
func (p *prompt) found(m wordsMsg) {
	if p.value() != m.value || p.before() != m.before || len(m.words) == 0 {
		return
	}
	head := m.before[:m.from]
	if len(m.words) == 1 {
		p.replace(head, word(m.words[0])+" ")
		return
	}
	if common := commonStart(m.words); len(common) > len(m.before)-m.from {
		p.replace(head, common)
	}
	p.choices = &choices{before: head, words: m.words, at: -1}
}

// replace replaces the text before the cursor by head and word.
func (p *prompt) replace(head, word string) {
	rest := p.value()[len(p.before()):]
	p.area.Set(withTabs(head+word), withTabs(rest))
}

// word returns a completion's word, without the description behind the tab.
func word(completion string) string {
	w, _, _ := strings.Cut(completion, "\t")
	return w
}

func commonStart(words []string) string {
	common := word(words[0])
	for _, w := range words[1:] {
		for !strings.HasPrefix(word(w), common) {
			r := []rune(common)
			common = string(r[:len(r)-1])
		}
	}
	return common
}

// choiceLines returns at most rows lines that show the choices.
func (p *prompt) choiceLines(rows int) (lines []string) {
	c := p.choices
	if c == nil {
		return nil
	}
	first := max(min(c.at-rows/2, len(c.words)-rows), 0)
	longest := 0
	for _, w := range c.words[first:min(first+rows, len(c.words))] {
		longest = max(longest, term.Width(term.Clean(word(w))))
	}
	for i, completion := range c.words[first:min(first+rows, len(c.words))] {
		w, about, _ := strings.Cut(completion, "\t")
		w = term.Clean(w)
		if about != "" {
			w += strings.Repeat(" ", longest-term.Width(w)+2) + about
		}
		mark := "  "
		if first+i == c.at {
			mark = "* "
		}
		line := term.Fit(mark+w, p.width-1)
		if first+i != c.at {
			line = p.palette.Dim(line)
		}
		lines = append(lines, line)
	}
	return lines
}

const filesAge = 10 * time.Second // how long a list of files is used

// A finder completes words of the prompt: names of commands, saved prompts, files, and arguments of commands.
type finder struct {
	root   string
	client *rpc.Client

	mu    sync.Mutex
	known []string
	since time.Time
}

const mostWords = 200 // completions that are offered for a word

// find implements prompt.complete.
func (f *finder) find(ctx context.Context, before string) (from int, words []string) {
	from = strings.LastIndexAny(before, " \t\n") + 1
	last := before[from:]
	switch {
	case from == 0 && strings.HasPrefix(last, "/"):
		for _, c := range commands {
			words = append(words, "/"+c.name+"\t"+c.about)
		}
		for name, path := range savedPrompts(f.root) {
			words = append(words, "/"+name+"\t"+term.Clean(path))
		}
		slices.Sort(words)
		return from, beginning(words, last)
	case strings.HasPrefix(last, "@"):
		for _, path := range f.named(ctx, last[1:]) {
			words = append(words, "@"+path)
		}
		return from, words
	case strings.HasPrefix(before, "/"):
		name, _, _ := strings.Cut(before[1:], " ")
		c := commandOf(name)
		switch {
		case c == nil:
			return from, nil
		case c.files:
			return from, f.named(ctx, last)
		case c.find != nil:
			words, _ = c.find(ctx, f.client, f.root, last) // on an error there is nothing to complete
			return from, beginning(append(words, c.words...), last)
		}
		return from, beginning(c.words, last)
	}
	return from, nil
}

// beginning returns the words that start with begin, at most mostWords.
func beginning(words []string, begin string) (out []string) {
	for _, w := range words {
		if strings.HasPrefix(w, begin) && len(out) < mostWords {
			out = append(out, w)
		}
	}
	return out
}

// named returns the files of the workspace whose paths start with begin, or if there are none, those whose paths contain it.
func (f *finder) named(ctx context.Context, begin string) (out []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Since(f.since) > filesAge {
		f.known, _ = filelist.Named(ctx, f.root)
		f.since = time.Now()
	}
	for _, fits := range []func(path, begin string) bool{strings.HasPrefix, strings.Contains} {
		for _, path := range f.known {
			if fits(path, begin) && strings.ToValidUTF8(path, "") == path && !strings.ContainsAny(path, " \t\n") && len(out) < mostWords {
				out = append(out, path)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}
