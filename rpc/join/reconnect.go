package join

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"cursord/daemon/config"
	"cursord/rpc"
	"cursord/rpc/dial"
)

const (
	quickTries = 3                     // tries to reach a daemon before the editor gets a notice
	quickPause = 50 * time.Millisecond // after the first of these; longer after each other
	firstPause = time.Second           // before the next try; it doubles each time, up to longPause
	longPause  = time.Minute
	restPause  = 500 * time.Millisecond // between checks whether somebody has started a daemon
	lookPause  = time.Second            // until a daemon that owes an answer is asked whether it lives
	batchSize  = 64 << 10               // about how many bytes of the daemon's messages go to the editor in one write

	// AliveMethod is a request that no daemon knows, so every daemon answers it at once.
	AliveMethod = "$/alive"
)

// keepConnected connects to a daemon, and again whenever that connection breaks, until the editor leaves.
func (j *joiner) keepConnected(ctx context.Context) {
	defer close(j.done)
	cursor := newCursor()
	tries, pause, said, connections, shortLived := 0, firstPause, "", 0, 0
	for {
		d, err := j.connect(ctx)
		if err == nil {
			if connections > 0 || said != "" || d.complained {
				j.say("info", "connected to the cursord daemon again")
			}
			connections++
			tries, pause, said = 0, firstPause, ""
			d.cursor = cursor
			since := time.Now()
			if err = d.serve(); j.isOver(err) {
				return
			}
			j.rest(ctx)
			// After a daemon that has served, the next try follows at once. After daemons that end as they begin, the pauses
			// grow.
			if shortLived++; time.Since(since) > firstPause {
				shortLived = 0
			}
			j.pause(ctx, min(time.Duration(shortLived*shortLived)*dial.StartPoll, longPause))
			continue
		}
		if tries++; tries < quickTries {
			time.Sleep(time.Duration(tries) * quickPause)
			continue
		}
		if err.Error() != said {
			said = err.Error()
			j.say("error", said)
		}
		if j.fail(failed, err) {
			return
		}
		if j.pause(ctx, pause); ctx.Err() != nil {
			return
		}
		pause = min(2*pause, longPause)
	}
}

// pause waits for a time, or until the client asks for something or leaves.
func (j *joiner) pause(ctx context.Context, d time.Duration) {
	select {
	case <-j.retry:
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// rest waits, if the daemon was stopped on purpose and the editor needs none now, until another daemon runs or the editor needs one.
func (j *joiner) rest(ctx context.Context) {
	j.order.Lock()
	rests := j.phase == connecting && len(j.waiting) == 0 && !j.pending.any() && j.access.Stopped()
	if rests {
		j.phase, j.err = resting, errEnded
		j.forgetRetry()
		j.changed.Broadcast()
	}
	j.order.Unlock()
	if !rests {
		return
	}
	j.say("info", "the cursord daemon was stopped; the next request starts it again")
	for j.access.Stopped() {
		select {
		case <-j.retry:
			return
		case <-ctx.Done():
			return
		case <-time.After(restPause):
		}
	}
	j.order.Lock()
	defer j.order.Unlock()
	j.phase = connecting
}

// fail enters phase p, in which there is no daemon because of err: it refuses the requests that wait. It reports whether the editor is leaving.
func (j *joiner) fail(p phase, err error) (leaving bool) {
	j.order.Lock()
	defer j.order.Unlock()
	for _, r := range j.pending.all() {
		j.pending.remove(r)
		j.out.send(r.unanswered(err.Error()))
	}
	waiting := j.waiting
	j.err, j.waiting, j.waitSize = err, nil, 0
	for _, body := range waiting {
		if m, bad := rpc.ParseMessage(body); bad == nil {
			j.refuse(&m)
		}
	}
	j.phase = p
	j.forgetRetry()
	j.changed.Broadcast()
	return j.ending.Load()
}

// tryNow ends the pause before the next try to connect.
func (j *joiner) tryNow() {
	select {
	case j.retry <- struct{}{}:
	default:
	}
}

// forgetRetry drops the token of a try that has been made, or is not needed any more. The order must be held.
func (j *joiner) forgetRetry() {
	select {
	case <-j.retry:
	default:
	}
}

// endUnresponsive ends the phase unresponsive, because the connection to the daemon that did not answer has ended: the editor's messages wait again.
func (j *joiner) endUnresponsive() {
	j.order.Lock()
	defer j.order.Unlock()
	if j.phase == unresponsive {
		j.phase = connecting
		j.changed.Broadcast()
	}
}

// A resetError ends a joiner whose editor must begin anew, because the daemon has another database.
type resetError struct{ workspace string }

func (e *resetError) Error() string {
	return "the daemon's database was replaced: restart the client to see " + e.workspace
}

// isOver reports whether the connection that has ended with err was the last one.
func (j *joiner) isOver(err error) bool {
	if reset := (*resetError)(nil); errors.As(err, &reset) {
		j.say("error", err.Error())
		close(j.reset)
		return true
	}
	j.order.Lock()
	defer j.order.Unlock()
	return j.phase == over
}

// tellEnvironment sends the daemon our environment, for the agents of the editor's turns, if agentEnv, the daemon's answer to the handshake, asks for it.
func (d *daemonConn) tellEnvironment(agentEnv string) error {
	if agentEnv != config.EnvClient || d.j.access.Environment == nil {
		return nil
	}
	params, err := json.Marshal(d.j.access.Environment())
	if err != nil {
		return err
	}
	body := rpc.AppendRequest(nil, d.j.ownID("environment"), "agent/environment", params)
	if _, err := d.conn.Write(rpc.AppendFrame(nil, rpc.FramingHeaders, body)); err != nil {
		return connError(err)
	}
	return nil
}
