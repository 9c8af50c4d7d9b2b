package dial_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"cursord/rpc"
	"cursord/rpc/dial"
	"cursord/sessions"
)

// ExampleConnect connects to the daemon, or starts it if none runs, runs a turn in a folder, and prints the agent's text.
func ExampleConnect() {
	ctx := context.Background()
	client, err := dial.Connect(ctx, dial.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	dir, err := os.MkdirTemp("", "app")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if _, err := client.WorkspaceTrust(ctx, rpc.TrustParams{Workspace: dir, Trusted: true}); err != nil {
		log.Fatal(err)
	}
	started, err := client.TurnStart(ctx, rpc.TurnStartParams{Workspace: dir, Prompt: "What is the answer?"})
	if err != nil {
		log.Fatal(err)
	}
	ended, err := client.TurnWait(ctx, rpc.TurnParams{TurnID: started.Turn.ID})
	if err != nil {
		log.Fatal(err)
	}
	read, err := client.SessionRead(ctx, rpc.SessionReadParams{SessionID: started.Session.ID})
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range read.Items {
		if item.Kind == sessions.ItemAssistant {
			fmt.Println(item.Text)
		}
	}
	fmt.Println(ended.Turn.Status)
	// Output:
	// You asked: What is the answer?
	// completed
}
