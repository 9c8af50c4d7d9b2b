package main

import (
	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/why"
	"cursord/rpc"
)

func whyCommand() *cobra.Command {
	var p place
	var a why.Arguments
	c := &cobra.Command{
		Use:   "why FILE[:LINE[-LINE]] | --commit [REV] | --trailer",
		Short: "Show which prompts the lines of a file or a commit come from",
		Long: `Show which prompts the lines of a file come from. For a FILE without LINE, it prints the file with the source beside each run
of lines. A * marks lines that are still to be reviewed. A ? marks lines that may be yours, because they are not surely the agent's, and lines
whose source is guessed by their text. "cursord diff" says "may be yours" of the same lines, and an accept does not change that. For a LINE, it
prints the prompt, its time, session and turn, and what the lines were before.

Lines of an agent keep their source after an accept, when you edit around them, move them or commit them, and when a checkout brings them
back. Lines that an agent only moves in a file stay whose they were. Lines that it brings by a commit of somebody else, as git merge does, are
not the agent's. Lines without a source are yours, or older than cursord.

With --commit it shows which prompts the lines come from that a commit adds (HEAD, if none is named). Later changes of its files do not
matter. Lines that may be yours are listed by themselves. A linked work tree (git worktree) knows what the repository's other work trees know
of its commits.

--trailer prints the "Assisted-by" lines for the commit's message; without --commit, those for what is staged. In a prepare-commit-msg hook that is
what git is about to commit, also with "git commit -a" and "git commit FILE". For "git commit --amend", add --amend: then the lines are about all
that the amended commit adds. The README has such a hook. If all lines of a model may be yours, its Assisted-by line ends in "(may be a
person's)"; if they are guesses, in "(a guess by the text)".`,
		Example: `  cursord why main.go
  cursord why main.go:12-20
  cursord why --commit HEAD~1
  git commit --trailer "$(cursord why --trailer)"
  cursord show $(cursord why --json main.go:12 | jq -r '.lines[0].source.sessionId')`,
		Args: func(c *cobra.Command, args []string) error { return a.Take(args) },
		RunE: asClient(func(c *cobra.Command, client *rpc.Client, _ []string) error {
			n, err := p.names(c.Context(), client)
			if err != nil {
				return err
			}
			return a.Do(c.Context(), n, c.OutOrStdout())
		}),
	}
	p.addFlag(c)
	c.Flags().BoolVar(&a.Commit, "commit", false, "show the lines that the commit REV adds, without REV those of HEAD")
	c.Flags().BoolVar(&a.Trailer, "trailer", false, "print the Assisted-by lines for the message of a commit, without --commit of what is staged")
	c.Flags().BoolVar(&a.Amend, "amend", false, "with --trailer: what is staged takes the place of HEAD, as with git commit --amend")
	c.Flags().BoolVar(&a.JSON, "json", false, "print the answer of file/why or commit/why as JSON")
	return c
}
