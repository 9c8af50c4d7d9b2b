package overlay

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// The program's first and second argument if it is started as a helper.
const (
	helperArg = "cursord-overlay"
	mountArg  = "mount"
	probeArg  = "probe"
	leadArg   = "lead"
	firstArg  = "first"
	waitArg   = "wait"
	keepArg   = "--" // between the folders to hide and those to keep
)

const (
	helperSocket = 3 // the helper's descriptor for its one message
	handedOver   = 3 // the tree's top, the user namespace, the mount namespace
)

// helperCaps are the helper's capabilities in its own namespace. The file system has them too, and nobody else: it copies
// files that their modes protect. The kernel grants none of them for what belongs to others.
var helperCaps = []uintptr{
	unix.CAP_SYS_ADMIN, unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_MKNOD,
}

// helps reports that this program does the work of helpers when it is started as one.
var helps atomic.Bool

// Helper does the work of a helper and ends the process, if that is what the process was started for. A program that mounts
// calls it before anything else.
func Helper() {
	helps.Store(true)
	if len(os.Args) < 3 || os.Args[1] != helperArg {
		return
	}
	var err error
	switch args := os.Args[3:]; {
	case os.Args[2] == probeArg:
		err = probeWithin()
	case os.Args[2] == mountArg && len(args) >= 4:
		err = mountAndTell(args)
	case os.Args[2] == leadArg && len(args) >= 3:
		err = leadWithin(args)
	case os.Args[2] == firstArg && len(args) >= 2 && os.Getpid() == 1:
		err = firstWithin(args)
	case os.Args[2] == waitArg && len(args) >= 2 && os.Getpid() == 1:
		err = waitWithin(args)
	default:
		err = errors.New("cursord starts this by itself")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// mountAndTell mounts, and hands over the descriptors or the reason why there are none.
func mountAndTell(args []string) error {
	hide, keep := args[4:], []string(nil)
	if at := slices.Index(hide, keepArg); at >= 0 {
		hide, keep = hide[:at], hide[at+1:]
	}
	fds, err := mountWithin(args[0], args[1], args[2], args[3], hide, keep)
	said := "mounted"
	if err != nil {
		said = err.Error()
	}
	return errors.Join(err, unix.Sendmsg(helperSocket, []byte(said), unix.UnixRights(fds...), nil, 0))
}

func mountWithin(lower, upper, work, at string, hide, keep []string) (fds []int, err error) {
	// What is mounted and unmounted outside from now on is within, too; what is mounted here stays here.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return nil, fmt.Errorf("cannot part from the other mounts: %w", err)
	}
	// Without indexes and numbers of its own the kernel promises that the lower folder may change between two mounts. By
	// descriptors, the options need no quotes, and the folders may be hidden.
	options := "userxattr,index=off,xino=off"
	for _, layer := range []struct{ option, path string }{{"lowerdir", lower}, {"upperdir", upper}, {"workdir", work}} {
		fd, err := openDir(layer.path)
		if err != nil {
			return nil, err
		}
		options += fmt.Sprintf(",%s=/proc/self/fd/%d", layer.option, fd)
	}
	var st unix.Statfs_t
	if err := unix.Statfs(lower, &st); err != nil {
		return nil, fmt.Errorf("%s: %w", lower, err)
	}
	flags := uintptr(unix.MS_NODEV | unix.MS_NOSUID)
	if st.Flags&unix.ST_NOEXEC != 0 {
		flags |= unix.MS_NOEXEC
	}
	if err := unix.Mount(upper, at, "overlay", flags, options); err != nil { // its source is a name for users and heldBy
		return nil, fmt.Errorf("cannot mount at %s: %w", at, err)
	}
	if err := hideAll(hide, keep); err != nil {
		return nil, err
	}
	top, err := openDir(at)
	if err != nil {
		return nil, err
	}
	fds = []int{top}
	for _, name := range []string{"user", "mnt"} {
		fd, err := unix.Open("/proc/self/ns/"+name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, fmt.Errorf("the %s namespace: %w", name, err)
		}
		fds = append(fds, fd)
	}
	return fds, nil
}

// hideAll puts empty folders over those to hide, and those to keep back into them.
func hideAll(hide, keep []string) error {
	kept := map[string]int{} // descriptors
	for _, dir := range keep {
		fd, err := openDir(dir)
		if err != nil {
			return err
		}
		kept[dir] = fd
	}
	for _, dir := range hide {
		const empty = unix.MS_NODEV | unix.MS_NOSUID | unix.MS_NOEXEC
		if err := unix.Mount("tmpfs", dir, "tmpfs", empty, "size=4k,mode=555"); err != nil {
			return fmt.Errorf("cannot hide %s: %w", dir, err)
		}
		for at, fd := range kept {
			if _, in := below(dir, at); !in {
				continue
			}
			err := os.MkdirAll(at, 0o755)
			if err == nil {
				err = unix.Mount(fmt.Sprintf("/proc/self/fd/%d", fd), at, "", unix.MS_BIND, "")
			}
			if err != nil {
				return fmt.Errorf("cannot keep %s: %w", at, err)
			}
		}
		if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|empty, ""); err != nil {
			return fmt.Errorf("cannot hide %s: %w", dir, err)
		}
	}
	return nil
}

func openDir(path string) (int, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("%s: %w", path, err)
	}
	return fd, nil
}
