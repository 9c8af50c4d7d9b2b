package overlay

import (
	"os"
	"strings"
)

// policies are the settings of a system by which it may refuse namespaces to ordinary users.
var policies = []struct{ file, value, remedy string }{
	{"kernel/unprivileged_userns_clone", "0", "the system forbids user namespaces: `sysctl kernel.unprivileged_userns_clone=1` (as root) allows them"},
	{"user/max_user_namespaces", "0", "the system forbids user namespaces: `sysctl user.max_user_namespaces=15000` (as root) allows them"},
	{"kernel/apparmor_restrict_unprivileged_userns", "1",
		"AppArmor restricts user namespaces: a profile for cursord with \"userns,\", or `sysctl kernel.apparmor_restrict_unprivileged_userns=0` (as root), allows them"},
}

// remedy returns why a system refuses namespaces, and what to do; "" if none of its settings explains it. read returns a setting's value,
// or "".
func remedy(read func(file string) string) string {
	for _, p := range policies {
		if read(p.file) == p.value {
			return p.remedy
		}
	}
	return ""
}

// setting reads a setting of the system.
func setting(file string) string {
	value, _ := os.ReadFile("/proc/sys/" + file)
	return strings.TrimSpace(string(value))
}
