package join

import (
	"context"
	"encoding/json"
	"io"

	"cursord/daemon/endpoint"
	"cursord/rpc/dial"
)

// Local returns the Access to the user's daemon on this machine, which it starts if none runs. It is for one Run. The fields
// OnNotify and Waiting of o are not used.
func Local(o dial.Options) Access {
	asked := false         // a daemon was asked to give way to this program
	var dirs endpoint.Dirs // where the last daemon was
	return Access{
		Version: o.Version,
		Dial: func(ctx context.Context) (_ io.ReadWriteCloser, err error) {
			if dirs, err = endpoint.FindDaemon(); err != nil {
				return nil, err
			}
			conn, err := dial.Dial(ctx, dirs, o.Program)
			if err != nil {
				return nil, err
			}
			return conn, nil
		},
		Handshake: func() (string, json.RawMessage) {
			p := o.JoinParams()
			if asked {
				p.Program = "" // the path may hold another program by now, and no daemon is to become that
			}
			asked = true
			raw, err := json.Marshal(p)
			if err != nil {
				panic(err) // strings and a number
			}
			return "daemon/join", raw
		},
		Environment: dial.Environment,
		Silent:      func() string { return dial.Silent(dirs) },
		Hint:        doctorHint,
		Stopped: func() bool {
			if !endpoint.Stopped(dirs.Socket) {
				return false
			}
			now, err := endpoint.FindDaemon()
			return err == nil && (now.Socket == dirs.Socket || !endpoint.Running(now.Socket))
		},
		Starting: func() bool { return !endpoint.Serving(dirs.Socket) },
		Ended:    func() bool { return !endpoint.Running(dirs.Socket) },
	}
}
