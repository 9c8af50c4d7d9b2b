package term

import (
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// enableEscapes makes a console understand escape sequences and reports whether it does.
func enableEscapes(f *os.File) bool {
	var mode uint32
	console := windows.Handle(f.Fd())
	if windows.GetConsoleMode(console, &mode) != nil {
		return false
	}
	const escapes = windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING
	return mode&escapes != 0 || windows.SetConsoleMode(console, mode|escapes) == nil
}

// ScreenSize returns a console's size in cells; known is false if the console does not report it.
func ScreenSize(f *os.File) (columns, rows int, known bool) {
	var info windows.ConsoleScreenBufferInfo
	if windows.GetConsoleScreenBufferInfo(windows.Handle(f.Fd()), &info) != nil {
		return 0, 0, false
	}
	w := info.Window
	return int(w.Right-w.Left) + 1, int(w.Bottom-w.Top) + 1, true
}

// A Mode is how a console handles input.
type Mode struct{ flags uint32 }

// ModeOf returns a console's present mode.
func ModeOf(f *os.File) (m Mode, err error) {
	err = windows.GetConsoleMode(windows.Handle(f.Fd()), &m.flags)
	return m, err
}

// Keys returns the mode changed so that each key is read at once and not shown. Ctrl-C stays.
func (m Mode) Keys() Mode {
	m.flags &^= windows.ENABLE_LINE_INPUT | windows.ENABLE_ECHO_INPUT
	return m
}

// Set puts a console into the mode.
func (m Mode) Set(f *os.File) error {
	return windows.SetConsoleMode(windows.Handle(f.Fd()), m.flags)
}

// EndingSignals and JobSignals are empty: a console has only Ctrl-C.
func EndingSignals() []os.Signal { return nil }
func JobSignals() []os.Signal    { return nil }
func ResumeSignals() []os.Signal { return nil }

func IsResume(os.Signal) bool     { return false }
func IsHangup(sig os.Signal) bool { return sig == syscall.SIGPIPE }

// Suspend is never called here, because no signal asks for it.
func Suspend() {}

// InFront reports whether a file is a terminal whose keys go to this program.
func InFront(f *os.File) bool { return IsTerminal(f) }

// Own returns nil: here only the standard streams lead to the console.
func Own() (f *os.File, alone bool) { return nil, true }

// typedAt knows nothing here.
func typedAt(*os.File) (bytes int, known bool) { return 0, false }

// DropTyped drops what was typed at a terminal and not read yet.
func DropTyped(f *os.File) {
	_ = windows.FlushConsoleInputBuffer(windows.Handle(f.Fd())) // without it, what was typed before counts as typed now
}
