package diffshape

import (
	"errors"
	"fmt"

	"cursord/daemon/api"
	"cursord/diffs"
)

// Refused returns the answer to a client whose decision about a file a review refuses with an error; nil if that is a conflict about which
// nothing more is to be said.
func Refused(path string, err error) *api.Error {
	switch {
	case errors.Is(err, diffs.ErrBaselineUnknown):
		message := fmt.Sprintf("the content of %s before the agent's change is unknown", path)
		return &api.Error{Kind: api.KindBaselineUnknown, Message: message, Hint: "accept it, or restore the file yourself"}
	case errors.Is(err, diffs.ErrBaselineGone):
		message := path + " is gone from the work tree, and what the agent has changed is only a part of it"
		return &api.Error{Kind: api.KindConflict, Message: message, Hint: "put it back there and accept again, or reject the change"}
	case errors.Is(err, diffs.ErrRange):
		return api.Invalid("lines", "%v", err)
	}
	return nil
}
