package main

import (
	"github.com/spf13/cobra"
)

func rejectCommand() *cobra.Command {
	return decisionCommand("reject", `Reject changes of the agent, by the ids that "cursord diff" shows on a terminal, or by files: the old lines come back.
"cursord undo" reverts this. A hunk that may be yours, because it is not surely the agent's, is only rejected by
its id: --all, --turn and files leave it and say so.`)
}
