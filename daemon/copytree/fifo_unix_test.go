//go:build unix

package copytree

import "syscall"

func mkfifo(name string) error { return syscall.Mkfifo(name, 0o600) }
