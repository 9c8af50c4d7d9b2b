package overlay

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// nothingWithin returns an error if a file system is mounted in a folder: an overlay would show an empty folder in its place.
func nothingWithin(dir string) error {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 5 {
			continue
		}
		if at := unescaped(fields[4]); at != dir {
			if _, in := below(dir, at); in {
				return fmt.Errorf("%s: another file system is mounted there, which an overlay would not show", at)
			}
		}
	}
	return lines.Err()
}

// unescaped returns a path of mountinfo, in which some bytes are three octal digits.
func unescaped(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// How long killed processes have to end, and how often they are looked for.
const (
	holderTime  = 5 * time.Second
	holderPause = 5 * time.Millisecond
)

// endHolders kills the processes that have an upper folder mounted, and waits for their end. All end with the commands that were
// entered, but a process may wait for a device for long, and another may have been let in by one that was.
func endHolders(ctx context.Context, upper string) error {
	for end := time.Now().Add(holderTime); ; time.Sleep(holderPause) {
		pids, err := holders(upper)
		switch {
		case err != nil || len(pids) == 0:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Now().After(end):
			return fmt.Errorf("processes of an earlier turn still have its tree mounted, and could not be ended: %s; end them, then try again",
				strings.Trim(fmt.Sprint(pids), "[]"))
		}
		for _, pid := range pids {
			unix.Kill(pid, unix.SIGKILL)
		}
	}
}

// holders lists the processes in other mount namespaces than this process's in which an upper folder is mounted.
func holders(upper string) (pids []int, err error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	const own = "/proc/self/ns/mnt"
	here, err := os.Readlink(own)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		ns, err := os.Readlink(filepath.Join("/proc", entry.Name(), "ns/mnt"))
		if err != nil || ns == here {
			continue // another user's, or one that cannot have it
		}
		data, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "mountinfo"))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(data)) {
			// … - TYPE SOURCE OPTIONS
			if _, what, ok := strings.Cut(line, " - overlay "); ok && unescaped(strings.Fields(what + " .")[0]) == upper {
				pids = append(pids, pid)
				break
			}
		}
	}
	return pids, nil
}
