package endpoint

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// versionLimit is how long a program may take to print its version.
const versionLimit = 5 * time.Second

// CheckSuccessor returns why a program cannot replace a daemon. Its file must belong to this user or root, and it must say
// that it is cursord.
func CheckSuccessor(program string) error {
	if !filepath.IsAbs(program) {
		return fmt.Errorf("%.300q is not an absolute path", program)
	}
	info, err := os.Stat(program)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", program)
	}
	if err := checkOwnOrRoot(program, info); err != nil {
		return err
	}
	return checkIsCursord(program)
}

// checkIsCursord runs "PROGRAM version" and returns an error unless its first line is cursord's.
func checkIsCursord(program string) error {
	ctx, cancel := context.WithTimeout(context.Background(), versionLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "version")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%s cannot be run: %w", program, err)
	}
	defer context.AfterFunc(ctx, func() { out.Close() })() // a child of the program may keep the other end open
	// Only one line is read: a program that goes on writing is ended.
	line, err := bufio.NewReader(io.LimitReader(out, 200)).ReadString('\n')
	if late := ctx.Err(); late != nil {
		err = late
	}
	cancel()
	_ = cmd.Wait() // its error would only say that we have killed it
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s did not print its version within %v", program, versionLimit)
	}
	if !strings.HasPrefix(line, "cursord ") {
		return fmt.Errorf("%s is not cursord: \"%s version\" prints %q", program, filepath.Base(program), line)
	}
	return nil
}
