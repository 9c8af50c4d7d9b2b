package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/faces"
	"cursord/cmd/cursord/internal/tracefile"
	"cursord/cmd/cursord/internal/version"
	"cursord/rpc"
	"cursord/rpc/join"
)

func stdioCommand() *cobra.Command {
	var standalone bool
	var trace, host, program string
	var paths []string
	c := &cobra.Command{
		Use:   "stdio",
		Short: "Speak the protocol on stdin and stdout, for editors",
		Long: `Speak the protocol on stdin and stdout, for editors: join the user's daemon, and start it if none runs. It ends when
stdin does; the daemon and its turns go on. When the daemon ends, it joins the next one and continues there.

With --host it joins the daemon of another machine: it runs "cursord stdio" there by ssh, with your ssh configuration
for that host. --map names folders that have other paths there; paths in messages are then changed in both directions,
and text is not. The settings ssh, remote_paths and remote_program do the same; CURSORD_SSH overrides ssh.`,
		Example: `  cursord stdio
  cursord stdio --host me@build --map /home/me/src=/srv/src`,
		Args: arguments.Takes(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			return tracefile.Run(trace, func(t *rpc.Tracer) error {
				both := io.ReadWriteCloser(faces.Stdio{})
				if t != nil {
					both = t.Conn(both)
					defer both.Close()
				}
				if standalone {
					return ended(faces.Standalone(c.Context(), both, os.Stderr))
				}
				if host == "" {
					return ended(join.Run(c.Context(), both, both, join.Local(dialOptions())))
				}
				h, err := faces.FindRemote(host, program, paths)
				if err != nil {
					return err
				}
				return ended(join.Run(c.Context(), both, both, h.Access(version.Own())))
			})
		},
	}
	tracefile.AddFlag(c, &trace)
	c.Flags().BoolVar(&standalone, "standalone", false, "serve in this process, without the daemon and its socket")
	c.Flags().StringVar(&host, "host", "", "the machine whose daemon to join, as `[USER@]HOST` or a name of your ssh configuration")
	c.Flags().StringArrayVar(&paths, "map", nil, "a folder's path here and there, `HERE=THERE`; may be given more than once")
	c.Flags().StringVar(&program, "remote-program", "", "cursord on that machine, in its shell's words (default \"cursord\")")
	c.MarkFlagsMutuallyExclusive("standalone", "host")
	return c
}

// ended returns the exit status of a connection that has ended; ok says whether it ended as it should.
func ended(ok bool) statusError {
	if !ok {
		return exitFailed
	}
	return exitOK
}
