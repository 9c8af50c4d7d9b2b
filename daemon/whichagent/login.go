package whichagent

import (
	"context"
	"crypto/sha256"
	"errors"
	"strings"
	"sync"
	"time"

	"cursord/agent/failure"
	"cursord/agent/program"
	"cursord/daemon/api"
)

const loginStays = 5 * time.Minute // until a valid login is checked again

const hintLogin = `run "cursor-agent login", or set CURSOR_API_KEY`

// logins knows whether the agent's login is valid. Only Cursor's server can say, which takes a process and seconds. One
// goroutine at a time asks, for all that want to know, and no turn waits for it.
type logins struct {
	asking chan struct{} // held by the goroutine that asks

	mu    sync.Mutex
	good  time.Time // guarded by mu; how long the last good answer counts
	of    loginKey  // guarded by mu; for which login that was
	login login     // guarded by mu
}

// A loginKey is what a login depends on.
type loginKey struct {
	bin, version string
	env          [sha256.Size]byte
}

// A login is what is known of the agent's account.
type login struct {
	state   string // ready, notLoggedIn or unknown
	account string
	message string
}

func newLogins() *logins { return &logins{asking: make(chan struct{}, 1)} }

// known returns the last answer if that was good and still counts.
func (l *logins) known(key loginKey) (login, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.login, l.of == key && time.Now().Before(l.good)
}

// expire makes the next caller ask.
func (l *logins) expire() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.good = time.Time{}
}

// alone calls ask while nobody else asks.
func (l *logins) alone(ctx context.Context, ask func() error) error {
	select {
	case l.asking <- struct{}{}:
		defer func() { <-l.asking }()
		return ask()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ask returns whether a program's login is valid.
func (l *logins) ask(ctx context.Context, p program.Program, version string) (found login) {
	key := keyOfLogin(p, version)
	if err := l.alone(ctx, func() error {
		var known bool
		if found, known = l.known(key); !known {
			found = l.find(ctx, p, key)
		}
		return nil
	}); err != nil {
		return login{state: "unknown", message: err.Error()}
	}
	return found
}

func keyOfLogin(p program.Program, version string) loginKey {
	return loginKey{p.Path, version, sha256.Sum256([]byte(strings.Join(p.Env, "\x00")))}
}

// find asks whether there is a token, and then whether the server accepts it.
func (l *logins) find(ctx context.Context, p program.Program, key loginKey) login {
	account, err := p.Status(ctx)
	if err != nil {
		return login{state: "unknown", message: err.Error()}
	}
	if !account.LoggedIn && !account.APIKey {
		return login{state: "notLoggedIn", message: "not logged in: " + hintLogin}
	}
	_, err = p.Models(ctx)
	if err == nil {
		return l.isGood(key, account.Name)
	}
	l.expire()
	what := "token present"
	if account.APIKey {
		what = "CURSOR_API_KEY is set"
	}
	found := login{state: "unknown", account: account.Name, message: what + ", and no answer of Cursor's server confirms it: " + err.Error()}
	failed := (*failure.Error)(nil)
	switch {
	case !errors.As(err, &failed):
	case failed.Kind == string(api.KindAgentNotLoggedIn) && !account.APIKey: // it is unknown whether models are shown for an API key alone
		found.state, found.message = "notLoggedIn", "there is a token, and Cursor's server refuses it: "+hintLogin
	case failed.Hint != "":
		found.message += ": " + failed.Hint
	}
	return found
}

// isGood notes that the server has answered.
func (l *logins) isGood(key loginKey, account string) login {
	l.mu.Lock()
	defer l.mu.Unlock()
	if account == "" && l.of == key {
		account = l.login.account
	}
	l.of, l.good = key, time.Now().Add(loginStays)
	l.login = login{state: "ready", account: account}
	return l.login
}

// models returns the models that the server offers.
func (l *logins) models(ctx context.Context, p program.Program, version string) (list []program.Model, err error) {
	err = l.alone(ctx, func() error {
		list, err = p.Models(ctx)
		if err == nil {
			l.isGood(keyOfLogin(p, version), "")
		}
		return err
	})
	return list, err
}
