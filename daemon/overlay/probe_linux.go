package overlay

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const probeTime = 10 * time.Second

// Probe tries in a folder of its own below dir whether an overlay can be had there: it mounts one, starts a process in it
// that changes files, and looks at what that leaves. The reason is an ErrRefused.
func Probe(ctx context.Context, dir string) (err error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	base, err := os.MkdirTemp(dir, "overlay-")
	if err != nil {
		return err
	}
	defer RemoveAll(base)
	if base, err = filepath.EvalSymlinks(base); err != nil {
		return err
	}
	l := Layout{Lower: filepath.Join(base, "lower"), Upper: filepath.Join(base, "upper"), Work: filepath.Join(base, "work")}
	l.At = l.Lower
	for _, name := range []string{l.Upper, l.Work, filepath.Join(l.Lower, "folder")} {
		if err := os.MkdirAll(name, 0o700); err != nil {
			return err
		}
	}
	for _, name := range []string{"changed", "removed", "folder/file"} {
		if err := os.WriteFile(filepath.Join(l.Lower, name), []byte("lower\n"), 0o600); err != nil {
			return err
		}
	}
	t, err := Mount(ctx, l)
	if err != nil {
		return explained(err, setting)
	}
	defer t.Close()
	program, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, program, helperArg, probeArg)
	if err := t.Enter(cmd); err != nil {
		return err
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return explained(fmt.Errorf("%w: a process within: %w: %.500s", ErrRefused, err, strings.TrimSpace(string(out))), setting)
	}
	if data, err := os.ReadFile(filepath.Join(t.Root(), "changed")); err != nil || string(data) != "within\n" {
		return fmt.Errorf("%w: what is written within does not show outside: %q, %v", ErrRefused, data, err)
	}
	if data, err := os.ReadFile(filepath.Join(l.Lower, "changed")); err != nil || string(data) != "lower\n" {
		return fmt.Errorf("%w: the lower folder has changed: %q, %v", ErrRefused, data, err)
	}
	if err := t.Close(); err != nil {
		return err
	}
	found, err := Changes(ctx, l.Upper)
	if want := "[{changed written} {folder replaced} {folder/new written} {removed removed}]"; err == nil && fmt.Sprint(found) != want {
		err = fmt.Errorf("%w: the upper folder has %v", ErrRefused, found)
	}
	return err
}

// explained adds to the error of a system that refuses what to do about it, where its settings say why it does.
func explained(err error, read func(file string) string) error {
	if why := remedy(read); why != "" && errors.Is(err, ErrRefused) {
		return fmt.Errorf("%w (%s)", err, why)
	}
	return err
}

// probeWithin is Probe's process in the tree.
func probeWithin() error {
	if err := errors.Join(noCapability(), os.WriteFile("changed", []byte("within\n"), 0o600), os.Remove("removed"),
		os.RemoveAll("folder"), os.Mkdir("folder", 0o700), os.WriteFile("folder/new", nil, 0o600)); err != nil {
		return err
	}
	if _, err := os.Lstat("removed"); !errors.Is(err, fs.ErrNotExist) {
		return errors.New("a file stays after it was removed")
	}
	cmd := exec.Command("/bin/true") // an agent's sandbox is a namespace within
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
	}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("no namespace in the namespace: %w", err)
	}
	return nil
}

func noCapability() error {
	data := [2]unix.CapUserData{}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	if err := unix.Capget(&head, &data[0]); err != nil {
		return err
	}
	for _, d := range data {
		if d.Effective|d.Permitted|d.Inheritable != 0 {
			return fmt.Errorf("a process within has capabilities: %x", data)
		}
	}
	return nil
}
