package install

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"cursord/cmd/cursord/internal/term"
	"cursord/diffs"
	"cursord/editors/helix"
)

// ErrUnchanged is returned if nobody agreed to the change. The reason has been printed already.
var ErrUnchanged = errors.New("nothing was changed")

// A Helix changes Helix's configuration after showing the changes and asking for consent.
type Helix struct {
	Dir string // the configuration's folder; "": Helix's own
	Yes bool   // consent was given beforehand

	JSON bool // Out gets the change as JSON, instead of words
	In   io.Reader
	Out  io.Writer
}

// A HelixRequest says what Install adds.
type HelixRequest struct {
	Version   string   // of cursord
	Languages []string // by Helix's names; none, and "all" alone: all
	NoKeys    bool
	Program   string // Helix's; "": hx or helix on PATH
	Defaults  string // the file with Helix's own languages; "": those in its program
}

// Install adds cursord as a server of the languages, and its keys.
func (h Helix) Install(want HelixRequest) error {
	dir, err := h.folder()
	if err != nil {
		return err
	}
	r := helix.Request{
		Version: want.Version, Languages: want.Languages, NoKeys: want.NoKeys,
	}
	if len(want.Languages) == 1 && want.Languages[0] == "all" {
		r.All, r.Languages = true, nil
	}
	var program string
	if program, r.Helix, err = helix.Find(want.Program); err != nil {
		return err
	}
	if !r.Helix.Supported() {
		return fmt.Errorf("this Helix is %s; cursord needs 25.01 or newer, and 25.07 for all of its keys", r.Helix)
	}
	if r.Defaults, err = helixDefaults(program, want.Defaults); err != nil {
		return err
	}
	if r.Program, err = OwnProgram(); err != nil {
		return err
	}
	plan, err := helix.Install(dir, r)
	if err != nil {
		return err
	}
	result := h.Out
	if h.JSON {
		h.Out = io.Discard
	}
	if plan.Empty() {
		printNotes(h.Out, plan)
		fmt.Fprintf(h.Out, "nothing to do: %s has all of it, for Helix %s\n", dir, r.Helix)
		printLeftOut(h.Out, plan)
		return h.tell(result, dir, plan, nil)
	}
	if err := h.apply(plan); err != nil {
		return h.tell(result, dir, plan, err)
	}
	fmt.Fprintf(h.Out, "installed for %s of Helix %s in %s\n", term.Count(len(plan.Languages), "language"), r.Helix, dir)
	if r.NoKeys || plan.LeftOut != "" {
		fmt.Fprintln(h.Out, `Helix reads it when it starts. There :lsp-workspace-command lists cursord's commands, and "space a" accepts or
rejects hunks. "cursord doctor --helix" checks all of it.`)
	} else {
		fmt.Fprintln(h.Out, `Helix reads it when it starts. There "space i i" asks the agent, "space a" accepts or rejects what it changed, and
"space i" shows the other keys. "cursord doctor --helix" checks all of it.`)
	}
	printLeftOut(h.Out, plan)
	return h.tell(result, dir, plan, nil)
}

// printLeftOut prints the keys that the user's own keys leave no room for.
func printLeftOut(w io.Writer, plan *helix.Plan) {
	if plan.LeftOut != "" {
		fmt.Fprintf(w, "Your own keys stay. To have cursord's behind \"space C\", or behind another key, put this into config.toml:\n\n%s", plan.LeftOut)
	}
}

// tell prints the change as JSON if h.JSON is set, also after ErrUnchanged. It returns err, or the error of printing.
func (h Helix) tell(out io.Writer, dir string, plan *helix.Plan, err error) error {
	if !h.JSON || err != nil && !errors.Is(err, ErrUnchanged) {
		return err
	}
	change := struct {
		Editor  string   `json:"editor"`
		Dir     string   `json:"dir"`
		Changed bool     `json:"changed"`
		Files   []string `json:"files"` // changed, or to be changed with --yes
		Notes   []string `json:"notes"`
	}{"helix", dir, err == nil && !plan.Empty(), []string{}, append([]string{}, plan.Notes...)}
	for _, f := range plan.Files {
		change.Files = append(change.Files, f.Name)
	}
	return cmp.Or(term.PrintJSON(out, change), err)
}

// Remove takes out what Install has added, except for lines that somebody has changed.
func (h Helix) Remove() error {
	dir, err := h.folder()
	if err != nil {
		return err
	}
	plan, err := helix.Uninstall(dir)
	if err != nil {
		return err
	}
	result := h.Out
	if h.JSON {
		h.Out = io.Discard
	}
	if plan.Empty() {
		fmt.Fprintf(h.Out, "nothing to do: %s has nothing of cursord\n", dir)
		return h.tell(result, dir, plan, nil)
	}
	if !plan.Installed() {
		fmt.Fprintf(h.Out, "no installation in %s is known; this is what names cursord there:\n", dir)
	}
	if err := h.apply(plan); err != nil {
		return h.tell(result, dir, plan, err)
	}
	fmt.Fprintf(h.Out, "removed from %s\n", dir)
	return h.tell(result, dir, plan, nil)
}

func (h Helix) folder() (string, error) {
	if h.Dir != "" {
		return filepath.Abs(h.Dir)
	}
	return helix.Dir()
}

// apply shows a plan, asks for consent and carries the plan out.
func (h Helix) apply(plan *helix.Plan) error {
	printPlan(h.Out, plan)
	printNotes(h.Out, plan)
	if err := agree(h.In, h.Out, h.Yes); err != nil {
		return err
	}
	return plan.Apply()
}

// agree asks for consent, unless it was given beforehand. Without it the error is ErrUnchanged.
func agree(in io.Reader, out io.Writer, yes bool) error {
	switch {
	case yes:
	case !term.IsTerminal(in) || !term.IsTerminal(out):
		fmt.Fprintln(out, "nothing was changed: run it with --yes to do so")
		return ErrUnchanged
	default:
		fmt.Fprint(out, "Change this? [y/N] ")
		answer, err := bufio.NewReader(in).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
			fmt.Fprintln(out, "nothing was changed")
			return ErrUnchanged
		}
	}
	return nil
}

// A long run of added lines is shortened to its first and last lines: most are languages, which are all alike.
const shownFirst, shownLast = 24, 8

// printPlan prints a plan as a patch.
func printPlan(w io.Writer, plan *helix.Plan) {
	p := term.PaletteOf(w)
	for _, f := range plan.Files {
		kind, base, now := diffs.Modified, diffs.Content{Exists: true, Data: []byte(f.Old)}, diffs.Content{Exists: true, Data: []byte(f.New)}
		switch {
		case f.Created:
			kind, base = diffs.Created, diffs.Content{}
		case f.Gone:
			kind, now = diffs.Deleted, diffs.Content{}
		}
		review := diffs.New(base)
		review.Observe(now, &diffs.Source{})
		patch := diffs.Unified([]diffs.FilePatch{{Path: f.Name, Kind: kind, Hunks: review.Hunks()}})
		var lines, added []string
		flush := func() {
			if n := len(added) - shownFirst - shownLast; n > 1 {
				more := fmt.Sprintf("  … and %d lines more of that kind …", n)
				added = slices.Concat(added[:shownFirst], []string{more}, added[len(added)-shownLast:])
			}
			lines, added = append(lines, added...), nil
		}
		for line := range strings.Lines(string(patch)) {
			line = term.CleanText(strings.TrimSuffix(line, "\n"))
			if strings.HasPrefix(line, "+") && !strings.HasPrefix(line, "+++") {
				added = append(added, p.Green(line))
				continue
			}
			flush()
			switch {
			case strings.HasPrefix(line, "-"):
				line = p.Red(line)
			case strings.HasPrefix(line, "@@"):
				line = p.Cyan(line)
			}
			lines = append(lines, line)
		}
		flush()
		for _, line := range lines {
			fmt.Fprintln(w, line)
		}
	}
}

func printNotes(w io.Writer, plan *helix.Plan) {
	for _, note := range plan.Notes {
		fmt.Fprintln(w, term.Clean(note))
	}
}

func helixDefaults(program, file string) (*helix.Defaults, error) {
	if file == "" {
		return helix.DefaultsOf(program)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	d, err := helix.ReadDefaults(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: it should be the languages.toml of Helix's sources", file, err)
	}
	return d, nil
}

// OwnProgram returns how other programs can start this one: "cursord" if PATH leads to it, else its path.
func OwnProgram() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	if named, err := exec.LookPath("cursord"); err == nil && filepath.IsAbs(named) {
		a, err := os.Stat(named)
		b, err2 := os.Stat(path)
		if err == nil && err2 == nil && os.SameFile(a, b) {
			return "cursord", nil
		}
	}
	return path, nil
}
