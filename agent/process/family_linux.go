package process

import (
	"bytes"
	"os"
	"strconv"
)

// relatives lists the running processes of this user, without the present one.
func relatives() (list []relative) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var buf []byte
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		if r, ok := relativeOf(pid, &buf); ok {
			list = append(list, r)
		}
	}
	return list
}

// relativeOf describes a process of this user; ok is false if there is none. It reads into the memory of buf.
func relativeOf(pid int, buf *[]byte) (r relative, ok bool) {
	if !ofThisUser("/proc/" + strconv.Itoa(pid)) {
		return r, false
	}
	r, ended, ok := statOf(pid, buf)
	return r, ok && !ended
}

// statOf describes a process of any user; ok is false if the system shows none. A process that has ended is shown until its
// parent has noticed.
func statOf(pid int, buf *[]byte) (r relative, ended, ok bool) {
	stat, err := readInto(*buf, "/proc/"+strconv.Itoa(pid)+"/stat")
	*buf = stat
	if err != nil {
		return r, false, false
	}
	// PID (NAME) STATE PPID PGRP SESSION … STARTTIME, which is field 22; the name may contain anything.
	f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(f) < 20 {
		return r, false, false
	}
	number := func(i int) int {
		n, _ := strconv.Atoi(string(f[i]))
		return n
	}
	r = relative{pid: pid, parent: number(1), group: number(2), session: number(3)}
	r.began, _ = strconv.ParseUint(string(f[19]), 10, 64)
	return r, bytes.ContainsAny(f[0], "ZX"), true
}

// beginning returns when a process began.
func beginning(pid int) uint64 {
	r, _ := relativeOf(pid, new([]byte))
	return r.began
}

// inner returns the number of a process in its own PID namespace; its number here if it cannot be told.
func inner(pid int) int {
	status, err := readInto(nil, "/proc/"+strconv.Itoa(pid)+"/status")
	if err != nil {
		return pid
	}
	_, rest, _ := bytes.Cut(status, []byte("\nNSpid:"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	if numbers := bytes.Fields(line); len(numbers) > 1 {
		if n, err := strconv.Atoi(string(numbers[len(numbers)-1])); err == nil {
			return n
		}
	}
	return pid
}
