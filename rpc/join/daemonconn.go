package join

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"cursord/agent/jsontext"
	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/rpc/dial"
	"cursord/rpc/nowait"
)

// A daemonConn is a connection to a daemon.
type daemonConn struct {
	j             *joiner
	cursor        *cursor
	conn          io.ReadWriteCloser
	from          *rpc.FrameReader
	complained    bool                     // a notice has told the editor that the handshake takes long
	resubscribing map[string]*subscription // workspaces that are being subscribed again, by the request's id
	heard         atomic.Uint64            // how many messages the daemon has sent
	reset         *resetError              // why no other connection may be made
}

// connect connects to a daemon that answers. If the daemon that answers gives way to a newer build, it connects to that.
func (j *joiner) connect(ctx context.Context) (*daemonConn, error) {
	for since := time.Now(); ; {
		conn, err := j.access.Dial(ctx)
		if err != nil {
			return nil, err
		}
		d := &daemonConn{j: j, conn: conn, from: rpc.NewFrameReader(nowait.Reader(conn), rpc.HardCap)}
		stop := context.AfterFunc(ctx, func() { conn.Close() })
		replaced, err := d.handshake()
		if stop(); err == nil && !replaced {
			return d, nil
		}
		conn.Close()
		j.endUnresponsive()
		if started, ok := conn.(interface{ StartError() error }); ok && errors.Is(err, errEnded) {
			if why := started.StartError(); why != nil {
				return nil, why
			}
		}
		// A daemon that is about to end may accept connections and never read them.
		if err != nil && (!errors.Is(err, errEnded) || time.Since(since) > dial.StartLimit) {
			return nil, err
		}
		time.Sleep(dial.StartPoll)
	}
}

// handshake waits for the daemon's first answer. If the daemon gives way to another, handshake waits for the connection's end and returns true.
func (d *daemonConn) handshake() (replaced bool, err error) {
	method, params := d.j.access.Handshake()
	id := d.j.ownID("handshake")
	if _, err := d.conn.Write(rpc.AppendFrame(nil, rpc.FramingHeaders, rpc.AppendRequest(nil, id, method, params))); err != nil {
		return false, connError(err)
	}
	done, waited := make(chan struct{}), make(chan struct{})
	go func() {
		d.awaitHandshake(done)
		close(waited)
	}()
	defer func() {
		close(done)
		<-waited
	}()
	for {
		body, err := d.from.Read()
		if err != nil {
			return false, connError(err)
		}
		m, bad := rpc.ParseMessage(body)
		if bad != nil || !m.IsResponse() || !bytes.Equal(m.ID, id) {
			continue
		}
		var answer struct{ Replaced, AgentEnv string }
		if m.Result == nil || json.Unmarshal(m.Result, &answer) != nil {
			return false, nil
		}
		if answer.Replaced != "now" {
			return false, d.tellEnvironment(answer.AgentEnv)
		}
		for err == nil { // the daemon first ends what it has begun
			_, err = d.from.Read()
		}
		return true, nil
	}
}

// errEnded is returned when a connection has ended, as it does when the daemon ends.
var errEnded = errors.New("the daemon has ended")

// connError turns an error of a connection into one that says what has happened.
func connError(err error) error {
	var broken *rpc.FrameError
	switch {
	case errors.As(err, &broken):
		return fmt.Errorf("the answer is not from cursord: %s", broken.Message)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return errEnded
	}
	return err
}

// awaitHandshake watches a handshake until done is closed. It tells the editor when the daemon does not answer for long, and refuses the editor's
// requests after dial.MuteLimit. Time in which this process was suspended does not count.
func (d *daemonConn) awaitHandshake(done <-chan struct{}) {
	for waited := time.Duration(0); ; {
		since := time.Now()
		select {
		case <-done:
			return
		case <-time.After(dial.SilentLimit):
		}
		if time.Since(since) > dial.SilentLimit+dial.SilentLimit/2 {
			continue
		}
		if waited += dial.SilentLimit; d.j.access.Starting() && waited < dial.StartLimit {
			continue
		}
		advice := d.j.access.Silent()
		if !d.complained {
			d.complained = true
			d.j.say("warning", advice)
		}
		if waited < dial.MuteLimit {
			continue
		}
		select {
		case <-done:
		default:
			if !d.j.hasEnded() {
				d.j.fail(unresponsive, errors.New(advice))
			}
		}
	}
}

// serve continues where the editor was with the last daemon, and passes the daemon's messages on to the editor until the
// connection breaks.
func (d *daemonConn) serve() error {
	d.resubscribing = map[string]*subscription{}
	var again [][]byte
	for _, s := range d.cursor.workspaces {
		id := d.j.ownID("subscribe " + strconv.Itoa(len(again)))
		d.resubscribing[string(id)] = s
		again = append(again, rpc.AppendRequest(nil, id, "workspace/subscribe", s.resumeParams()))
	}
	var others sync.WaitGroup
	others.Go(func() { d.resume(again) })
	ended := make(chan struct{})
	others.Go(func() { d.watch(ended) })
	err := d.fromDaemon()
	close(ended)
	d.conn.Close()
	others.Wait()
	d.cursor.daemonLost()
	d.answerOrKeep()
	return err
}

// resume sends a new daemon the editor's state, the unanswered requests and the subscriptions, and then the messages that wait. A repeated
// turn/start goes before the subscriptions, a turn/wait after them.
func (d *daemonConn) resume(subscriptions [][]byte) {
	j := d.j
	j.order.Lock()
	defer j.order.Unlock()
	j.conn = d.conn
	for _, body := range j.client.messages(j.ownID("initialize")) {
		j.sendToDaemon(body)
	}
	var later []*request
	for _, r := range j.pending.all() {
		r.sent++
		switch r.method {
		case "turn/wait", "workspace/subscribe", "workspace/unsubscribe":
			later = append(later, r)
		default:
			j.sendToDaemon(r.body)
		}
	}
	for _, body := range subscriptions {
		j.sendToDaemon(body)
	}
	for _, r := range later {
		j.sendToDaemon(r.body)
	}
	waiting := j.waiting
	j.waiting, j.waitSize = nil, 0
	for _, body := range waiting {
		if m, bad := rpc.ParseMessage(body); bad == nil {
			j.passOn(&m, body)
		}
	}
	j.phase, j.err = connected, nil
	j.forgetRetry()
	j.changed.Broadcast()
}

// answerOrKeep answers, after the daemon's end, the requests that no daemon will answer; the others wait for the next daemon.
func (d *daemonConn) answerOrKeep() {
	j := d.j
	j.order.Lock()
	defer j.order.Unlock()
	j.phase, j.conn = connecting, nil
	if j.ending.Load() {
		j.phase, j.err = over, errors.New("the daemon has ended")
	}
	for _, r := range j.pending.all() {
		r.mayBeDone = r.mayBeDone || !r.declined
		if r.mayRepeat() && !r.cancelled && j.phase == connecting {
			r.declined = false
			continue
		}
		j.pending.remove(r)
		if r.cancelled {
			j.reply(r.id, nil, &rpc.Error{Code: rpc.CodeCancelled, Message: "cancelled", Data: rpc.ErrorData{Kind: api.KindCancelled}})
		} else {
			j.out.send(r.unanswered(rpc.EndedBefore + r.method))
		}
	}
	j.changed.Broadcast()
}

// fromDaemon passes the daemon's messages on to the editor, each time as many as have arrived completely.
func (d *daemonConn) fromDaemon() error {
	var batch [][]byte
	size := 0
	for {
		body, err := d.from.Read()
		if err == nil {
			d.heard.Add(1)
			if d.j.access.Inward != nil {
				body = d.j.access.Inward(body)
			}
			if before, pass := d.receive(body); pass {
				batch = append(append(batch, before...), body)
				size += len(body)
			}
			if size < batchSize && d.reset == nil && d.from.Ready() {
				continue
			}
		}
		if len(batch) > 0 {
			d.j.out.send(batch...)
			clear(batch)
			batch, size = batch[:0], 0
		}
		switch {
		case d.reset != nil:
			return d.reset
		case err != nil:
			return connError(err)
		}
	}
}

// receive looks at a message of the daemon. pass reports whether the editor gets it; before is what the editor gets first.
func (d *daemonConn) receive(body []byte) (before [][]byte, pass bool) {
	if bytes.HasPrefix(body, noteHead) {
		return d.cursor.observe(body), true
	}
	if rest, ok := bytes.CutPrefix(body, answerHead); ok {
		if id, rest, ok := cutID(rest); ok {
			return nil, d.answered(id, rest, body)
		}
	}
	// The message is not as our daemon writes it.
	m, bad := rpc.ParseMessage(body)
	if bad == nil && m.IsResponse() {
		return nil, d.answered(m.ID, nil, body)
	}
	return d.cursor.observe(body), true
}

// cutID splits what follows "id": in an answer into the request's id and the rest.
func cutID(b []byte) (id, rest []byte, ok bool) {
	end := bytes.IndexByte(b, ',')
	if len(b) > 0 && b[0] == '"' {
		end = jsontext.StringEnd(b, 0)
	}
	if end <= 0 || end >= len(b) || b[end] != ',' {
		return nil, nil, false
	}
	return b[:end], b[end:], true
}

// endingAnswers are the beginnings of the errors that a daemon which is about to end sends instead of an answer.
var endingAnswers = [2][]byte{
	fmt.Appendf(nil, `,"error":{"code":%d,`, rpc.CodeUnavailable),
	fmt.Appendf(nil, `,"error":{"code":%d,`, rpc.CodeCancelled),
}

// answered looks at an answer; rest is what follows the id. It reports whether the editor gets the answer.
func (d *daemonConn) answered(id, rest, body []byte) (pass bool) {
	if bytes.HasPrefix(id, []byte(d.j.ownIDs)) {
		d.ownAnswer(string(id), body)
		return false
	}
	r := d.j.pending.get(id)
	if r == nil {
		return true
	}
	// A daemon that is about to end gives up what it can no longer answer; the next one may answer it.
	declined := bytes.HasPrefix(rest, endingAnswers[0])
	if (declined || bytes.HasPrefix(rest, endingAnswers[1])) && !d.j.ending.Load() && !d.j.pending.isCancelled(r) {
		r.declined = declined
		return false
	}
	d.j.pending.remove(r)
	switch r.method {
	case "workspace/subscribe":
		d.cursor.subscribed(r, body)
	case "workspace/unsubscribe":
		d.cursor.unsubscribed(r, body)
	}
	return true
}

// ownAnswer looks at the answer to one of the joiner's own requests.
func (d *daemonConn) ownAnswer(id string, body []byte) {
	var answer struct {
		Result struct {
			Epoch string
			Reset bool
		}
		Error *rpc.Error
	}
	if json.Unmarshal(body, &answer) != nil {
		return
	}
	s := d.resubscribing[id]
	switch {
	case s != nil && answer.Error != nil:
		delete(d.cursor.workspaces, s.workspace)
		d.j.say("warning", fmt.Sprintf("%s is no longer followed: %s", s.workspace, answer.Error.Message))
	case s != nil && answer.Result.Reset:
		d.reset = &resetError{s.workspace}
	case s != nil:
		s.epoch = answer.Result.Epoch
	case id == string(d.j.ownID("initialize")) && answer.Error != nil:
		d.j.say("warning", "the daemon refused the client, so some things may fail: restart the daemon with \"cursord stop\": "+answer.Error.Message)
	}
}

// watch asks a silent daemon that owes answers whether it lives, until ended is closed. If the daemon does not answer that either, watch tells
// the editor. Time in which this process was suspended does not count.
func (d *daemonConn) watch(ended <-chan struct{}) {
	warned := false
	for first := true; ; first = false {
		// Nobody is told that requests to the last daemon are repeated.
		if !first || !d.j.pending.any() {
			select {
			case <-ended:
				return
			case <-d.j.pending.nonEmpty:
			}
		}
		for silent := time.Duration(0); d.j.pending.any(); {
			heard, since := d.heard.Load(), time.Now()
			select {
			case <-ended:
				return
			case <-time.After(lookPause):
			}
			switch {
			case d.heard.Load() != heard:
				silent, warned = 0, false
				continue
			case time.Since(since) > lookPause+lookPause/2:
				continue
			}
			if silent += lookPause; silent == lookPause {
				// The holder of the order may be waiting for this very daemon.
				if d.j.order.TryLock() {
					if d.j.conn != nil {
						d.j.sendToDaemon(rpc.AppendRequest(nil, d.j.ownID("alive"), AliveMethod, nil))
					}
					d.j.order.Unlock()
				}
			} else if silent >= dial.SilentLimit && !warned {
				warned = true
				d.j.say("warning", d.j.access.Silent())
			}
		}
	}
}
