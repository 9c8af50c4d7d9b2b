package copytree

import (
	"strings"

	"cursord/daemon/internal/askgit"
)

// kept reports whether the copy gets a setting of the original, whoever made it. Settings that name programs or lead
// elsewhere stay behind: filters, drivers, remotes, upstreams, work trees, hooks.
func kept(key string) bool {
	section, name, _ := strings.Cut(key, ".")
	switch section {
	case "user", "author", "committer", "status", "index", "i18n", "color":
		return true
	case "diff", "merge":
		return !strings.Contains(name, ".") && name != "external" && name != "orderfile"
	case "core":
		switch name {
		case "autocrlf", "eol", "safecrlf", "checkroundtripencoding", "filemode", "ignorecase", "symlinks",
			"precomposeunicode", "protectntfs", "protecthfs", "trustctime", "checkstat", "whitespace", "quotepath",
			"sparsecheckout", "sparsecheckoutcone", "bigfilethreshold", "abbrev", "commentchar", "commentstring", "preloadindex":
			return true
		}
	}
	return key == "extensions.objectformat"
}

// settings returns the repository's own settings for the copy: those that are kept, and those that name programs and files
// and are trusted.
func settings(v *askgit.View) (list []askgit.Setting) {
	for _, s := range v.Settings {
		if kept(s.Key) {
			list = append(list, s)
		}
	}
	for _, s := range v.Counted {
		if !kept(s.Key) && s.Key != "extensions.refstorage" {
			list = append(list, s)
		}
	}
	return list
}

// writeConfig writes the configuration of the copy's repository.
func writeConfig(list []askgit.Setting) string {
	version := "0"
	for _, s := range list {
		if strings.HasPrefix(s.Key, "extensions.") {
			version = "1"
		}
	}
	// Packing would copy all borrowed objects.
	return "[core]\n\trepositoryformatversion = " + version + "\n\tbare = false\n\tlogallrefupdates = true\n\tfsmonitor = false\n" +
		"[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n" + askgit.FormatConfig(list)
}
