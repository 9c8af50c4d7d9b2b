package decide

import (
	"context"
	"fmt"

	"cursord/cmd/cursord/internal/naming"
	"cursord/rpc"
)

// noRivals returns an error if several attempts at one prompt are pending: all of them together is what nobody wants.
func noRivals(ctx context.Context, n naming.Names) error {
	list, err := n.Client.AttemptList(ctx, rpc.AttemptListParams{Workspace: n.Root})
	if err != nil {
		return err
	}
	for _, g := range list.Groups {
		pending, some := 0, ""
		for _, a := range g.Attempts {
			if a.Hunks > 0 {
				pending++
				some = a.TurnID
			}
		}
		if pending > 1 {
			return &rpc.Error{
				Message: fmt.Sprintf("%d attempts at one prompt are pending, and --all would mix them", pending),
				Data:    rpc.ErrorData{Hint: fmt.Sprintf("take one of them (cursord attempts shows them): cursord accept --turn %s", some)},
			}
		}
	}
	return nil
}
