package overlay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// A Tree is a mounted overlay. Any goroutine may call its methods.
type Tree struct {
	at      string
	nsenter string

	mu   sync.Mutex
	held []*os.File // guarded by mu; the tree's top, the user namespace, the mount namespace, this program; nil once closed
}

// Mount mounts an overlay. Only one Tree with the same upper folder may be in use at a time. Processes that still have an earlier mount
// of the upper folder are killed; if some do not end, the error says which. An error that is no ErrRefused or that of ctx says what is
// wrong with the layout.
func Mount(ctx context.Context, l Layout) (*Tree, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	if err := nothingWithin(l.Lower); err != nil {
		return nil, err
	}
	if !helps.Load() {
		return nil, fmt.Errorf("%w: this program does not call Helper", ErrRefused)
	}
	nsenter, err := enterer()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	if err := endHolders(ctx, l.Upper); err != nil {
		return nil, err
	}
	self, err := os.Open("/proc/self/exe") // what its path leads to within may be a process's there
	if err != nil {
		return nil, err
	}
	held, err := mounted(ctx, slices.Concat([]string{l.Lower, l.Upper, l.Work, l.At}, l.Hide, []string{keepArg}, l.Keep))
	if err != nil {
		self.Close()
		return nil, err
	}
	return &Tree{at: l.At, nsenter: nsenter, held: append(held, self)}, nil
}

// enterer returns the program that starts others in namespaces. Go cannot do that: a process of several threads enters no user
// namespace.
func enterer() (string, error) {
	for _, dir := range []string{"/usr/bin", "/bin", "/usr/sbin", "/run/current-system/sw/bin"} {
		if program, err := exec.LookPath(filepath.Join(dir, "nsenter")); err == nil {
			return program, nil
		}
	}
	return "", errors.New("there is no nsenter, which is part of util-linux")
}

var helperEnv []string // all of a helper's environment

// mounted has a helper mount in new namespaces, and returns what it hands over.
func mounted(ctx context.Context, args []string) ([]*os.File, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(pair[0])
	theirs := os.NewFile(uintptr(pair[1]), "the helper's end")
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Args = append([]string{"cursord", helperArg, mountArg}, args...)
	cmd.Dir, cmd.Env, cmd.ExtraFiles = "/", append([]string{}, helperEnv...), []*os.File{theirs}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: uidWithin(), HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
		AmbientCaps: helperCaps, Pdeathsig: syscall.SIGKILL,
	}
	runtime.LockOSThread() // the helper ends with the thread that started it
	err = cmd.Run()
	runtime.UnlockOSThread()
	theirs.Close()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, fmt.Errorf("%w: no namespace of its own: %w", ErrRefused, err)
	}
	held, said, received := received(pair[0])
	switch {
	case received != nil:
		return nil, fmt.Errorf("%w: the helper ended early: %w", ErrRefused, errors.Join(err, received))
	case len(held) != handedOver:
		for _, f := range held {
			f.Close()
		}
		return nil, fmt.Errorf("%w: %s", ErrRefused, said)
	}
	return held, nil
}

// received takes the helper's one message: the descriptors, or why there are none.
func received(socket int) (files []*os.File, said string, err error) {
	text, rights := make([]byte, 4<<10), make([]byte, unix.CmsgSpace(4*handedOver))
	n, rn, _, _, err := unix.Recvmsg(socket, text, rights, unix.MSG_CMSG_CLOEXEC|unix.MSG_DONTWAIT)
	if err != nil {
		return nil, "", err
	}
	if n == 0 {
		return nil, "", io.ErrUnexpectedEOF
	}
	messages, err := unix.ParseSocketControlMessage(rights[:rn])
	if err != nil {
		return nil, "", err
	}
	for i := range messages {
		fds, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			return nil, "", err
		}
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "overlay"))
		}
	}
	return files, string(text[:n]), nil
}

// uidWithin returns the user's number in the namespace. Root's is another one: there, root would have capabilities.
func uidWithin() int { return max(os.Getuid(), 1) }

// handle returns the path of one of the tree's descriptors, for this process and those that it starts.
func handle(f *os.File) string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), f.Fd()) }

// Root returns a path at which this process finds the top of the tree until Close. It is a link that leads to no path:
// follow it by opening paths below it, and do not resolve it. A process that was not entered must not have it as its folder.
func (t *Tree) Root() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held == nil {
		return "/proc/self/fd/closed"
	}
	return handle(t.held[0])
}

// Enter makes cmd, which has not been started, start in the tree. Its folder is At or one below it, or "" for At. Start it
// before Close. The process that is started leads the command's group, and ends with it. All that the command has started ends then, too,
// also if that process is killed. If a signal has ended the command, its exit code is that of a shell.
func (t *Tree) Enter(cmd *exec.Cmd) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held == nil {
		return fs.ErrClosed
	}
	if cmd.Err != nil {
		return cmd.Err
	}
	dir := cmd.Dir
	if dir == "" {
		dir = t.at
	}
	rel, in := below(t.at, filepath.Clean(dir))
	if !in {
		return fmt.Errorf("%s does not lie in %s", dir, t.at)
	}
	if !filepath.IsAbs(cmd.Path) {
		return fmt.Errorf("%s: its full path is needed", cmd.Path)
	}
	if _, err := exec.LookPath(cmd.Path); err != nil {
		return err
	}
	if len(cmd.Args) == 0 {
		cmd.Args = []string{cmd.Path}
	}
	own := 3 + len(cmd.ExtraFiles) // its number for the process
	cmd.Args = append([]string{
		t.nsenter, "--preserve-credentials", "--user=" + handle(t.held[1]), "--mount=" + handle(t.held[2]),
		"--wd=" + filepath.Join(handle(t.held[0]), rel), "--", fmt.Sprintf("/proc/self/fd/%d", own), helperArg, leadArg, strconv.Itoa(own), cmd.Path,
	}, cmd.Args...)
	cmd.ExtraFiles = append(cmd.ExtraFiles, t.held[3])
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env, "PWD="+filepath.Join(t.at, rel))
	cmd.Path, cmd.Dir = t.nsenter, "/"
	return nil
}

// Close lets go of the tree. It stays for the processes that are in it.
func (t *Tree) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var errs []error
	for _, f := range t.held {
		errs = append(errs, f.Close())
	}
	t.held = nil
	return errors.Join(errs...)
}
