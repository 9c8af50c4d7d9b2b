//go:build unix

package term

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// enableEscapes reports whether a terminal understands escape sequences. Here all of them do.
func enableEscapes(*os.File) bool { return true }

// ScreenSize returns a terminal's size in cells; known is false if the terminal does not report it.
func ScreenSize(f *os.File) (columns, rows int, known bool) {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil || size.Col == 0 || size.Row == 0 {
		return 0, 0, false
	}
	return int(size.Col), int(size.Row), true
}

// A Mode is how a terminal handles input.
type Mode struct{ termios unix.Termios }

// ModeOf returns a terminal's present mode.
func ModeOf(f *os.File) (Mode, error) {
	t, err := unix.IoctlGetTermios(int(f.Fd()), getTermios)
	if err != nil {
		return Mode{}, err
	}
	return Mode{*t}, nil
}

// Keys returns the mode changed so that each key is read at once and not shown. Keys that send signals still do.
func (m Mode) Keys() Mode {
	m.termios.Lflag &^= unix.ICANON | unix.ECHO
	m.termios.Cc[unix.VMIN], m.termios.Cc[unix.VTIME] = 1, 0
	return m
}

// Set puts a terminal into the mode.
func (m Mode) Set(f *os.File) error {
	return unix.IoctlSetTermios(int(f.Fd()), setTermios, &m.termios)
}

// InFront reports whether a file is a terminal whose keys go to this program, which is not in the background.
func InFront(f *os.File) bool {
	group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// Own opens the terminal at which this program was started; nil if there is none. alone is false if another program of the same pipeline or
// script has it open by Own: what is typed could go to the wrong one of them.
func Own() (f *os.File, alone bool) {
	f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, true
	}
	own := unix.Flock_t{Type: unix.F_WRLCK, Start: int64(unix.Getpgrp()), Len: 1} // a byte for each group of processes: only one is in front
	err = unix.FcntlFlock(f.Fd(), unix.F_SETLK, &own)
	if alone = err == nil; !alone && !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EACCES) {
		parent, err := unix.Getpgid(os.Getppid()) // a system without locks of terminals
		alone = err == nil && parent != unix.Getpgrp()
	}
	if !alone {
		f.Close()
		return nil, false
	}
	return f, true
}

// DropTyped drops what was typed at a terminal and not read yet.
func DropTyped(f *os.File) {
	if m, err := ModeOf(f); err == nil {
		_ = unix.IoctlSetTermios(int(f.Fd()), dropTyped, &m.termios) // without it, what was typed before counts as typed now
	}
}

// typedAt returns a number that changes with each Enter at a terminal: of the bytes of whole lines there, read or not. known is false if the
// terminal does not edit lines itself.
func typedAt(f *os.File) (bytes int, known bool) {
	if m, err := ModeOf(f); err != nil || m.termios.Lflag&unix.ICANON == 0 {
		return 0, false
	}
	waiting, err := unix.IoctlGetInt(int(f.Fd()), typedBytes)
	return waiting + int(readHere.Load()), err == nil
}

// EndingSignals returns the signals, beside Ctrl-C, that end a program at a terminal.
func EndingSignals() []os.Signal { return []os.Signal{syscall.SIGTERM, syscall.SIGHUP} }

// IsHangup reports whether a signal says that nobody watches any more: the terminal is gone, or who read the output.
func IsHangup(sig os.Signal) bool { return sig == syscall.SIGHUP || sig == syscall.SIGPIPE }

// JobSignals returns the signals that suspend a program and bring it back.
func JobSignals() []os.Signal { return []os.Signal{syscall.SIGTSTP, syscall.SIGCONT} }

// ResumeSignals returns the job signals at which a program goes on. A program that is notified of the other job signals is
// no longer suspended by them.
func ResumeSignals() []os.Signal { return []os.Signal{syscall.SIGCONT} }

// IsResume reports whether a signal says that the program goes on.
func IsResume(sig os.Signal) bool { return sig == syscall.SIGCONT }

// Suspend stops the program until the user brings it back. Then the program gets a signal.
func Suspend() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) // cannot fail: a program may signal itself
}
