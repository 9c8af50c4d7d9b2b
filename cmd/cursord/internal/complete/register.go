package complete

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"cursord/daemon/endpoint"
	"cursord/rpc"
)

// A Connect returns a client of the daemon, and the workspace that dir, the value of --workspace or "", stands for.
type Connect func(ctx context.Context, dir string) (client *rpc.Client, root string, err error)

// Register registers the completion of arguments and flags for all commands. connect returns a client of the daemon that runs,
// and a command's workspace; completion never starts a daemon.
func Register(root *cobra.Command, connect Connect) {
	found, setting := connect.found, connect.setting
	args := map[string]cobra.CompletionFunc{
		"show": found(Sessions), "export": found(Sessions), "rename": found(Sessions), "fork": found(Sessions),
		"delete": found(Sessions), "cancel": found(Running), "approve": found(Approvals), "attempts": found(Attempts), "deny": found(Approvals), "wait": found(Turns),
		"accept": found(Changes), "reject": found(Changes), "diff": found(Files),
		"review": found(Files), "get": setting, "set": setting, "unset": setting,
	}
	flags := map[string]cobra.CompletionFunc{
		"session": found(Sessions), "resume": found(Sessions), "turn": found(Turns),
		"model": found(Models), "mode": words("agent", "ask", "plan"), "sandbox": words("enabled", "disabled"),
		"isolation": words("copy", "none"), "approvals": words("ask", "deny"), "output-format": words("text", "json", "stream-json"), "format": words("markdown", "ndjson"),
		"workspace": folders, "add-dir": folders,
	}
	for _, c := range root.Commands() {
		Register(c, connect)
		if do := args[c.Name()]; do != nil {
			c.ValidArgsFunction = do
		}
		for name, do := range flags {
			if c.Flags().Lookup(name) != nil {
				_ = c.RegisterFlagCompletionFunc(name, do) // fails if the flag already has a completion
			}
		}
		if c.Name() == "accept" || c.Name() == "reject" {
			_ = c.RegisterFlagCompletionFunc("file", found(Files))
		}
	}
}

// completionHelp says for each shell where its script goes.
var completionHelp = map[string]string{
	"bash": `Print the completion script for bash. It needs the package bash-completion. For this shell:

  source <(cursord completion bash)

For every new shell:

  mkdir -p ~/.local/share/bash-completion/completions
  cursord completion bash >~/.local/share/bash-completion/completions/cursord`,
	"zsh": `Print the completion script for zsh. For every new shell:

  mkdir -p ~/.zfunc
  cursord completion zsh >~/.zfunc/_cursord

These lines belong into ~/.zshrc, unless its fpath has the folder already:

  fpath+=~/.zfunc
  autoload -Uz compinit && compinit`,
	"fish": `Print the completion script for fish. For every new shell:

  mkdir -p ~/.config/fish/completions
  cursord completion fish >~/.config/fish/completions/cursord.fish`,
	"powershell": `Print the completion script for PowerShell. For every new shell, add this line to your profile:

  cursord completion powershell | Out-String | Invoke-Expression`,
}

// Describe replaces cobra's help of the completion command and of its shells.
func Describe(completion *cobra.Command) {
	completion.Short = "Print the completion script for a shell"
	completion.Long = `Print the completion script for a shell; "cursord completion SHELL --help" says where to put it. Packages bring it along.`
	for _, shell := range completion.Commands() {
		shell.Short, shell.Long = "Print the completion script for "+shell.Name(), completionHelp[shell.Name()]
	}
}

func words(list ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		return list, cobra.ShellCompDirectiveNoFileComp
	}
}

// setting completes the key of a setting and, for "cursord config set", its value: a model, or one of the key's choices.
func (connect Connect) setting(c *cobra.Command, args []string, begin string) ([]string, cobra.ShellCompDirective) {
	switch {
	case len(args) == 0:
		return Settings(), cobra.ShellCompDirectiveNoFileComp
	case len(args) > 1 || c.Name() != "set":
		return nil, cobra.ShellCompDirectiveNoFileComp
	case args[0] == "model":
		return connect.found(Models)(c, nil, begin)
	}
	return Choices(args[0]), cobra.ShellCompDirectiveNoFileComp
}

func folders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// found completes with answers of a running daemon, and gives up after two seconds.
func (connect Connect) found(find Finder) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, begin string) ([]string, cobra.ShellCompDirective) {
		const patience = 2 * time.Second
		const none = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		dirs, err := endpoint.FindDaemon()
		if err != nil || !endpoint.Running(dirs.Socket) {
			return nil, none
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		dir := ""
		if f := c.Flags().Lookup("workspace"); f != nil {
			dir = f.Value.String()
		}
		client, at, err := connect(ctx, dir)
		if err != nil {
			return nil, none
		}
		defer client.Close()
		list, _ := find(ctx, client, at, begin)
		return slices.DeleteFunc(list, func(w string) bool {
			return slices.ContainsFunc(args, func(a string) bool { return len(w) > len(a) && w[:len(a)+1] == a+"\t" })
		}), none
	}
}
