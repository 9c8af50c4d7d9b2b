package main

import (
	"fmt"
	"path/filepath"
	"strings"
)

const madeBy = `Made by "cursord service install"; "cursord service uninstall" removes it.`

// systemdService is a socket that systemd listens at, and the service that it starts when somebody connects.
func systemdService(configDir, runtimeDir, socketPath, program string, env []string) *service {
	units := filepath.Join(configDir, "systemd", "user")
	socket := escapeUnit(socketPath)
	if rest, ok := strings.CutPrefix(socketPath, runtimeDir+"/"); ok && runtimeDir != "" {
		socket = "%t/" + escapeUnit(rest)
	}
	var variables strings.Builder
	for _, v := range env {
		fmt.Fprintf(&variables, "Environment=%s\n", quoteUnit(v))
	}
	return &service{
		files: []serviceFile{
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
		start: [][]string{
			{"systemctl", "--user", "daemon-reload"},
			{"systemctl", "--user", "enable", "--now", "cursord.socket"},
		},
		// Where no manager can be reached there is nothing to stop, and the files go all the same.
		stop: [][]string{
			{"~systemctl", "--user", "disable", "--now", "cursord.socket"},
			{"~systemctl", "--user", "stop", "cursord.service"},
		},
		forget: [][]string{{"~systemctl", "--user", "daemon-reload"}},
		inspect: [][]string{
			{"systemctl", "--user", "is-enabled", "cursord.socket"},
			{"systemctl", "--user", "is-active", "cursord.socket"},
			{"systemctl", "--user", "is-active", "cursord.service"},
		},
	}
}

// escapeUnit keeps systemd from taking a percent sign for a specifier.
func escapeUnit(s string) string { return strings.ReplaceAll(s, "%", "%%") }

// quoteUnit returns one word for systemd, whatever is in it.
func quoteUnit(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "%", "%%").Replace(s) + `"`
}

// launchdService is an agent of the user's login. It starts the daemon there; launchd's own sockets are for programs in C.
func launchdService(home string, uid int, program string, env []string) *service {
	const label = "cursord"
	path := filepath.Join(home, "Library", "LaunchAgents", label+".plist")
	var variables strings.Builder
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		fmt.Fprintf(&variables, "\t\t<key>%s</key>\n\t\t<string>%s</string>\n", escapeXML(name), escapeXML(value))
	}
	domain := fmt.Sprintf("gui/%d", uid)
	return &service{
		files: []serviceFile{{path, `<?xml version="1.0" encoding="UTF-8"?>
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
		start:   [][]string{{"-launchctl", "bootout", domain + "/" + label}, {"launchctl", "bootstrap", domain, path}},
		stop:    [][]string{{"-launchctl", "bootout", domain + "/" + label}},
		inspect: [][]string{{"launchctl", "print", domain + "/" + label}},
	}
}

func escapeXML(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}
