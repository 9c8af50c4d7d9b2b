//go:build unix

package term

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// enableEscapes reports whether a terminal understands escape sequences, as all of them do here.
func enableEscapes(*os.File) bool { return true }

// ScreenSize returns a terminal's size, if it tells.
func ScreenSize(f *os.File) (columns, rows int, known bool) {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil || size.Col == 0 || size.Row == 0 {
		return 0, 0, false
	}
	return int(size.Col), int(size.Row), true
}

// A Mode is how a terminal handles what is typed.
type Mode struct{ termios unix.Termios }

// ModeOf returns the mode in which a terminal is.
func ModeOf(f *os.File) (Mode, error) {
	t, err := unix.IoctlGetTermios(int(f.Fd()), getTermios)
	if err != nil {
		return Mode{}, err
	}
	return Mode{*t}, nil
}

// Keys returns the mode changed so that each key is read at once and not shown. The keys for signals stay.
func (m Mode) Keys() Mode {
	m.termios.Lflag &^= unix.ICANON | unix.ECHO
	m.termios.Cc[unix.VMIN], m.termios.Cc[unix.VTIME] = 1, 0
	return m
}

// Set puts a terminal into the mode, once all that was written to it is there.
func (m Mode) Set(f *os.File) error {
	return unix.IoctlSetTermios(int(f.Fd()), setTermios, &m.termios)
}

// EndingSignals are those by which others end a program at a terminal, beside Ctrl-C.
func EndingSignals() []os.Signal { return []os.Signal{syscall.SIGTERM, syscall.SIGHUP} }

// IsHangup reports whether a signal says that the terminal is gone.
func IsHangup(sig os.Signal) bool { return sig == syscall.SIGHUP }

// JobSignals are those by which a user sends a program to the background and brings it back.
func JobSignals() []os.Signal { return []os.Signal{syscall.SIGTSTP, syscall.SIGCONT} }

// ResumeSignals are those of JobSignals that a program gets when it goes on. Who asks for the others is not stopped by them any more.
func ResumeSignals() []os.Signal { return []os.Signal{syscall.SIGCONT} }

// IsResume reports whether a job signal is that of a program that goes on.
func IsResume(sig os.Signal) bool { return sig == syscall.SIGCONT }

// Suspend stops the program until the user brings it back, at which it gets a signal.
func Suspend() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) // cannot fail: the program may send itself what it likes
}
