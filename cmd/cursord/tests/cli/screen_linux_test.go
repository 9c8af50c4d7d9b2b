package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// onScreen is the program "onscreen [-stdin] KEYS COMMAND…" of scripts. The command has a terminal, where the text of the file KEYS
// and the end of the input are typed; with -stdin that is its standard input, too. What comes on the screen is in $WORK/screen.
//
// The ttyin of testscript closes the screen when the command ends, and loses what it has not read until then.
func onScreen() {
	args := os.Args[1:]
	stdin := len(args) > 0 && args[0] == "-stdin"
	if stdin {
		args = args[1:]
	}
	if len(args) < 2 {
		fail(errors.New("usage: onscreen [-stdin] KEYS COMMAND…"))
	}
	keys, err := os.ReadFile(args[0])
	fail(err)
	screen, tty, err := openScreen()
	fail(err)
	cmd := exec.Command(args[1], args[2:]...)
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = os.Stdout, os.Stderr, []*os.File{tty}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
	if stdin {
		cmd.Stdin = tty
	}
	// The terminal echoes what is typed: before the command, so that it is above what the command writes.
	const endOfInput = "\x04"
	_, err = screen.Write(append(keys, endOfInput...))
	fail(err)
	fail(cmd.Start())
	fail(tty.Close())
	shown, err := io.ReadAll(screen)
	if !errors.Is(err, syscall.EIO) { // nobody has the terminal any more
		fail(fmt.Errorf("the screen ends with %w", err))
	}
	fail(os.WriteFile(os.Getenv("WORK")+"/screen", shown, 0o600))
	_ = cmd.Wait()
	os.Exit(cmd.ProcessState.ExitCode())
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "onscreen:", err)
		os.Exit(100)
	}
}

// openScreen opens a terminal: the side of a person, who reads and types, and the side of a program.
func openScreen() (screen, tty *os.File, err error) {
	if screen, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		return nil, nil, err
	}
	if err := unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, err
	}
	n, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err != nil {
		return nil, nil, err
	}
	tty, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|syscall.O_NOCTTY, 0)
	return screen, tty, err
}
