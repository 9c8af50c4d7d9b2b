package approvals

import (
	"errors"

	"cursord/agent/plaintext"
	"cursord/daemon/api"
	"cursord/sessions"
)

// Missing returns what clients get for an error of the store's about an approval.
func Missing(id string, err error) error {
	var e *api.Error
	if errors.Is(err, sessions.ErrNotFound) || errors.As(err, &e) && e.Kind == api.KindNotFound {
		e := api.Errorf(api.KindNotFound, "no approval %s is there: it may have been answered, or its session deleted", plaintext.Cut(id, 100))
		e.Hint = "cursord approvals (approval/list) lists those that are pending"
		return e
	}
	return api.StoreError(err)
}
