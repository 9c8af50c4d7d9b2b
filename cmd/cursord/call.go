package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/misuse"
	"cursord/cmd/cursord/internal/term"
	"cursord/rpc"
)

func callCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "call METHOD [PARAMS]",
		Short: "Send one request to the daemon and print its answer",
		Long: `Send one request to the daemon and print its answer as JSON: indented on a terminal, on one line in a pipe. PARAMS is
a JSON object, or - to read it from stdin. An error is printed on stderr with its code, kind and message; the exit
status is then 1.`,
		Example: `  cursord call daemon/status
  cursord call session/list '{"limit": 5}'`,
		Args: takes(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			var params any // none
			if len(args) == 2 {
				raw, err := readArgument(c, args[1])
				if err != nil {
					return err
				}
				if !json.Valid(raw) {
					return misuse.Errorf("PARAMS is not JSON: %s", term.Clean(term.Abridge(string(raw), 200)))
				}
				params = json.RawMessage(raw)
			}
			client, err := newClient(c.Context(), nil)
			if err != nil {
				return err
			}
			defer client.Close()
			var result json.RawMessage
			err = client.Call(c.Context(), args[0], params, &result)
			if answer := (*rpc.Error)(nil); errors.As(err, &answer) {
				return refused(c, answer)
			}
			if err != nil {
				return err
			}
			return printRaw(c.OutOrStdout(), result)
		},
	}
}

// refused tells an error answer.
func refused(c *cobra.Command, e *rpc.Error) error {
	name := fmt.Sprint(e.Code)
	if e.Data.Kind != "" {
		name += " " + string(e.Data.Kind)
	}
	fmt.Fprintf(c.ErrOrStderr(), "%s: %s\n", name, term.Clean(e.Message))
	if e.Data.Hint != "" {
		fmt.Fprintf(c.ErrOrStderr(), "  %s\n", term.Clean(e.Data.Hint))
	}
	return statusError(exitFailed)
}

// printRaw prints JSON: readable on a terminal, as one line elsewhere.
func printRaw(w io.Writer, raw json.RawMessage) error {
	var b bytes.Buffer
	if !term.IsTerminal(w) {
		if err := json.Compact(&b, raw); err != nil {
			return err
		}
		_, err := fmt.Fprintf(w, "%s\n", b.Bytes())
		return err
	}
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, term.CleanText(b.String()))
	return err
}

// readArgument returns an argument, or, where it is "-", what stdin has.
func readArgument(c *cobra.Command, arg string) ([]byte, error) {
	if arg != "-" {
		return []byte(arg), nil
	}
	// What is longer than any message may be need not be read to its end to be refused.
	return io.ReadAll(io.LimitReader(c.InOrStdin(), rpc.MaxMessage+1))
}
