package service

import (
	"fmt"
	"path/filepath"
	"strings"
)

const madeBy = `Made by "cursord service install"; "cursord service uninstall" removes it.`

// systemd returns the service for systemd: a socket at which systemd listens, and a service that it starts for the first
// connection.
func systemd(configDir, runtimeDir, socketPath, program string, env []string) *Service {
	units := filepath.Join(configDir, "systemd", "user")
	socket := escapeUnit(socketPath)
	if rest, ok := strings.CutPrefix(socketPath, runtimeDir+"/"); ok && runtimeDir != "" {
		socket = "%t/" + escapeUnit(rest)
	}
	var variables strings.Builder
	for _, v := range env {
		fmt.Fprintf(&variables, "Environment=%s\n", quoteUnit(v))
	}
	return &Service{
		files: []file{
			{filepath.Join(units, "cursord.socket"), `# ` + madeBy + `
[Unit]
Description=Socket of cursord, the daemon for Cursor's agent

[Socket]
ListenStream=` + socket + `
SocketMode=0600
DirectoryMode=0700
RemoveOnStop=yes

[Install]
WantedBy=sockets.target
`},
			{filepath.Join(units, "cursord.service"), `# ` + madeBy + `
[Unit]
Description=cursord, the daemon for Cursor's agent
Requires=cursord.socket
After=cursord.socket

[Service]
ExecStart=` + strings.ReplaceAll(quoteUnit(program), "$", "$$") + ` serve --detached
ExecReload=/bin/kill -HUP $MAINPID
` + variables.String() + `KillMode=mixed
TimeoutStopSec=30
`},
		},
		reach: systemctl("show", "--property=Version"),
		start: []command{
			{args: systemctl("daemon-reload")},
			{args: systemctl("enable", "--now", "cursord.socket")},
		},
		// Without a reachable manager nothing has to be stopped, and the files are removed all the same.
		stop: []command{
			{args: systemctl("disable", "--now", "cursord.socket"), mayFail: true},
			{args: systemctl("stop", "cursord.service"), mayFail: true},
		},
		forget: []command{{args: systemctl("daemon-reload"), mayFail: true}},
		inspect: []command{
			{args: systemctl("is-enabled", "cursord.socket")},
			{args: systemctl("is-active", "cursord.socket")},
			{args: systemctl("is-active", "cursord.service")},
		},
	}
}

func systemctl(args ...string) []string { return append([]string{"systemctl", "--user"}, args...) }

// escapeUnit escapes percent signs, which begin a specifier in systemd's files.
func escapeUnit(s string) string { return strings.ReplaceAll(s, "%", "%%") }

// quoteUnit quotes any text as one word for systemd.
func quoteUnit(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "%", "%%").Replace(s) + `"`
}

// launchd returns a launch agent, which starts the daemon at login. It uses no sockets of launchd, as these need C.
func launchd(home string, uid int, program string, env []string) *Service {
	const label = "cursord"
	path := filepath.Join(home, "Library", "LaunchAgents", label+".plist")
	var variables strings.Builder
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		fmt.Fprintf(&variables, "\t\t<key>%s</key>\n\t\t<string>%s</string>\n", escapeXML(name), escapeXML(value))
	}
	domain := fmt.Sprintf("gui/%d", uid)
	bootout := command{args: []string{"launchctl", "bootout", domain + "/" + label}, mayFail: true, quiet: true} // stops the service if it is loaded
	return &Service{
		files: []file{{path, `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- ` + madeBy + ` -->
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>` + label + `</string>
	<key>ProgramArguments</key>
	<array>
		<string>` + escapeXML(program) + `</string>
		<string>serve</string>
		<string>--detached</string>
	</array>
	<key>EnvironmentVariables</key>
	<dict>
` + variables.String() + `	</dict>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
</dict>
</plist>
`}},
		reach:   []string{"launchctl", "version"},
		start:   []command{bootout, {args: []string{"launchctl", "bootstrap", domain, path}}},
		stop:    []command{bootout},
		inspect: []command{{args: []string{"launchctl", "print", domain + "/" + label}}},
	}
}

func escapeXML(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}
