//go:build unix

package undertest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/textproto"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A hold is a slow way from the daemon to an editor. While the file plan exists, it holds back the answers to the methods
// that the file names, and everything behind them, so that the order of the wire stays.
type hold struct {
	plan string

	mu    sync.Mutex
	asked map[string]string // methods by request id
}

// holdAnswers puts a hold between the editor and this process if the environment asks for one.
func holdAnswers() {
	plan := os.Getenv(Hold)
	if plan == "" || len(os.Args) < 2 || os.Args[1] != "stdio" {
		return
	}
	h := &hold{plan: plan, asked: map[string]string{}}
	in, toProgram := pipe()
	fromProgram, out := pipe()
	go h.copy(os.Stdin, toProgram, h.note)
	go h.copy(fromProgram, os.Stdout, h.wait)
	os.Stdin, os.Stdout = in, out
}

func pipe() (r, w *os.File) {
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	return r, w
}

// wireMessage is what a hold reads of a message.
type wireMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
}

// copy copies messages until from ends, and calls before with each.
func (h *hold) copy(from io.Reader, to io.WriteCloser, before func(wireMessage)) {
	defer to.Close()
	for r := bufio.NewReader(from); ; {
		header, err := textproto.NewReader(r).ReadMIMEHeader()
		if err != nil {
			return
		}
		size, err := strconv.Atoi(header.Get("Content-Length"))
		if err != nil {
			return
		}
		body := make([]byte, size)
		if _, err := io.ReadFull(r, body); err != nil {
			return
		}
		var m wireMessage
		if json.Unmarshal(body, &m) == nil {
			before(m)
		}
		if _, err := fmt.Fprintf(to, "Content-Length: %d\r\n\r\n%s", size, body); err != nil {
			return
		}
	}
}

// note notes the method of a request.
func (h *hold) note(m wireMessage) {
	if m.Method != "" && m.ID != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.asked[string(m.ID)] = m.Method
	}
}

// wait returns when an answer may go to the editor; at once for anything else.
func (h *hold) wait(m wireMessage) {
	if m.Method != "" || m.ID == nil {
		return
	}
	h.mu.Lock()
	method := h.asked[string(m.ID)]
	delete(h.asked, string(m.ID))
	h.mu.Unlock()
	for {
		held, err := os.ReadFile(h.plan)
		if err != nil || !slices.Contains(strings.Fields(string(held)), method) {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}
