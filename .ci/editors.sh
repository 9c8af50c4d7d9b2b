#!/usr/bin/env bash
# Gets the editors that tests drive, and the tools that tests and "make check" use.
#
#   .ci/editors.sh [NAME...]        all that are known, without a NAME
#
# They come from Debian, as packages whose signatures apt checks, from npm, whose client checks their hashes, and as Go
# modules. Nothing is installed: each NAME is unpacked into $CURSORD_EDITORS (else ${XDG_CACHE_HOME:-~/.cache}/cursord-dev)
# with all the libraries it needs, and runs as bin/NAME there. What is there already is left alone, so a second run does
# nothing.
set -euo pipefail

# NAME = where from : what : how the version begins
declare -A known=(
	[nvim-0.10]='trixie:neovim:NVIM v0.10.'
	[nvim-0.12]='forky:neovim:NVIM v0.12.'
	[emacs-30.1]='trixie:emacs-nox:GNU Emacs 30.1'
	[emacs-30.2]='forky:emacs-nox:GNU Emacs 30.2'
	[package-lint]='trixie:elpa-package-lint:package-lint-0.'
	[hx-25.01]='trixie:hx:helix 25.01'
	[hx-25.07]='forky:hx:helix 25.07'
	[gopls]='go:golang.org/x/tools/gopls@v0.23.0:golang.org/x/tools/gopls v0.23.'
	[luacheck]='trixie:lua-check:Luacheck: 1.'
	[stylua]='npm:@johnnymorganz/stylua@2.5.2:2.5.2'
	[json2ts]='npm:json-schema-to-typescript@16.0.0:16.0.0'
	[quicktype]='npm:quicktype@26.0.0:quicktype version 26.0.0'
	[acp-sdk]='npm:@agentclientprotocol/sdk@2.4.0:2.4.0'
	[acpx]='npm:acpx@0.19.1:0.19.1'
	[tsc]='npm:typescript@5.9.3:Version 5.9.3'
)

here=$(cd "$(dirname "$0")" && pwd)
# What the extension of Visual Studio Code is made and tested with, by its lock file.
known[vscode-tools]="lock:$(sha256sum <"$here/../editors/vscode/package-lock.json" | cut -c1-16):Version 7."
home=${CURSORD_EDITORS:-${XDG_CACHE_HOME:-$HOME/.cache}/cursord-dev}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

fail() {
	echo "editors.sh: $*" >&2
	exit 1
}
need() {
	local tool
	for tool; do
		command -v "$tool" >/dev/null || fail "$tool is needed and not there${hint:+; $hint}"
	done
}

# mirror prints the archive that this machine gets its own packages from.
mirror() {
	env -u APT_CONFIG apt-get indextargets --format '$(SITE) $(COMPONENT)' 2>/dev/null |
		awk '$2 == "main" && $1 ~ /debian\/?$/ && $1 !~ /security/ && !n++ { print $1 }'
}

# apt_for has apt work for a suite, as if no package were installed, so that what it says a package needs is complete.
apt_for() {
	local suite=$1 state=$work/apt-$1 archive
	archive=${CURSORD_DEBIAN:-$(mirror)}
	[ -n "$archive" ] || fail "no Debian archive is known; name one in CURSORD_DEBIAN"
	export APT_CONFIG=$state/apt.conf
	[ ! -e "$state/ready" ] || return 0
	mkdir -p "$state/lists/partial" "$state/archives/partial"
	: >"$state/status"
	echo "deb [signed-by=$keyring] $archive $suite main" >"$state/sources.list"
	{
		# The machine's own way to the network stays.
		env -u APT_CONFIG apt-config dump | grep -E '^Acquire::(https?::|Check-)' || true
		printf '%s "%s";\n' Dir::Etc::sourcelist "$state/sources.list" Dir::Etc::sourceparts /dev/null Dir::Etc::main /dev/null \
			Dir::Etc::parts /dev/null Dir::State "$state" Dir::State::lists "$state/lists" Dir::State::status "$state/status" \
			Dir::Cache "$state" Dir::Cache::archives "$state/archives" APT::Install-Recommends false \
			APT::Sandbox::User "$(id -un)" Acquire::Languages none Acquire::Retries 3 Debug::NoLocking 1 quiet 2
	} >"$APT_CONFIG"
	apt-get update >&2 || fail "$archive: the list of packages of Debian $suite cannot be had (see above)"
	touch "$state/ready"
}

# unpack puts a package of a suite, with all it needs, into a folder that is laid out like a root.
unpack() {
	local suite=$1 package=$2 to=$3 all deb part
	apt_for "$suite"
	all=$(apt-get install -y --print-uris "$package" | sed -n "s/^'[^']*' \([^_]*\)_.*/\1/p") ||
		fail "Debian $suite has no $package"
	# Nothing of these is used when the program runs.
	all=$(grep -Ev "^(perl.*|libperl.*|debconf|gcc-[0-9]+-base|libc-gconv-modules-extra|cdebconf${leave:+|$leave})\$" <<<"$all")
	mkdir -p "$to/.debs"
	(cd "$to/.debs" && xargs apt-get download <<<"$all" >&2) || fail "packages of $package cannot be downloaded"
	for part in bin sbin lib lib64; do
		mkdir -p "$to/usr/$part"
		ln -sfn "usr/$part" "$to/$part"
	done
	for deb in "$to"/.debs/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$to" --no-same-owner --keep-directory-symlink \
			--exclude './usr/share/doc' --exclude './usr/share/locale' --exclude './usr/share/man'
	done
	rm -rf "$to/.debs"
}

# own_libraries has a program use the libraries it was unpacked with.
own_libraries() {
	local root=$1 program=$2 loader dirs
	loader=$(find "$root/usr/lib64" "$root/usr/lib" -name 'ld-linux*.so.*' | sed -n 1p)
	dirs=$(dirname "$(find "$root/usr/lib" -name 'libc.so.6' | sed -n 1p)")
	patchelf --set-interpreter "$loader" --force-rpath --set-rpath "$dirs:$root/usr/lib" "$program"
}

patchelf() {
	local own
	if own=$(type -P patchelf); then
		"$own" "$@"
		return
	fi
	own=$work/patchelf
	if [ ! -e "$own" ]; then
		local suite
		suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-trixie}")
		apt_for "$suite"
		(cd "$work" && apt-get download patchelf >&2 && dpkg-deb -x patchelf_*.deb "$own") || fail "patchelf cannot be had"
	fi
	"$own/usr/bin/patchelf" "$@"
}

script() {
	printf '#!/bin/sh\n%s\n' "$2" >"$1"
	chmod +x "$1"
}

# Each way to get a thing leaves it in $root (which is $home/NAME when it is done) and writes its script to $run.

from_neovim() {
	local program=$root/usr/bin/nvim lib
	unpack "$suite" neovim "$root"
	[ -f "$program" ] || program=$(find "$root/usr/libexec" -name 'nvim*' -type f | sed -n 1p)
	lib=$(find "$root/usr/lib" -type d -path '*/nvim/parser' | sed -n 1p)
	own_libraries "$root" "$program"
	script "$run" "export VIMRUNTIME='$root/usr/share/nvim/runtime'
exec '$program' --cmd 'set runtimepath+=${lib%/parser}' \"\$@\""
}

from_hx() {
	local program runtime
	unpack "$suite" hx "$root"
	program=$(find "$root/usr" -type f \( -name hx -o -name helix \) -perm -u+x | sort | sed -n 1p)
	runtime=$(dirname "$(find "$root/usr" -type d -name queries | sort | sed -n 1p)")
	own_libraries "$root" "$program"
	script "$run" "export HELIX_RUNTIME='$runtime'
exec '$program' \"\$@\""
}

from_lua-check() {
	unpack "$suite" lua-check "$root"
	local program modules
	program=$(find "$root/usr/bin" -name 'lua5.*' -type f | sort | sed -n 1p)
	modules=$(dirname "$(find "$root/usr/lib" -name lfs.so -path "*${program##*lua}*" | sed -n 1p)")
	own_libraries "$root" "$program"
	script "$run" "export LUA_PATH='$root/usr/share/lua/${program##*lua}/?.lua;$root/usr/share/lua/${program##*lua}/?/init.lua' \
LUA_CPATH='$modules/?.so'
exec '$program' -e 'package.path=package.path' '$root/usr/bin/luacheck' \"\$@\""
}

from_emacs-nox() {
	local program=$root/usr/bin/emacs-nox dump helpers files load leave
	# What compiles to native code is not needed, and slow where it is half there: the script says so.
	leave='binutils.*|libbinutils|libgprofng0|libctf.*|libsframe.*|libgcc-[0-9]+-dev|libc6-dev|libc-dev-bin|linux-libc-dev'
	leave+='|libcrypt-dev|rpcsvc-proto|lib[aluth]+san[0-9]+|libhwasan[0-9]+|libitm1|libquadmath0|libgomp1|libatomic1|cpp.*'
	leave+='|emacsen-common|install-info|init-system-helpers|usrmerge|libnsl.*|libtirpc.*'
	unpack "$suite" emacs-nox "$root"
	own_libraries "$root" "$program"
	dump=$(find "$root/usr" -name 'emacs*.pdmp' | sed -n 1p)
	files=$(find "$root/usr/share/emacs" -maxdepth 1 -name '[0-9]*' | sed -n 1p)
	helpers=$(dirname "$(find "$root/usr/libexec" "$root/usr/lib/emacs" -name hexl 2>/dev/null | sed -n 1p)")
	load=$(find "$files/lisp" -type d ! -path '*/term' | sort | paste -sd:)
	script "$run" "export EMACSDATA='$files/etc' EMACSDOC='$files/etc' EMACSPATH='$helpers' EMACSLOADPATH='$load'
exec '$program' --dump-file='$dump' --eval '(setq native-comp-enable-subr-trampolines nil native-comp-jit-compilation nil)' \"\$@\""
	program=$(find "$root/usr/bin" -name 'emacsclient*' -type f | sed -n 1p)
	own_libraries "$root" "$program"
	ln -sfn "$program" "$home/bin/emacsclient${name#emacs}"
}

from_elpa-package-lint() {
	local leave='[^e].*|e[^l].*' libraries
	unpack "$suite" elpa-package-lint "$root"
	libraries=$(find "$root/usr/share/emacs/site-lisp" -maxdepth 2 -path '*/elpa*/*' -type d | sort)
	script "$run" "[ \"\${1:-}\" != --version ] || exec basename '$(grep /package-lint- <<<"$libraries")'
exec '$home/bin/emacs-30.1' -Q --batch $(sed "s/.*/-L '&'/" <<<"$libraries" | paste -sd' ') -l package-lint \"\$@\""
}

from_go() {
	need go
	mkdir -p "$root"
	GOBIN=$root go install "$what" >&2 || fail "$what cannot be had as a Go module (see above)"
	script "$run" "[ \"\${1:-}\" != --version ] || set -- version
exec '$root/$name' \"\$@\""
}

from_npm() {
	hint='it is a part of Node.js' need npm node
	mkdir -p "$root"
	npm install --prefix "$root" --ignore-scripts --no-audit --no-fund --loglevel error "$what" >&2 ||
		fail "$what cannot be had from npm (see above)"
	"from_npm_$name"
}

from_lock() {
	hint='it is a part of Node.js' need npm node
	mkdir -p "$root"
	cp "$here"/../editors/vscode/package{,-lock}.json "$root"
	npm ci --prefix "$root" --ignore-scripts --no-audit --no-fund --loglevel error >&2 || fail "the packages of $name cannot be had from npm (see above)"
	script "$run" "export NODE_PATH='$root/node_modules' PATH='$root/node_modules/.bin':\$PATH
[ \"\${1:-}\" != --version ] || exec tsc --version
exec \"\$@\""
}

from_npm_stylua() {
	# The package is the formatter as WebAssembly, without a command.
	cp "$here/stylua.mjs" "$root/stylua.mjs"
	script "$run" "exec node '$root/stylua.mjs' \"\$@\""
}

from_npm_acp-sdk() {
	# The package is a library, and has the schema of the protocol.
	local package=$root/node_modules/@agentclientprotocol/sdk
	script "$run" "case \"\${1:-}\" in
--version) exec echo '${what##*@}' ;;
schema) exec echo '$package/schema/v1/schema.json' ;;
esac
export ACP_SDK='$package/dist/v1/stable/acp.js'
exec node \"\$@\""
}

# Commands of packages that are run as they are.
from_npm_acpx() { script "$run" "exec '$root/node_modules/.bin/acpx' \"\$@\""; }
from_npm_quicktype() { script "$run" "exec '$root/node_modules/.bin/quicktype' \"\$@\""; }
from_npm_tsc() { script "$run" "exec '$root/node_modules/.bin/tsc' \"\$@\""; }
from_npm_json2ts() {
	script "$run" "[ \"\${1:-}\" != --version ] || exec echo '${what##*@}'
exec '$root/node_modules/.bin/json2ts' \"\$@\""
}

get() {
	local name=$1 suite what version root run said
	IFS=: read -r suite what version <<<"${known[$name]}"
	root=$home/$name run=$home/bin/.$name.new
	if [ "$(cat "$root/.complete" 2>/dev/null)" = "${known[$name]}" ] && [ -x "$home/bin/$name" ]; then
		echo "$name: there"
		return
	fi
	rm -rf "$root"
	if [ "$suite" = npm ] || [ "$suite" = go ] || [ "$suite" = lock ]; then
		"from_$suite"
	else
		hint='this script works on Debian' need apt-get dpkg-deb
		[ -r "$keyring" ] || fail "$keyring is not there: install debian-archive-keyring"
		"from_$what"
	fi
	said=$("$run" --version | sed -n 1p) || fail "$name was unpacked and does not run"
	[[ $said == "$version"* ]] || fail "$name should be $version… and says $said: has Debian $suite moved on?"
	mv "$run" "$home/bin/$name"
	echo "${known[$name]}" >"$root/.complete"
	echo "$name: $said"
}

[ $# -gt 0 ] || set -- $(printf '%s\n' "${!known[@]}" | sort)
for name; do
	[ -n "${known[$name]:-}" ] || fail "there is no $name, but $(printf '%s\n' "${!known[@]}" | sort | xargs)"
done
need flock awk sed
mkdir -p "$home/bin"
home=$(cd "$home" && pwd -P)
exec 9>"$home/.lock"
flock 9
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for name; do
	get "$name"
done
