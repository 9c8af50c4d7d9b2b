package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/export"
	"cursord/cmd/cursord/internal/naming"
	"cursord/cmd/cursord/internal/term"
	"cursord/rpc"
)

func importCommand() *cobra.Command {
	var p place
	var newIDs, asJSON bool
	c := &cobra.Command{
		Use:   "import FILE",
		Short: "Import a session that was exported as lines of JSON",
		Long: `Import a session that "cursord export --format ndjson" wrote; FILE - is stdin. The session keeps its ids. If one of them is taken, the import
is refused; --new-ids gives new ids, and the session's next prompt then begins a fresh chat of the agent, which gets the transcript. Nothing stored
is ever overwritten.

Pending changes are not imported, nor decisions that could be undone; but the next prompt of the session tells the agent again
what was rejected. A rewind of an imported session leaves the files as they are. "cursord why" guesses by the text which lines the session has
written: in a file that still has at least half of its exported lines, any of them; in other files, only lines that hardly
anybody else writes. If the agent does not have the chat on this machine, "cursord run
--session ID --recap" starts a fresh chat with the transcript as context.`,
		Args: arguments.Takes(1, 1),
		RunE: asClient(func(c *cobra.Command, client *rpc.Client, args []string) (err error) {
			params := rpc.SessionImportParams{NewIDs: newIDs}
			if p.dir != "" {
				if params.Workspace, err = naming.ResolveDir(p.dir); err != nil {
					return err
				}
			}
			if params.Path, err = filepath.Abs(args[0]); err != nil {
				return err
			}
			if args[0] == "-" {
				if params.Path, err = export.Spool(c.InOrStdin()); err != nil {
					return err
				}
				defer func() { err = errors.Join(err, os.Remove(params.Path)) }()
			}
			imported, err := client.SessionImport(c.Context(), params)
			if e := (*rpc.Error)(nil); errors.As(err, &e) { // it names the parameter
				if rest, is := strings.CutPrefix(e.Message, "path: "); is {
					e.Message = term.Clean(args[0]) + ": " + rest
				}
			}
			if err != nil {
				return err
			}
			if asJSON {
				return term.PrintJSON(c.OutOrStdout(), imported)
			}
			s := imported.Session
			fmt.Fprintf(c.OutOrStdout(), "imported session %s with %s: %s\n", s.ID, term.Count(s.Turns, "turn"), term.Clean(s.Title))
			return nil
		}),
	}
	c.Flags().StringVarP(&p.dir, "workspace", "w", "", "import it into the workspace `DIR` (default: the one it came from)")
	c.Flags().BoolVar(&newIDs, "new-ids", false, "give the session and its turns new ids")
	c.Flags().BoolVar(&asJSON, "json", false, "print the session as JSON")
	return c
}
