package process

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"
)

// How long one look waits, in all, for programs that are just being started.
const (
	startPauses = 20
	startPause  = 200 * time.Microsecond
)

// marked returns the processes of this user that have the mark in their environment.
func marked(mark string) (pids []int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	starting := startPauses
	var env []byte
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		dir := "/proc/" + entry.Name()
		if !ofThisUser(dir) {
			continue
		}
		env, err = readInto(env, dir+"/environ")
		for ; err == nil && len(env) == 0 && starting > 0 && hasProgram(dir); starting-- {
			time.Sleep(startPause) // it is becoming another program, whose environment is not visible yet
			env, err = readInto(env, dir+"/environ")
		}
		if err == nil && holds(env, mark) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// ofThisUser reports whether a process, named by its folder in /proc, runs and is this user's.
func ofThisUser(dir string) bool {
	var st syscall.Stat_t
	return syscall.Stat(dir, &st) == nil && int(st.Uid) == os.Getuid()
}

// readInto reads a file of /proc into the memory of buf. A look at all processes reads hundreds, and os.ReadFile makes twice
// as many system calls.
func readInto(buf []byte, path string) ([]byte, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return buf[:0], err
	}
	defer syscall.Close(fd)
	for buf = buf[:0]; ; {
		buf = slices.Grow(buf, 4<<10)
		n, err := syscall.Read(fd, buf[len(buf):cap(buf)])
		if n > 0 {
			buf = buf[:len(buf)+n]
		}
		if err != syscall.EINTR && n <= 0 {
			return buf, err
		}
	}
}

// holds reports whether an environment, in the system's form, has a mark. It may write behind the end of env.
func holds(env []byte, mark string) bool {
	env = append(env, 0) // the last entry of a process that writes to its own environment may lack its end
	return bytes.HasPrefix(env, []byte(mark+"\x00")) || bytes.Contains(env, []byte("\x00"+mark+"\x00"))
}

// commandLine returns the command line of a process with single blanks, at most its first 64 KiB; "" if it has ended.
func commandLine(pid int) string {
	file, err := os.Open("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil {
		return ""
	}
	defer file.Close()
	line, _ := io.ReadAll(io.LimitReader(file, maxCommandLine))
	return strings.Join(strings.FieldsFunc(string(line), func(c rune) bool { return c == 0 || unicode.IsSpace(c) }), " ")
}

const maxCommandLine = 64 << 10

// hasProgram reports whether a process runs a program: it is no process of the kernel and has not ended.
func hasProgram(dir string) bool {
	_, err := os.Readlink(dir + "/exe")
	return err == nil
}
