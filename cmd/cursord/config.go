package main

import (
	"context"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/settings"
	"cursord/rpc"
)

func configCommand() *cobra.Command {
	var asJSON bool
	sub := func(use, short string, least, most int, do func(*settings.File, *cobra.Command, []string) error) *cobra.Command {
		return &cobra.Command{
			Use: use, Short: short, Args: arguments.Takes(least, most),
			RunE: func(c *cobra.Command, args []string) error {
				f, err := settings.Find(func(ctx context.Context) (*rpc.Client, error) { return newClient(ctx, nil) }, asJSON)
				if err != nil {
					return err
				}
				return do(f, c, args)
			},
		}
	}
	c := sub("config", "Show and change the settings", 0, 0, func(f *settings.File, c *cobra.Command, _ []string) error { return f.List(c.OutOrStdout()) })
	c.Args = arguments.OfGroup
	c.Long = `Show the settings, and change them: the file that "cursord config" names first. What else the file holds, comments too,
stays as it is. The daemon that runs follows the file at once; it need not be started again.`
	c.Example = `  cursord config get model
  cursord config set idle_exit 2h
  cursord config unset idle_exit
  cursord config set add_dirs '["~/src/lib"]'`
	c.PersistentFlags().BoolVar(&asJSON, "json", false, "print the answer as JSON")
	get := sub("get KEY", "Print the value of a setting", 1, 1, func(f *settings.File, c *cobra.Command, args []string) error {
		return f.Get(c.OutOrStdout(), args[0])
	})
	set := sub("set KEY VALUE", "Change a setting", 2, 2, func(f *settings.File, c *cobra.Command, args []string) error {
		return f.Set(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), args[0], args[1])
	})
	unset := sub("unset KEY", "Remove a setting from the file, so that its default holds", 1, 1, func(f *settings.File, c *cobra.Command, args []string) error {
		return f.Unset(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), args[0])
	})
	edit := sub("edit", "Edit the settings with $VISUAL or $EDITOR", 0, 0, func(f *settings.File, c *cobra.Command, _ []string) error {
		return f.Edit(c.Context(), c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr())
	})
	reload := sub("reload", "Have the daemon read the settings again", 0, 0, func(f *settings.File, c *cobra.Command, _ []string) error {
		return f.Reload(c.Context(), c.OutOrStdout(), c.ErrOrStderr())
	})
	c.AddCommand(get, set, unset, edit, reload)
	return c
}
