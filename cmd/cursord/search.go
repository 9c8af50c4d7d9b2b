package main

import (
	"strings"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/listing"
	"cursord/cmd/cursord/internal/misuse"
	"cursord/rpc"
)

func searchCommand() *cobra.Command {
	var p place
	var limit int
	var asJSON bool
	c := &cobra.Command{
		Use:   "search WORDS...",
		Short: "Find words in the stored sessions, the newest first",
		Long: `Find words in the stored sessions, the newest first: in titles, prompts, what the agent said, its commands, and the paths of
files. A place is found if it has all the words, or longer words that begin with them, in any order and case. Words in double quotes are a phrase of
whole words; quote them for the shell, too: '"one phrase" word'. Accents count, whether a letter is composed or decomposed: "a" does not
find "ä". "ss" finds "ß".`,
		Example: `  cursord search parser bug
  cursord search '"race condition"' --limit 100
  cursord search -w . src/main.go --json`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 && strings.TrimSpace(strings.Join(args, "")) == "" {
				return misuse.Errorf("WORDS are only spaces")
			}
			return arguments.Takes(1, arguments.Many)(c, args)
		},
		RunE: asClient(func(c *cobra.Command, client *rpc.Client, args []string) (err error) {
			if limit < 1 {
				return misuse.Errorf("--limit must be at least 1")
			}
			root := ""
			if p.dir != "" {
				if root, err = p.find(c.Context(), client); err != nil {
					return err
				}
			}
			return listing.Search(c.Context(), client, c.OutOrStdout(), c.ErrOrStderr(), root, strings.Join(args, " "), limit, asJSON)
		}),
	}
	c.Flags().StringVarP(&p.dir, "workspace", "w", "", "only in sessions of the workspace `DIR`")
	c.Flags().IntVarP(&limit, "limit", "n", 20, "print at most `N` places")
	c.Flags().BoolVar(&asJSON, "json", false, "print the places as JSON")
	return c
}
