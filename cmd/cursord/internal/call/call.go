// Package call is "cursord call": it makes one request and prints the answer.
package call

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"cursord/cmd/cursord/internal/misuse"
	"cursord/cmd/cursord/internal/term"
	"cursord/rpc"
)

// Params returns the parameters in args: nil if there are none, JSON, or JSON read from in for "-". Invalid JSON is a
// misuse.
func Params(args []string, in io.Reader) (any, error) {
	if len(args) == 0 {
		return nil, nil
	}
	raw := []byte(args[0])
	if args[0] == "-" {
		var err error
		// One byte more than the largest message is enough for the refusal.
		if raw, err = io.ReadAll(io.LimitReader(in, rpc.MaxMessage+1)); err != nil {
			return nil, err
		}
	}
	if !json.Valid(raw) {
		return nil, misuse.Errorf("PARAMS is not JSON: %s", term.Clean(term.Abridge(string(raw), 200)))
	}
	return json.RawMessage(raw), nil
}

// Print makes a request and prints the result to out. If the answer is an error, it prints that to errOut and returns false.
func Print(ctx context.Context, client *rpc.Client, method string, params any, out, errOut io.Writer) (bool, error) {
	var result json.RawMessage
	err := client.Call(ctx, method, params, &result)
	if answer := (*rpc.Error)(nil); errors.As(err, &answer) {
		printError(errOut, answer)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, printResult(out, result)
}

func printError(w io.Writer, e *rpc.Error) {
	name := fmt.Sprint(e.Code)
	if e.Data.Kind != "" {
		name += " " + string(e.Data.Kind)
	}
	fmt.Fprintf(w, "%s: %s\n", name, term.Clean(e.Message))
	if e.Data.Hint != "" {
		fmt.Fprintf(w, "  %s\n", term.Clean(e.Data.Hint))
	}
}

// printResult prints JSON: indented on a terminal, else on one line.
func printResult(w io.Writer, raw json.RawMessage) error {
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
