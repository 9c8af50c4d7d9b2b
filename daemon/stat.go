package daemon

import (
	"path/filepath"
	"time"

	"cursord/daemon/internal/filestat"
)

// changedAt returns when a path below root that is in a state was last changed, in Unix ns. Of what is gone the folder
// tells, which may have changed again.
func changedAt(root, name string, now filestat.Stat) int64 {
	if now.Exists() {
		return now.Ctime
	}
	for dir := filepath.Dir(name); len(dir) >= len(root); dir = filepath.Dir(dir) {
		if st := filestat.Of(dir); st.Exists() {
			return st.Ctime
		}
	}
	return time.Now().UnixNano()
}
