package textarea

import (
	"strings"
	"unicode"
)

// Key handles a key by its name, such as "ctrl+a"; text is what it types. A key without a meaning types its text.
func (a *Area) Key(name, text string) {
	a.init()
	at := a.at
	switch name {
	case "right", "ctrl+f":
		a.moveTo(a.after(at))
	case "left", "ctrl+b":
		a.moveTo(a.before(at))
	case "alt+right", "alt+f":
		_, to := a.wordAfter(at)
		a.moveTo(to)
	case "alt+left", "alt+b":
		a.moveTo(a.wordBefore(at))
	case "home", "ctrl+a":
		a.moveTo(place{at.line, 0})
	case "end", "ctrl+e":
		a.moveTo(a.end(at.line))
	case "alt+<", "ctrl+home":
		a.moveTo(place{})
	case "alt+>", "ctrl+end":
		a.moveTo(a.last())
	case "up":
		a.moveRows(-1)
	case "down":
		a.moveRows(+1)
	case "pgup":
		a.page(-1)
	case "pgdown":
		a.page(+1)
	case "alt+enter", "shift+enter":
		a.replace(at, at, "\n")
	case "backspace", "ctrl+h":
		a.replace(a.before(at), at, "")
	case "delete", "ctrl+d":
		a.replace(at, a.after(at), "")
	case "ctrl+k":
		a.deleteTo(a.end(at.line), a.after(at))
	case "ctrl+u":
		a.deleteTo(place{at.line, 0}, a.before(at))
	case "alt+backspace", "ctrl+w":
		a.deleteTo(a.inLine(a.wordBefore(at)), a.before(at))
	case "alt+delete", "alt+d":
		_, to := a.wordAfter(at)
		a.deleteTo(a.inLine(to), a.after(at))
	case "alt+c":
		a.changeWord(func(word string) string {
			first, _ := first(word)
			return strings.Map(unicode.ToTitle, first) + word[len(first):]
		})
	case "alt+l":
		a.changeWord(strings.ToLower)
	case "alt+u":
		a.changeWord(strings.ToUpper)
	case "ctrl+t":
		a.transpose()
	default:
		a.Insert(text)
	}
	a.show()
}

// deleteTo deletes what is between the cursor and a place in its line. Where that is nothing it deletes the line's end instead, which is
// between the cursor and the other place.
func (a *Area) deleteTo(to, beyond place) {
	if to == a.at {
		to = beyond
	}
	if to.line < a.at.line || to.line == a.at.line && to.offset < a.at.offset {
		a.replace(to, a.at, "")
	} else {
		a.replace(a.at, to, "")
	}
}

// inLine returns a place, or the end of the cursor's line that is nearest to it.
func (a *Area) inLine(to place) place {
	switch {
	case to.line < a.at.line:
		return place{a.at.line, 0}
	case to.line > a.at.line:
		return a.end(a.at.line)
	}
	return to
}

// changeWord replaces the rest of the word at the cursor, or the next word.
func (a *Area) changeWord(change func(string) string) {
	from, to := a.wordAfter(a.at)
	if from != to {
		a.replace(from, to, change(a.lines[from.line].text[from.offset:to.offset]))
	}
}

// transpose exchanges the characters on both sides of the cursor; at a line's end the two before it.
func (a *Area) transpose() {
	at := a.at
	if at == a.end(at.line) && at.offset > 0 {
		at = a.before(at)
	}
	if at.offset == 0 {
		return
	}
	from, to := a.before(at), a.after(at)
	text := a.lines[at.line].text
	a.replace(from, to, text[at.offset:to.offset]+text[from.offset:at.offset])
}
