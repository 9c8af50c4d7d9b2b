package daemon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"cursord/daemon/api"
	"cursord/daemon/internal/exportfile"
	"cursord/daemon/internal/forked"
	"cursord/daemon/internal/origins"
	"cursord/daemon/internal/recap"
	"cursord/daemon/paths"
	"cursord/sessions"
)

// ExportSession returns the next part of a whole session, with nothing cut. The first part, for the cursor "", has the
// session itself; then comes each turn with its items. A part has about 1 MiB. Its NextCursor is "" after the last.
func (d *Daemon) ExportSession(id, cursor string) (api.SessionExport, error) {
	var at sessions.Place
	out := api.SessionExport{Parts: []api.ExportPart{}}
	if after, ok := strings.CutPrefix(cursor, afterFile); ok {
		return out, d.exportWritten(id, after, &out)
	}
	if cursor == "" {
		s, err := d.store.Session(id)
		if err != nil {
			return out, api.StoreError(err)
		}
		out.Session = s
	} else if n, err := fmt.Sscanf(cursor, "%d.%d", &at.Turn, &at.Next); n != 2 || err != nil {
		return out, api.Invalid("cursor", "is not from session/export")
	}
	parts, next, err := d.store.Parts(id, at)
	if err != nil {
		return out, api.StoreError(err)
	}
	if out.Parts, err = exportfile.Parts(parts); err != nil {
		return out, api.Errorf(api.KindStorage, "session %s: %v", id, err)
	}
	if next.End {
		return out, d.exportWritten(id, "", &out)
	}
	out.NextCursor = fmt.Sprintf("%d.%d", next.Turn, next.Next)
	return out, nil
}

// afterFile begins a cursor behind the turns: that of what follows a file.
const afterFile = "file:"

// exportWritten adds what a session has written in files behind the one at after, and what it was told, if there still is its workspace.
func (d *Daemon) exportWritten(id, after string, out *api.SessionExport) error {
	s, err := d.store.Session(id)
	if err != nil {
		return api.StoreError(err)
	}
	w, err := d.workspace(s.Workspace)
	if err != nil {
		return nil
	}
	defer w.release()
	from, turns := forked.Inherited(d.store, s)
	files, more, err := w.review.Written(&origins.Exporter{Session: id, From: from, Turns: turns}, after)
	for _, file := range files {
		out.Parts, after = append(out.Parts, api.ExportPart{Written: file}), file.Path
	}
	if more {
		out.NextCursor = afterFile + after
		return err
	}
	for _, told := range recap.Told(d.store, s.Workspace, id) {
		out.Parts = append(out.Parts, api.ExportPart{Told: &told})
	}
	return err
}

// Backup writes a copy of the database as it is at one moment to path, and returns its size. A file that exists there stays,
// unless replace is set.
func (d *Daemon) Backup(ctx context.Context, path string, replace bool) (int64, error) {
	if why := paths.TooLong(path); why != "" {
		return 0, api.Invalid("path", "%s", why)
	}
	if !filepath.IsAbs(path) {
		return 0, api.Invalid("path", "%q is not an absolute path", path)
	}
	if err := d.store.Backup(ctx, path, replace); err != nil {
		return 0, api.BackupError(ctx, path, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, api.Errorf(api.KindInternal, "%v", err)
	}
	return info.Size(), nil
}
