package config

import (
	"errors"
	"fmt"
	"path/filepath"

	"cursord/daemon/internal/allow"
)

// An Approve is a command that the agent need not ask for, [[approve]] in the file.
type Approve struct {
	Command string     // the beginning of a command line
	Rule    allow.Rule // the same, as it is held against commands
	Folder  string     // only in workspaces in this folder, absolute and without symlinks; "": in all
}

// isTable reports whether a key's value has lines of its own, which only an editor can change.
func isTable(key string) bool { return key == "isolation_of" || key == "approve" }

// approvals is a value for the tables [[approve]].
func approvals(to *[]Approve) value {
	return value{
		get: func() any {
			tables := []map[string]string{}
			for _, a := range *to {
				table := map[string]string{"command": a.Command}
				if a.Folder != "" {
					table["folder"] = a.Folder
				}
				tables = append(tables, table)
			}
			return tables
		},
		set: read(func(tables []map[string]string) error {
			if tables == nil {
				return errors.New("not a list of tables")
			}
			var list []Approve
			for i, table := range tables {
				if len(table) == 0 {
					return errors.New("not a table")
				}
				a, err := approve(table)
				if err != nil {
					return trap{reason: fmt.Sprintf("number %d %v", i+1, err), table: i}
				}
				list = append(list, a)
			}
			*to = list
			return nil
		}),
	}
}

// approve reads one table. The error completes "number N …".
func approve(table map[string]string) (Approve, error) {
	for key := range table {
		if key != "command" && key != "folder" { // one that narrows the rule must not be ignored
			return Approve{}, fmt.Errorf("has %q, which this version does not know; it may have command and folder", key)
		}
	}
	a := Approve{Command: table["command"]}
	var err error
	if a.Rule, err = allow.Parse(a.Command); err != nil {
		return Approve{}, fmt.Errorf(`has the command %q, which %w; write the beginning of a command line, such as "go test"`, a.Command, err)
	}
	folder, named := table["folder"]
	if !named {
		return a, nil
	}
	if a.Folder, err = Executable(folder); err != nil || !filepath.IsAbs(a.Folder) {
		return Approve{}, fmt.Errorf("has the folder %q, which is not an absolute path", folder)
	}
	if real, err := filepath.EvalSymlinks(a.Folder); err == nil {
		a.Folder = real
	}
	a.Folder = filepath.Clean(a.Folder)
	return a, nil
}
