package chat

// recall shows the next or previous history entry. Behind the last entry it shows the draft again.
func (p *prompt) recall(by int) {
	to := p.at + by
	if to < 0 || to > len(p.history.entries) {
		return
	}
	if p.at >= len(p.history.entries) {
		p.draft, p.drafted = p.value(), p.began
	}
	if p.at = to; to == len(p.history.entries) {
		p.set(p.draft)
		p.began = p.drafted
		return
	}
	p.set(p.history.entries[to])
}

// searches handles a key of a search. It returns false if the key has ended the search and still needs its usual handling.
func (p *prompt) searches(name, text string) bool {
	s := p.search
	switch {
	case name == "ctrl+g" || name == "esc" || name == "ctrl+c":
		p.at, p.search = s.from, nil
		p.set(s.draft)
		return true
	case name == "ctrl+r":
		p.find(p.at)
		return true
	case name == "backspace":
		if r := []rune(s.part); len(r) > 0 {
			s.part = string(r[:len(r)-1])
			p.find(len(p.history.entries))
		}
		return true
	case text != "":
		s.part += text
		p.find(p.at + 1)
		return true
	}
	if p.draft, p.drafted = s.draft, p.began; s.part == "" {
		p.at = s.from
	}
	p.search = nil
	return false
}

// find shows the latest history entry before an index that contains the searched text.
func (p *prompt) find(before int) {
	s := p.search
	if s.part == "" {
		return
	}
	at := p.history.older(min(before, len(p.history.entries)), s.part)
	if s.fails = at < 0; !s.fails {
		p.at = at
		p.set(p.history.entries[at])
	}
}
