package main

import (
	"github.com/spf13/cobra"
)

func untrustCommand() *cobra.Command {
	return trusting(false, &cobra.Command{
		Use:   "untrust [DIR]",
		Short: "Take the trust in a workspace back: no new turns begin there",
		Long: `Take the trust in a workspace back: no new turns begin there, until you trust it again. A turn that runs or waits goes
on ("cursord cancel" ends it). Sessions and pending changes stay.`,
	})
}
