package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/install"
	"cursord/cmd/cursord/internal/version"
	"cursord/editors"
)

func editorCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "editor",
		Short: "Install or remove an editor's plugin, or its configuration",
		Long: `Install or remove an editor's plugin. The plugin is part of this program, so the two always fit; install it again
after an update. Helix and Zed need no plugin: their configuration is changed, for "cursord lsp" and "cursord acp".`,
		Args: arguments.OfGroup,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(editorInstallCommand(), editorUninstallCommand())
	return c
}

func editorInstallCommand() *cobra.Command {
	var dir string
	var force, asJSON bool
	c := &cobra.Command{
		Use:       "install " + strings.Join(editors.Names, "|") + "|helix|zed",
		Short:     "Put the plugin where the editor loads it at its start",
		Args:      arguments.OfEditors,
		ValidArgs: editors.Names,
		RunE: func(c *cobra.Command, args []string) error {
			return install.Plugin(c.Context(), c.OutOrStdout(), args[0], dir, version.Own(), force, asJSON)
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "install the plugin into this folder")
	c.Flags().BoolVar(&force, "force", false, "overwrite files that cursord did not write, or that were changed")
	c.Flags().BoolP("yes", "y", false, "changes nothing here: only helix and zed ask")
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	c.AddCommand(installHelixCommand(), zedCommand("Add cursord to the external agents in Zed's settings.json", install.Zed.Install))
	return c
}

func editorUninstallCommand() *cobra.Command {
	var dir string
	var asJSON bool
	c := &cobra.Command{
		Use:       "uninstall " + strings.Join(editors.Names, "|") + "|helix|zed",
		Short:     "Remove what install has written",
		Args:      arguments.OfEditors,
		ValidArgs: editors.Names,
		RunE: func(c *cobra.Command, args []string) error {
			return install.RemovePlugin(c.OutOrStdout(), args[0], dir, asJSON)
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "the plugin's folder, if not the usual one")
	c.Flags().BoolP("yes", "y", false, "changes nothing here: only helix and zed ask")
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	c.AddCommand(uninstallHelixCommand(), zedCommand("Remove cursord from Zed's settings.json", install.Zed.Remove))
	return c
}

func installHelixCommand() *cobra.Command {
	var h install.Helix
	var want install.HelixRequest
	c := &cobra.Command{
		Use:   "helix",
		Short: "Add cursord to Helix's languages.toml, and keys to its config.toml",
		Long: `Add cursord to Helix's languages.toml, and keys to its config.toml. The command shows what will change and asks;
without a terminal or --yes it changes nothing. Everything else in these files stays as it is, byte for byte.

cursord becomes the first language server of all languages that Helix knows, before those that Helix or you have
chosen. --languages names fewer languages. Markdown and diff, in which cursord shows its own files, are always among
them, and so are languages that have it already.

Run it again after an update of Helix: a list of servers in languages.toml replaces Helix's own.`,
		Example: `  cursord editor install helix
  cursord editor install helix --languages go,rust,markdown --yes`,
		Args: arguments.Takes(0, 0),
		RunE: onHelix(&h, func(h install.Helix) error {
			want.Version = version.Own()
			return h.Install(want)
		}),
	}
	addHelixFlags(c, &h)
	c.Flags().StringSliceVar(&want.Languages, "languages", nil, "the `LANGUAGES`, by Helix's names, separated by commas; or all")
	c.Flags().BoolVar(&want.NoKeys, "no-keys", false, "leave out the keys")
	c.Flags().StringVar(&want.Program, "hx", "", "Helix's `PROGRAM` (default: hx or helix on PATH)")
	c.Flags().StringVar(&want.Defaults, "defaults", "", "Helix's own languages.toml, `FILE` (default: the one in its program)")
	return c
}

func uninstallHelixCommand() *cobra.Command {
	var h install.Helix
	c := &cobra.Command{
		Use:   "helix",
		Short: "Remove from Helix's configuration what install has added",
		Long: `Remove from Helix's configuration what install has added, and nothing else. What you have changed since stays and is
named. The command shows what will change and asks; without a terminal or --yes it changes nothing.`,
		Args: arguments.Takes(0, 0),
		RunE: onHelix(&h, install.Helix.Remove),
	}
	addHelixFlags(c, &h)
	return c
}

func addHelixFlags(c *cobra.Command, h *install.Helix) {
	c.Flags().StringVar(&h.Dir, "dir", "", "the configuration's folder `DIR`, if not the usual one")
	c.Flags().BoolVarP(&h.Yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&h.JSON, "json", false, "print the changes as JSON; without --yes they are not made")
}

// onHelix returns the action of a command that changes Helix's configuration.
func onHelix(h *install.Helix, do func(install.Helix) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, _ []string) error {
		h.In, h.Out = c.InOrStdin(), c.OutOrStdout()
		if err := do(*h); !errors.Is(err, install.ErrUnchanged) {
			return err
		}
		return statusError(exitFailed)
	}
}

// zedCommand returns the command that does something to Zed's settings.
func zedCommand(short string, do func(install.Zed) error) *cobra.Command {
	var z install.Zed
	c := &cobra.Command{
		Use:   "zed",
		Short: short,
		Long: short + `. The command shows what will change and asks; without a terminal or --yes it changes
nothing. Comments and everything else stay as they are, byte for byte. Settings that cannot be changed safely stay, and the
command prints what to add.`,
		Args: arguments.Takes(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			z.In, z.Out = c.InOrStdin(), c.OutOrStdout()
			if err := do(z); !errors.Is(err, install.ErrUnchanged) {
				return err
			}
			return statusError(exitFailed)
		},
	}
	c.Flags().StringVar(&z.Dir, "dir", "", "the settings' folder `DIR`, if not the usual one")
	c.Flags().BoolVarP(&z.Yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&z.JSON, "json", false, "print the change as JSON; without --yes it is not made")
	return c
}
