// Package trust asks people before they trust a workspace that covers more than they may think.
package trust

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"cursord/cmd/cursord/internal/misuse"
	"cursord/cmd/cursord/internal/naming"
	"cursord/cmd/cursord/internal/term"
)

// Check asks the person before a workspace is trusted that covers more than they may think, or whose repositories have
// new settings, which are not used yet. Without a terminal it is an error, unless they have named the workspace.
func Check(in io.Reader, errOut io.Writer, root string, unused []string, named bool) error {
	here, err := naming.ResolveDir(".")
	if err != nil {
		return err
	}
	shown, covers, question := term.Clean(root), "", "Trust "+term.Clean(root)
	switch {
	case root == naming.HomeDir():
		covers = shown + " is your home folder: an agent there can change all of your files, settings and keys too"
	case naming.Wide(root, ""):
		covers = shown + " is the whole file system: an agent there can change every file that you can change"
	case !named && root != here:
		covers = shown + " is the workspace around this directory: an agent can run commands and change files in all of it"
	case len(unused) > 0:
		covers = "these settings of git repositories in " + shown + " are new, and cursord does not use them yet: " + term.Clean(strings.Join(unused, "; "))
		question = "Use them"
	default:
		return nil
	}
	switch terminal := term.IsTerminal(in) && term.IsTerminal(errOut); {
	case !terminal && !named:
		return misuse.Errorf("%s; if you mean it, name it: cursord trust %s", covers, term.ShellWord(root))
	case terminal:
		fmt.Fprintln(errOut, covers+".")
		if !term.Agrees(in, errOut, question) {
			return errors.New("nothing was trusted")
		}
	}
	return nil
}
