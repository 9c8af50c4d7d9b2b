//go:build unix

package emacs

import (
	"bufio"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// messageBus starts a message bus that ends with the test, and returns its address.
func messageBus(t *testing.T) string {
	t.Helper()
	cmd := exec.Command(world.Program(t, "dbus-daemon"), "--session", "--nofork", "--print-address")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(address)
}

// TestEmacsDesktop ends a turn while no frame has the focus. Emacs then sends one notification to the desktop, by D-Bus. With
// cursord-notify-turn-end off it sends none.
func TestEmacsDesktop(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Plays(world.Streams("ok"), world.Done)
		w.Start()
		w.Trusts()
		e := startEmacs(w, t, bin, `(progn (require 'dbus) (setq notified nil)
			(fset 'cursord--looked-at-p #'ignore)
			(dbus-register-method :session "org.freedesktop.Notifications" "/org/freedesktop/Notifications"
				"org.freedesktop.Notifications" "Notify"
				(lambda (_app _id _icon title body &rest _) (push (list title body) notified) '(:uint32 1))))`,
			"DBUS_SESSION_BUS_ADDRESS="+messageBus(t), "SSH_CONNECTION=")
		ask := func(what string) {
			e.eval(`(progn (setq turn (plist-get (plist-get (cursord-send (cursord-workspace-open) %q) :turn) :id)) nil)`, what)
			e.until("the end", `(cursord-turn-ended-p (gethash turn (cursord-workspace-turns (cursord-workspace-find))))`)
		}
		e.eval(`(progn (setenv "SSH_CONNECTION" nil) nil)`)
		ask("one")
		e.until("the notification", `(equal notified '(("cursord: ws" "done")))`)
		e.eval(`(progn (setq cursord-notify-turn-end nil) nil)`)
		ask("two")
		require.Equal(t, true, e.eval(`(equal notified '(("cursord: ws" "done")))`))
		// By ssh, D-Bus leads to the desktop of the other machine.
		require.Nil(t, e.eval(`(progn (setenv "SSH_CONNECTION" "a 1 b 2") (cursord--desktop-p))`))
		e.quiet()
	})
}
