package main

import (
	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/approve"
)

func denyCommand() *cobra.Command {
	return replyCommand(approve.Reply{Deny: true}, "deny [ID]", "Say no to what an agent asks",
		`Say no to what an agent asks; to a question, say that nobody answers it. Without ID, the command answers the only approval of the workspace.`)
}
