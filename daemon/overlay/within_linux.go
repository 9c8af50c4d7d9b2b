package overlay

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// A command in a tree is started by a chain of three: nsenter brings this program into the tree's namespaces. That leads the
// group that the command's starter wants, and starts the first process of a PID namespace, which has a user and a mount namespace
// of its own. That one gives up what it may do, and starts the command. When it ends, or is killed with its leader, the kernel kills
// all that the command has started, whatever that has done to live on.

// leadWithin starts the first process, and ends with it. args are the number of the program's own descriptor, the command's path, and its
// arguments.
func leadWithin(args []string) error {
	own, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	unix.CloseOnExec(own)
	absorbed := make(chan os.Signal, 1)
	signal.Notify(absorbed) // the command decides what they mean
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = append([]string{"cursord", helperArg, firstArg}, args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP}, Pdeathsig: syscall.SIGKILL,
	}
	runtime.LockOSThread() // the first process ends with the thread that started it
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		os.Exit(0)
	case errors.As(err, &exit):
		status := exit.Sys().(syscall.WaitStatus)
		if status.Signaled() {
			os.Exit(128 + int(status.Signal()))
		}
		os.Exit(status.ExitStatus())
	}
	return fmt.Errorf("no namespace for processes: %w", err)
}

// firstWithin makes the namespaces such that a command may do no harm there, gives up all capabilities, and becomes waitWithin: this
// program anew, because its other threads still have them.
func firstWithin(args []string) error {
	runtime.LockOSThread() // capabilities are a thread's
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("cannot part from the other mounts: %w", err)
	}
	// A system of containers that covers parts of /proc refuses this.
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("cannot mount a /proc of its own: %w", err)
	}
	// Programs that would get capabilities from their files could not be started without this. Kernels before 5.12 cannot do it.
	nosuid := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID}
	if err := unix.MountSetattr(-1, "/", unix.AT_RECURSIVE, &nosuid); err != nil && !errors.Is(err, unix.ENOSYS) {
		return fmt.Errorf("cannot take privileges from programs: %w", err)
	}
	if err := giveUp(); err != nil {
		return fmt.Errorf("cannot give up capabilities: %w", err)
	}
	// The thread that executes is the one that stays, and may be another than that which was to die with its parent.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return err
	}
	return unix.Exec("/proc/self/exe", append([]string{"cursord", helperArg, waitArg}, args...), os.Environ())
}

// giveUp takes from the present thread all capabilities, and all ways to get some but a namespace of its own.
func giveUp() error {
	for c := uintptr(0); ; c++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if errors.Is(err, unix.EINVAL) && c > unix.CAP_LAST_CAP {
			break // the kernel knows no more
		}
		if err != nil && !errors.Is(err, unix.EINVAL) {
			return err
		}
	}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	none := [2]unix.CapUserData{}
	return errors.Join(
		unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0), unix.Capset(&head, &none[0]), unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
	)
}

// waitWithin starts the command, takes leave of every process of the namespace that ends, and ends with the command.
func waitWithin(args []string) error {
	absorbed := make(chan os.Signal, 1)
	signal.Notify(absorbed)
	pid, err := syscall.ForkExec(args[0], args[1:], &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2}})
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	for {
		var status unix.WaitStatus
		ended, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR) || err == nil && ended != pid:
		case err != nil:
			return err
		case status.Signaled():
			os.Exit(128 + int(status.Signal()))
		default:
			os.Exit(status.ExitStatus())
		}
	}
}
