package sessions

import "strings"

// ReasonChatLost is the reason of a notice that the agent has lost the chat of the item's session: asking again with a recap helps.
const ReasonChatLost = "chatLost"

// NoticeText returns the text of a notice. Where the agent has lost the chat, it ends with again, which says how people ask again here.
func (i *Item) NoticeText(again string) string {
	if i.Reason != ReasonChatLost || again == "" {
		return i.Text
	}
	lost, _, _ := strings.Cut(i.Text, "To tell it, ")
	return lost + again
}
