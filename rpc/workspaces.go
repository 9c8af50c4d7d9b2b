package rpc

import (
	"context"
	"os"
	"path/filepath"

	"cursord/daemon"
	"cursord/daemon/api"
)

func (f *face) workspaces(context.Context, *None) (WorkspaceList, error) {
	list, err := f.d.Workspaces()
	return WorkspaceList{nonNil(list)}, err
}

func (f *face) trust(_ context.Context, p *TrustParams) (api.TrustResult, error) {
	if p.DryRun {
		return f.d.Trusted(p.Workspace)
	}
	root, err := f.d.Trust(p.Workspace, p.Trusted)
	return api.TrustResult{Workspace: root, Trusted: p.Trusted}, err
}

func (f *face) subscribe(ctx context.Context, p *SubscribeParams, reply func(api.Subscribed, error)) {
	switch {
	case p.DeltaInterval < 0:
		reply(api.Subscribed{}, invalid("deltaInterval", "must not be negative"))
		return
	case p.Diffs != "" && p.Diffs != "full" && p.Diffs != "summary":
		reply(api.Subscribed{}, invalid("diffs", "must be full or summary"))
		return
	}
	s := newSubscriber(f.box)
	options := daemon.SubscribeOptions{
		After: p.After, Epoch: p.Epoch, DeltaIntervalMS: p.DeltaInterval, DiffSummaries: p.Diffs == "summary", Client: f.client,
	}
	s.attach(f.d.Subscribe(p.Workspace, options, s.sink, func(subscribed api.Subscribed, err error) {
		if err != nil || ctx.Err() != nil {
			go s.close() // may wait for the workspace's loop, in which this runs
		} else {
			f.replace(subscribed.Workspace, s)
		}
		if reply(subscribed, err); err == nil {
			f.listen()
		}
	}))
}

// replace makes s the subscriber of a workspace. It runs in the workspace's loop before the first notification of s; the
// previous subscriber gets none after it.
func (f *face) replace(workspace string, s *subscriber) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		go s.close()
		return
	}
	if old := f.subs[workspace]; old != nil {
		old.mute()
		go old.close()
	}
	f.subs[workspace] = s
}

func (f *face) unsubscribe(_ context.Context, p *WorkspaceParams) (Done, error) {
	path, err := api.LocalPath("workspace", p.Workspace)
	if err != nil {
		return Done{}, err
	}
	info, err := os.Stat(path)
	known := filepath.Clean(path)
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		known = resolved
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.leave(known) {
		return Done{}, nil
	}
	for root := range f.subs { // the client may use another name of the folder, such as one in other letters
		if rootInfo, rootErr := os.Stat(root); err == nil && rootErr == nil && os.SameFile(info, rootInfo) {
			f.leave(root)
			return Done{}, nil
		}
	}
	if err != nil || !info.IsDir() {
		return Done{}, invalid("workspace", p.Workspace+" is not a directory")
	}
	return Done{}, nil
}

// leave ends the subscription of a workspace and reports whether there was one. f.mu must be held.
func (f *face) leave(root string) bool {
	s := f.subs[root]
	if s == nil {
		return false
	}
	delete(f.subs, root)
	if f.news != nil {
		f.news.Leave(root)
	}
	s.mute()
	go s.close()
	return true
}
