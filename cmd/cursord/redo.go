package main

import (
	"github.com/spf13/cobra"
)

func redoCommand() *cobra.Command {
	return stepping("redo", "Redo what undo took back; repeatable", `Make the decision again that was taken back last. A new decision ends that. A decision whose lines have changed since
fails once, and is then passed over, as in "cursord undo".`)
}
