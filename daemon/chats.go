package daemon

import (
	"cursord/agent"
	"cursord/sessions"
)

// AgentChats lists the chats that cursor-agent keeps of a workspace, the latest first, with the sessions that have
// adopted them. Where the agent keeps its chats in another way there are none.
func (d *Daemon) AgentChats(root string) ([]Chat, error) {
	root, err := resolveRoot(root)
	if err != nil {
		return nil, err
	}
	kept, err := agent.Chats(root)
	if err != nil {
		return nil, &Error{
			Kind: KindAgentFailed, Message: "the agent's chats cannot be read: " + err.Error(), Hint: "CURSOR_CONFIG_DIR says where they are, else ~/.cursor",
		}
	}
	adopted := map[string][]string{}
	for cursor := ""; ; {
		page, next, err := d.store.Sessions(root, cursor, listMax)
		if err != nil {
			return nil, storeError(err)
		}
		for _, s := range page {
			if s.AgentSessionID != nil {
				adopted[*s.AgentSessionID] = append(adopted[*s.AgentSessionID], s.ID)
			}
		}
		if cursor = next; cursor == "" {
			break
		}
	}
	var chats []Chat
	for _, c := range kept {
		chats = append(chats, Chat{ID: c.ID, Title: c.Title, UpdatedAt: sessions.Time{Time: c.Updated.UTC()}, Sessions: adopted[c.ID]})
	}
	return chats, nil
}
