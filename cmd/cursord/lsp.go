package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/faces"
	"cursord/cmd/cursord/internal/tracefile"
	"cursord/rpc"
)

func lspCommand() *cobra.Command {
	var trace string
	c := &cobra.Command{
		Use:   "lsp",
		Short: "Run a language server on stdin and stdout, for Helix and other editors",
		Long: `Be a language server on stdin and stdout: diagnostics show what agents changed, code actions decide about it, and commands ask
agents. It joins the user's daemon, and the next one when that ends. If none runs it starts one for a command, or for a
folder with something to review.

Commands (workspace/executeCommand), with their arguments, which are all optional but the prompt:

  cursord.ask "PROMPT" or {"prompt", "mode", "model", "session", "new", "path", "line"}
                              send a prompt, with the last selection and the open files
  cursord.compose             open a file for a prompt of several lines, which is sent when it is saved
  cursord.accept, .reject     {"path", "line"} or {"hunks": [ID]}: the hunk there; without, where the cursor was last known
  cursord.acceptFile, .rejectFile {"path"}; cursord.acceptAll, .rejectAll
  cursord.rejectComment       {"path", "line", "comment"}: reject, and tell the agent why; without a comment, open a file for it
  cursord.undo, .redo         take the last decision back, or make it again
  cursord.next, .prev         {"path", "line"}: go to the next hunk, in any file
  cursord.diff                open all that is to review as one file
  cursord.cancel              end the running turns
  cursord.new                 let the next prompt begin a new session
  cursord.resume "SESSION"    go on with a session; without it, open the list of them; cursord.delete "SESSION"
  cursord.transcript          open what was said in the session
  cursord.steer "TEXT"        tell the running turn something more; where its agent cannot take it, the text is the next prompt
  cursord.recap               ask the last prompt again in a fresh chat with the transcript, if the agent has lost the chat
  cursord.approvals           show again the questions for whose answers agents wait
  cursord.answer              {"approval": ID, "option": ID}: answer one of them
  cursord.allow, .deny, .trust answer the question whether the agent may work in the folder; .allow and .deny
                              ask again if an agent waits for something else
  cursord.status              say what goes on

In a prompt, files named like @src/main.go are sent along. {"completion": true} in initializationOptions completes their names in editors
that cannot be told where to ask for completions. An open transcript grows while turns run: in its file, for editors that load it again, or with
"liveTranscript" in the editor's buffer.

Settings (initializationOptions, or the section "cursord" of the configuration): {"isolation": "copy", "model", "mode"}
are for new sessions; {"notify": false} says nothing at a turn's end; {"symbols": false} leaves sessions out of the editor's list of
symbols; {"liveTranscript": true} changes the transcript's buffer. With isolation "copy" nothing changes on disk before you
accept it and save, which suits editors that do not reload files by themselves.`,
		Args: arguments.Takes(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			return tracefile.Run(trace, func(t *rpc.Tracer) error {
				both := io.ReadWriteCloser(faces.Stdio{})
				if t != nil {
					both = t.Conn(both)
					defer both.Close()
				}
				return ended(faces.LSP(c.Context(), both, os.Stderr, dialOptions()))
			})
		},
	}
	tracefile.AddFlag(c, &trace)
	return c
}
