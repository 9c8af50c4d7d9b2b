package process

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// ancestorSteps is how many ancestors OriginOf looks at. People's shells, editors and multiplexers stay far below.
const ancestorSteps = 256

// OriginOf finds out by environments and parents who has started a process: whether it, or one of its ancestors up to this
// process, has mark, a "KEY=value", in its environment or lives in another user namespace. key is the name of the variable
// whose value Origin.Value is.
func OriginOf(pid int, mark, key string) Origin {
	for range 3 { // a parent may end during the look; then its child has another
		if o, whole := originOf(pid, mark, key); whole {
			return o
		}
	}
	return Origin{Unknown: true}
}

// originOf is one look; whole is false if a process ended under it.
func originOf(pid int, mark, key string) (o Origin, whole bool) {
	own, _ := os.Readlink("/proc/self/ns/user")
	value := ""
	var buf []byte
	for step := range ancestorSteps {
		if pid <= 1 {
			return o, true
		}
		if pid == os.Getpid() {
			o.Value = value // nobody below can have put a false ancestor in between
			return o, true
		}
		dir := "/proc/" + strconv.Itoa(pid)
		r, ended, ok := statOf(pid, &buf)
		switch {
		case !ok && step > 0 && syscall.Kill(pid, 0) == syscall.EPERM:
			return o, true // another user's, which the system hides
		case !ok || ended && step == 0:
			return o, o.Marked
		}
		if env, err := readInto(nil, dir+"/environ"); err == nil && holds(env, mark) {
			o.Marked, value = true, valueOf(env, key)
		}
		if ns, err := os.Readlink(dir + "/ns/user"); err == nil && own != "" && ns != own {
			o.Marked = true
		}
		pid = r.parent
	}
	return Origin{Marked: o.Marked, Unknown: !o.Marked}, true
}

// valueOf returns the value of a variable in an environment, in the system's form; "" if it has none.
func valueOf(env []byte, key string) string {
	for entry := range bytes.SplitSeq(env, []byte{0}) {
		if value, ok := bytes.CutPrefix(entry, []byte(key+"=")); ok {
			return string(value)
		}
	}
	return ""
}
