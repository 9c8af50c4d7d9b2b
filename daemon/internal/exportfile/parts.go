package exportfile

import (
	"encoding/json"

	"cursord/daemon/api"
	"cursord/daemon/internal/wire"
	"cursord/sessions"
)

// Parts returns turns and items of the store as parts of an export, with nothing cut.
func Parts(stored []sessions.Part) (parts []api.ExportPart, err error) {
	parts = []api.ExportPart{}
	for _, p := range stored {
		var part api.ExportPart
		if p.Kind == sessions.KindTurn {
			part.Turn = new(sessions.Turn)
			err = json.Unmarshal(p.JSON, part.Turn)
		} else {
			part.Item = new(sessions.Item)
			if err = json.Unmarshal(p.JSON, part.Item); err == nil && p.Detail != nil {
				part.Item.Tool, err = wire.DecodeTool(p.Detail)
			}
		}
		if err != nil {
			return parts, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}
