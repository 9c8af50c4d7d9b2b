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

	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/rpc/dial"
)

// A line is a connection to a daemon.
type line struct {
	j          *joiner
	at         *position
	conn       io.ReadWriteCloser
	from       *rpc.FrameReader
	complained bool                   // the daemon was late to say hello
	resuming   map[string]*subscribed // workspaces that are subscribed again, by the request's id
	heard      atomic.Uint64          // grows when the daemon says something
	reset      *resetError            // why the line must not go on
}

// lay connects to a daemon that lives.
func (j *joiner) lay(ctx context.Context) (*line, error) {
	for since := time.Now(); ; {
		conn, err := j.route.Dial(ctx)
		if err != nil {
			return nil, err
		}
		l := &line{j: j, conn: conn, from: rpc.NewFrameReader(conn, rpc.HardCap)}
		stop := context.AfterFunc(ctx, func() { conn.Close() })
		replaced, err := l.hello()
		if stop(); err == nil && !replaced {
			return l, nil
		}
		conn.Close()
		j.unmute()
		if started, ok := conn.(interface{ StartError() error }); ok && errors.Is(err, errEnded) {
			if why := started.StartError(); why != nil {
				return nil, why
			}
		}
		// A daemon that is about to end may take connections that it never reads.
		if err != nil && (!errors.Is(err, errEnded) || time.Since(since) > dial.StartLimit) {
			return nil, err
		}
		time.Sleep(dial.StartPoll)
	}
}

// hello waits for the daemon's first answer, and where that daemon gives way to another, for its end.
func (l *line) hello() (replaced bool, err error) {
	method, params := l.j.route.Hello()
	id := l.j.ownID("hello")
	if _, err := l.conn.Write(rpc.AppendFrame(nil, rpc.FramingHeaders, rpc.AppendRequest(nil, id, method, params))); err != nil {
		return false, lineError(err)
	}
	done, waited := make(chan struct{}), make(chan struct{})
	go func() {
		l.awaitHello(done)
		close(waited)
	}()
	defer func() {
		close(done)
		<-waited
	}()
	for {
		body, err := l.from.Read()
		if err != nil {
			return false, lineError(err)
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
			return false, l.tellEnvironment(answer.AgentEnv)
		}
		for err == nil { // it still ends what it has begun
			_, err = l.from.Read()
		}
		return true, nil
	}
}

// errEnded is why a line has ended where that is the daemon's end.
var errEnded = errors.New("the daemon has ended")

// lineError says what an error of a connection means.
func lineError(err error) error {
	var broken *rpc.FrameError
	switch {
	case errors.As(err, &broken):
		return fmt.Errorf("what answers is no cursord: %s", broken.Message)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return errEnded
	}
	return err
}

// awaitHello tells the editor of a daemon that does not answer, until done. Time in which somebody had stopped this process
// does not count.
func (l *line) awaitHello(done <-chan struct{}) {
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
		if waited += dial.SilentLimit; l.j.route.Starting() && waited < dial.StartLimit {
			continue
		}
		advice := l.j.route.Silent()
		if !l.complained {
			l.complained = true
			l.j.say("warning", advice)
		}
		if waited < dial.MuteLimit {
			continue
		}
		select {
		case <-done:
		default:
			l.j.fail(mute, errors.New(advice))
		}
	}
}

// carry goes on where the editor was with the daemon before, and carries the daemon's messages to the editor until the
// line breaks.
func (l *line) carry() error {
	l.resuming = map[string]*subscribed{}
	var again [][]byte
	for _, s := range l.at.workspaces {
		id := l.j.ownID("subscribe " + strconv.Itoa(len(again)))
		l.resuming[string(id)] = s
		again = append(again, rpc.AppendRequest(nil, id, "workspace/subscribe", s.resume()))
	}
	var others sync.WaitGroup
	others.Go(func() { l.resume(again) })
	ended := make(chan struct{})
	others.Go(func() { l.watch(ended) })
	err := l.down()
	close(ended)
	l.conn.Close()
	others.Wait()
	l.at.lost()
	l.lost()
	return err
}

// resume tells a new daemon what the editor has told the last one and what it has asked, and then what waits. A turn is
// asked for before it is told of, and waited for after.
func (l *line) resume(subscriptions [][]byte) {
	j := l.j
	j.order.Lock()
	defer j.order.Unlock()
	j.conn = l.conn
	for _, body := range j.kept.messages(j.ownID("initialize")) {
		j.tell(body)
	}
	var later []*question
	for _, r := range j.asked.all() {
		r.sent++
		switch r.method {
		case "turn/wait", "workspace/subscribe", "workspace/unsubscribe":
			later = append(later, r)
		default:
			j.tell(r.body)
		}
	}
	for _, body := range subscriptions {
		j.tell(body)
	}
	for _, r := range later {
		j.tell(r.body)
	}
	waiting := j.waiting
	j.waiting, j.waitSize = nil, 0
	for _, body := range waiting {
		if m, bad := rpc.ParseMessage(body); bad == nil {
			j.pass(&m, body)
		}
	}
	j.phase, j.err = up, nil
	j.changed.Broadcast()
}

// lost answers what can have no other answer any more; the rest waits for the next daemon.
func (l *line) lost() {
	j := l.j
	j.order.Lock()
	defer j.order.Unlock()
	j.phase, j.conn = trying, nil
	if j.ending.Load() {
		j.phase, j.err = over, errors.New("the daemon has ended")
	}
	for _, r := range j.asked.all() {
		r.perhaps = r.perhaps || !r.declined
		if r.mayRepeat() && !r.cancelled && j.phase == trying {
			r.declined = false
			continue
		}
		j.asked.remove(r)
		if r.cancelled {
			j.reply(r.id, nil, &rpc.Error{Code: rpc.CodeCancelled, Message: "cancelled", Data: rpc.ErrorData{Kind: api.KindCancelled}})
		} else {
			j.out.send(r.unanswered("the daemon ended before it answered " + r.method))
		}
	}
	j.changed.Broadcast()
}

// down carries the daemon's messages to the editor, as many at a time as have arrived whole.
func (l *line) down() error {
	var batch [][]byte
	size := 0
	for {
		body, err := l.from.Read()
		if err == nil {
			l.heard.Add(1)
			if l.j.route.Inward != nil {
				body = l.j.route.Inward(body)
			}
			if before, pass := l.hear(body); pass {
				batch = append(append(batch, before...), body)
				size += len(body)
			}
			if size < batchSize && l.reset == nil && l.from.Ready() {
				continue
			}
		}
		if len(batch) > 0 {
			l.j.out.send(batch...)
			clear(batch)
			batch, size = batch[:0], 0
		}
		switch {
		case l.reset != nil:
			return l.reset
		case err != nil:
			return lineError(err)
		}
	}
}

// hear takes a message of the daemon's. It reports whether the editor gets it, and returns what it gets before.
func (l *line) hear(body []byte) (before [][]byte, pass bool) {
	if bytes.HasPrefix(body, noteHead) {
		return l.at.note(body), true
	}
	if rest, ok := bytes.CutPrefix(body, answerHead); ok {
		if id, rest, ok := cutID(rest); ok {
			return nil, l.answered(id, rest, body)
		}
	}
	// Not as our daemon writes it.
	m, bad := rpc.ParseMessage(body)
	if bad == nil && m.IsResponse() {
		return nil, l.answered(m.ID, nil, body)
	}
	return l.at.note(body), true
}

// cutID cuts a request's id off what follows "id": in an answer.
func cutID(b []byte) (id, rest []byte, ok bool) {
	end := bytes.IndexByte(b, ',')
	if len(b) > 0 && b[0] == '"' {
		for end = 1; end < len(b) && b[end] != '"'; end++ {
			if b[end] == '\\' {
				end++
			}
		}
		end++
	}
	if end <= 0 || end >= len(b) || b[end] != ',' {
		return nil, nil, false
	}
	return b[:end], b[end:], true
}

// endingAnswers begin what a daemon says that is about to end, in place of an answer.
var endingAnswers = [2][]byte{
	fmt.Appendf(nil, `,"error":{"code":%d,`, rpc.CodeUnavailable),
	fmt.Appendf(nil, `,"error":{"code":%d,`, rpc.CodeCancelled),
}

// answered takes an answer, of which rest is what follows the id. It reports whether the editor gets it.
func (l *line) answered(id, rest, body []byte) (pass bool) {
	if bytes.HasPrefix(id, []byte(l.j.own)) {
		l.ownAnswer(string(id), body)
		return false
	}
	r := l.j.asked.get(id)
	if r == nil {
		return true
	}
	// A daemon that is about to end gives up what it cannot answer any more; the next one may.
	declined := bytes.HasPrefix(rest, endingAnswers[0])
	if (declined || bytes.HasPrefix(rest, endingAnswers[1])) && !l.j.ending.Load() && !l.j.asked.isCancelled(r) {
		r.declined = declined
		return false
	}
	l.j.asked.remove(r)
	switch r.method {
	case "workspace/subscribe":
		l.at.subscribed(r, body)
	case "workspace/unsubscribe":
		l.at.unsubscribed(r, body)
	}
	return true
}

// ownAnswer takes the answer to a request of the joiner's own.
func (l *line) ownAnswer(id string, body []byte) {
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
	s := l.resuming[id]
	switch {
	case s != nil && answer.Error != nil:
		delete(l.at.workspaces, s.workspace)
		l.j.say("warning", fmt.Sprintf("%s is not followed any more: %s", s.workspace, answer.Error.Message))
	case s != nil && answer.Result.Reset:
		l.reset = &resetError{s.workspace}
	case s != nil:
		s.epoch = answer.Result.Epoch
	case id == string(l.j.ownID("initialize")) && answer.Error != nil:
		l.j.say("warning", "the daemon refused the client, which may not work well: restart the daemon with \"cursord stop\": "+answer.Error.Message)
	}
}

// watch asks a daemon that owes answers and says nothing whether it lives, and tells the editor if it does not, until
// the line has ended. Time in which somebody had stopped this process does not count.
func (l *line) watch(ended <-chan struct{}) {
	told := false
	for first := true; ; first = false {
		// What the last daemon owed is asked again without a word here.
		if !first || !l.j.asked.any() {
			select {
			case <-ended:
				return
			case <-l.j.asked.some:
			}
		}
		for silent := time.Duration(0); l.j.asked.any(); {
			heard, since := l.heard.Load(), time.Now()
			select {
			case <-ended:
				return
			case <-time.After(lookPause):
			}
			switch {
			case l.heard.Load() != heard:
				silent, told = 0, false
				continue
			case time.Since(since) > lookPause+lookPause/2:
				continue
			}
			if silent += lookPause; silent == lookPause {
				// Who holds the order may wait for this very daemon.
				if l.j.order.TryLock() {
					if l.j.conn != nil {
						l.j.tell(rpc.AppendRequest(nil, l.j.ownID("alive"), AliveMethod, nil))
					}
					l.j.order.Unlock()
				}
			} else if silent >= dial.SilentLimit && !told {
				told = true
				l.j.say("warning", l.j.route.Silent())
			}
		}
	}
}
