package agent

import (
	"strings"

	"cursord/agent/jsontext"
	"cursord/agent/plaintext"
)

// PlanText returns all that the arguments of a plan say: what it is for, its steps, and the todos that the steps do not name.
func PlanText(o jsontext.Object) string {
	plan := o.Text("plan")
	add := func(between, text string) {
		if plan = strings.TrimSpace(plan); plan != "" {
			plan += between
		}
		plan += text
	}
	if overview := strings.TrimSpace(o.Text("overview")); !strings.Contains(plan, overview) {
		plan = strings.TrimSpace(overview + "\n\n" + plan)
	}
	todos := func(list jsontext.Value, between string) {
		for v := range list.Elements() {
			if text := plaintext.Joined(v.Object(nil).Text("content", "title", "text")); text != "" && !strings.Contains(plan, text) {
				add(between, "- "+text)
				between = "\n"
			}
		}
	}
	todos(o.Get("todos"), "\n\n")
	for phase := range o.Get("phases").Elements() {
		between := "\n\n"
		if name := plaintext.Joined(phase.Object(nil).Text("name", "title")); name != "" && !strings.Contains(plan, name) {
			add(between, name)
			between = "\n"
		}
		todos(phase.Get("todos"), between)
	}
	if strings.TrimSpace(plan) == "" {
		return ""
	}
	return plan
}
