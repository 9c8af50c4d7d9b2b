package chat

import (
	"os"
	"os/signal"
	"unicode"
	"unicode/utf8"

	"cursord/cmd/cursord/internal/review"
	"cursord/cmd/cursord/internal/term"
)

// A keyboard is a terminal whose keys are read one by one and not shown: the line that is typed is the chat's to show, which
// can so take it away while a turn is shown, and bring it back.
type keyboard struct {
	tty     *os.File
	usual   term.Mode
	keys    chan string    // control characters are keys, too; closed when there are no more
	signals chan os.Signal // that end the chat, or send it to the background and bring it back
}

// openKeyboard begins to read. The caller closes the keyboard, or the terminal stays so.
func openKeyboard(tty *os.File) (*keyboard, error) {
	usual, err := term.ModeOf(tty)
	if err != nil {
		return nil, err
	}
	k := &keyboard{tty: tty, usual: usual, keys: make(chan string), signals: make(chan os.Signal, 4)}
	signal.Notify(k.signals, append(term.EndingSignals(), term.JobSignals()...)...)
	k.claim()
	go k.read()
	return k, nil
}

// claim and close set how the terminal handles keys. It cannot be helped where that fails.
func (k *keyboard) claim() { _ = k.usual.Keys().Set(k.tty) }

func (k *keyboard) close() {
	signal.Stop(k.signals)
	_ = k.usual.Set(k.tty)
}

// suspended sends the program to the background.
func (k *keyboard) suspended() {
	_ = k.usual.Set(k.tty)
	term.Suspend()
}

func (k *keyboard) read() {
	defer close(k.keys)
	var typed []byte
	b := make([]byte, 4096)
	for {
		n, err := k.tty.Read(b)
		typed = append(typed, b[:n]...)
		for {
			key, size := nextChar(typed)
			if size == 0 {
				break
			}
			if typed = typed[size:]; key != "" {
				k.keys <- key
			}
		}
		if err != nil {
			return
		}
	}
}

// nextChar returns the first character of what was typed and how many bytes it has: 0 if it is not there yet. Keys that
// are no characters are "".
func nextChar(b []byte) (string, int) {
	if len(b) == 0 || b[0] != '\x1b' && !utf8.FullRune(b) {
		return "", 0
	}
	if b[0] == '\x1b' {
		_, n := review.NextKey(b)
		return "", n
	}
	_, n := utf8.DecodeRune(b)
	return string(b[:n]), n
}

// A typedLine is what was typed for the next prompt.
type typedLine struct{ text []rune }

// A keyEffect says what a key means beside changing the line.
type keyEffect int

const (
	keyTyped keyEffect = iota
	keySends
	keyLeaves
)

// key takes a key, as terminals do in lines of their own.
func (l *typedLine) key(key string) keyEffect {
	switch key {
	case "\r", "\n":
		return keySends
	case "\x04": // Ctrl-D
		if len(l.text) == 0 {
			return keyLeaves
		}
	case "\x7f", "\b":
		l.cut(func(rune) bool { return false })
	case "\x15": // Ctrl-U
		l.text = nil
	case "\x17": // Ctrl-W
		for len(l.text) > 0 && l.text[len(l.text)-1] == ' ' {
			l.text = l.text[:len(l.text)-1]
		}
		l.cut(func(r rune) bool { return r != ' ' })
	case "\t":
		l.text = append(l.text, ' ')
	default:
		for _, r := range key {
			if !unicode.IsControl(r) && r != utf8.RuneError {
				l.text = append(l.text, r)
			}
		}
	}
	return keyTyped
}

// cut takes the last character away, and those before it as long as more says so.
func (l *typedLine) cut(more func(rune) bool) {
	for first := true; len(l.text) > 0; first = false {
		last := l.text[len(l.text)-1]
		if !first && !more(last) {
			return
		}
		l.text = l.text[:len(l.text)-1]
		for term.Cells(last) == 0 && len(l.text) > 0 { // with what it stands on
			last = l.text[len(l.text)-1]
			l.text = l.text[:len(l.text)-1]
		}
	}
}

// tail returns the end of the line that has room in so many cells.
func (l *typedLine) tail(room int) string {
	from := len(l.text)
	for from > 0 {
		if room -= term.Cells(l.text[from-1]); room < 0 {
			break
		}
		from--
	}
	for from < len(l.text) && term.Cells(l.text[from]) == 0 {
		from++
	}
	return string(l.text[from:])
}
