// Command cursord is a daemon for Cursor's command line agent, and that daemon's command line.
//
// One daemon per user owns every agent turn, session and pending diff; editors reach it through "cursord stdio",
// people through the other commands. A command that needs the daemon is a client of it (asClient) and starts it when it does
// not run.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/ask"
	"cursord/cmd/cursord/internal/complete"
	"cursord/cmd/cursord/internal/faces"
	"cursord/cmd/cursord/internal/misuse"
	"cursord/cmd/cursord/internal/run"
	"cursord/cmd/cursord/internal/serve"
	"cursord/cmd/cursord/internal/term"
	"cursord/cmd/cursord/internal/version"
	"cursord/daemon/overlay"
	"cursord/rpc"
	"cursord/rpc/join"
)

// Exit statuses that scripts may rely on.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	overlay.Helper()      // a helper mounts, and ends
	inject := injection() // may add to os.Args
	os.Exit(execute(os.Args[1:], inject))
}

// execute runs one command and returns the exit status.
func execute(args []string, inject serve.Injected) int {
	// An editor waits for the first answer of these commands: they do without the command tree.
	switch {
	case len(args) == 1 && args[0] == "stdio":
		return int(ended(join.Run(context.Background(), os.Stdin, os.Stdout, join.Local(dialOptions()))))
	case len(args) == 1 && args[0] == "lsp":
		return int(ended(faces.LSP(context.Background(), faces.Stdio{}, os.Stderr, dialOptions())))
	case len(args) == 1 && args[0] == "acp":
		return int(ended(faces.ACP(context.Background(), os.Stdin, os.Stdout, os.Stderr, dialOptions())))
	}
	root := rootCommand(inject)
	root.SetArgs(args)
	out := term.NewOutput(os.Stdout)
	if !term.IsTerminal(os.Stdout) {
		root.SetOut(out)
	}
	started := false
	root.PersistentPreRun = func(*cobra.Command, []string) { started = true }
	c, err := root.ExecuteContextC(context.Background())
	help := "cursord help"
	if c.HasParent() && c.Name() != "help" {
		help = c.CommandPath() + " --help"
	}
	if err != nil && !started && c.Name() == "run" {
		run.PrintMisuse(c.OutOrStdout(), args, err)
	}
	if err == nil {
		err = out.Err() // the command does not look at each write
	}
	if errors.Is(err, syscall.EPIPE) && errors.Is(out.Err(), syscall.EPIPE) { // nobody reads the output any more
		err = signalStatus(syscall.SIGPIPE)
	}
	return exitStatus(err, started || out.Err() != nil, help, os.Stderr)
}

// exitStatus prints err on w and returns its exit status. Before a command has started, err is wrong usage; help is the command that says more.
func exitStatus(err error, started bool, help string, w io.Writer) int {
	var status statusError
	var signalled term.SignalError
	var cancelled ask.CancelledError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &status):
		return int(status)
	case errors.As(err, &signalled):
		return int(signalStatus(signalled.Signal))
	case errors.As(err, &cancelled):
		if cancelled.Cause != nil {
			exitStatus(cancelled.Cause, true, help, w)
		}
		return exitCancelled
	case !started || errors.As(err, new(*misuse.Error)):
		term.PrintFolded(w, fmt.Sprintf("cursord: %s\nRun '%s' for usage.\n", term.CleanText(err.Error()), help))
		return exitUsage
	default:
		term.PrintFolded(w, fmt.Sprintf("cursord: %s\n", term.CleanText(err.Error())))
		if answer := (*rpc.Error)(nil); errors.As(err, &answer) && answer.Data.Hint != "" {
			term.PrintFolded(w, fmt.Sprintf("  %s\n", term.CleanText(answer.Data.Hint)))
		}
		if errors.Is(err, rpc.ErrClosed) {
			fmt.Fprintln(w, `  the daemon has ended: try again, which starts another one; "cursord logs" may say why it ended`)
		}
		return exitFailed
	}
}

// A statusError ends the program with its value as the exit status. Its cause has been printed.
type statusError int

func (s statusError) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// signalStatus is the exit status that shells report for a program that a signal has ended.
func signalStatus(s os.Signal) statusError {
	if n, ok := s.(syscall.Signal); ok {
		return statusError(exitCancelled - int(syscall.SIGINT) + int(n))
	}
	return exitCancelled
}

func rootCommand(inject serve.Injected) *cobra.Command {
	var asksVersion bool
	root := &cobra.Command{
		Use:   "cursord",
		Short: "A daemon for Cursor's command line agent",
		Long: `A daemon for Cursor's command line agent: turns, sessions and the review of what the agent changes, shared by editors,
terminals and scripts. Start with: cursord trust && cursord run "…"

"cursord help more" lists the commands for programs. Exit statuses: 0 success, 1 failure, 2 wrong usage, 130 a turn
was cancelled.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          arguments.OfGroup,
		RunE: func(c *cobra.Command, _ []string) error {
			if asksVersion {
				_, err := fmt.Fprint(c.OutOrStdout(), version.Line())
				return err
			}
			return c.Help()
		},
	}
	// Not cobra's flag: its template would have the linker keep all methods (TestProgramHasNoDeadMethods).
	root.Flags().BoolVarP(&asksVersion, "version", "v", false, "version for cursord")
	root.SetFlagErrorFunc(arguments.WrongFlag)
	asWritten := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		out, page := c.OutOrStdout(), new(bytes.Buffer)
		c.SetOut(page)
		asWritten(c, args)
		c.SetOut(out)
		fmt.Fprint(out, term.Reflow(page.String(), term.Columns(out)))
	})
	for _, g := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{"work", "Work:", []*cobra.Command{
			approvalsCommand(), approveCommand(), attemptsCommand(), cancelCommand(), chatCommand(), denyCommand(), modelsCommand(), runCommand(), trustCommand(),
			untrustCommand(), waitCommand(),
		}},
		{"review", "Review:", []*cobra.Command{
			acceptCommand(), diffCommand(), dismissCommand(), redoCommand(), rejectCommand(), reviewCommand(), undoCommand(), whyCommand(),
		}},
		{"sessions", "Sessions:", []*cobra.Command{
			deleteCommand(), exportCommand(), forkCommand(), importCommand(), renameCommand(), rewindCommand(), searchCommand(), sessionsCommand(), showCommand(),
			usageCommand(),
			workspacesCommand(),
		}},
		{"daemon", "Daemon:", []*cobra.Command{
			backupCommand(), configCommand(), doctorCommand(), gcCommand(), logsCommand(), serviceCommand(), statusCommand(), stopCommand(),
		}},
		{"editors", "Editors:", []*cobra.Command{acpCommand(), editorCommand(), lspCommand(), stdioCommand()}},
		{"other", "Other:", []*cobra.Command{demoCommand(), manCommand(), versionCommand()}},
		{"", "", []*cobra.Command{callCommand(), checkClientCommand(), fakeAgentCommand(inject), schemaCommand(), serveCommand(inject)}},
	} {
		if g.id != "" {
			root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		}
		for _, c := range g.commands {
			c.GroupID, c.Hidden = g.id, g.id == ""
			root.AddCommand(c)
		}
	}
	root.SetHelpCommandGroupID("other")
	root.InitDefaultHelpCmd()
	help, _, _ := root.Find([]string{"help"})
	help.Args = arguments.OfHelp
	root.SetCompletionCommandGroupID("other")
	root.AddCommand(moreCommand(root))
	root.InitDefaultCompletionCmd()
	completion, _, _ := root.Find([]string{"completion"})
	completion.Args, completion.RunE = arguments.OfGroup, root.RunE
	complete.Describe(completion)
	complete.Register(root, connectRunning)
	arguments.RefuseEmpty(root)
	return root
}
