package install

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"cursord/cmd/cursord/internal/term"
	"cursord/editors/helix"
	"cursord/editors/settingsfile"
	"cursord/editors/zed"
)

// A Zed changes Zed's settings after showing the change and asking for consent.
type Zed struct {
	Dir string // the settings' folder; "": Zed's own
	Yes bool   // consent was given beforehand

	JSON bool // Out gets the change as JSON, instead of words
	In   io.Reader
	Out  io.Writer
}

// zedFile is the name of the settings.
const zedFile = "settings.json"

// Install adds cursord to Zed's external agents.
func (z Zed) Install() error {
	program, err := OwnProgram()
	if err != nil {
		return err
	}
	return z.change(func(text string) (string, error) { return zed.Install(text, program) },
		"%s has cursord among Zed's external agents", "installed in %s: choose cursord where the agent panel begins a thread")
}

// Remove takes out what Install has added.
func (z Zed) Remove() error {
	return z.change(zed.Uninstall, "%s has nothing of cursord", "removed from %s")
}

// change changes the settings by do. same and done say of the file that it needed no change, or has changed.
func (z Zed) change(do func(string) (string, error), same, done string) error {
	dir, err := z.folder()
	if err != nil {
		return err
	}
	name := filepath.Join(dir, zedFile)
	old, exists, err := settingsfile.Read(name)
	if err != nil {
		return err
	}
	now, err := do(old)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	result := z.Out
	if z.JSON {
		z.Out = io.Discard
	}
	if now == old {
		fmt.Fprintf(z.Out, "nothing to do: "+same+"\n", name)
		return z.tell(result, name, false, nil)
	}
	printPlan(z.Out, &helix.Plan{Dir: dir, Files: []helix.File{{Name: zedFile, Old: old, New: now, Created: !exists}}})
	if err := agree(z.In, z.Out, z.Yes); err != nil {
		return z.tell(result, name, true, err)
	}
	if again, _, err := settingsfile.Read(name); err != nil || again != old {
		return cmp.Or(err, fmt.Errorf("%s has just been changed by somebody else; nothing was done: run this again", name))
	}
	if err := settingsfile.Write(name, now); err != nil {
		return err
	}
	fmt.Fprintf(z.Out, done+"\n", name)
	return z.tell(result, name, true, nil)
}

func (z Zed) folder() (string, error) {
	if z.Dir != "" {
		return filepath.Abs(z.Dir)
	}
	return zed.Dir()
}

// tell prints the change as JSON if z.JSON is set, also after ErrUnchanged. It returns err, or the error of printing.
func (z Zed) tell(out io.Writer, name string, differs bool, err error) error {
	if !z.JSON || err != nil && !errors.Is(err, ErrUnchanged) {
		return err
	}
	change := struct {
		Editor  string   `json:"editor"`
		Dir     string   `json:"dir"`
		Changed bool     `json:"changed"`
		Files   []string `json:"files"` // changed, or to be changed with --yes
	}{"zed", filepath.Dir(name), differs && err == nil, []string{}}
	if differs {
		change.Files = append(change.Files, zedFile)
	}
	return cmp.Or(term.PrintJSON(out, change), err)
}
