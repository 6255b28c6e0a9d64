#!/bin/sh
# Explains why the installed Go cannot build this module, if it cannot.
#
# go.mod names the required version. Go 1.21 and newer fetch that toolchain
# by themselves, unless GOTOOLCHAIN=local forbids it (some distributions set this).
#
#   check-go.sh [GO]        GO: the go command, by default `go`
set -eu

go=${1:-go}
cd "$(dirname "$0")/.."

fail() {
	printf '%s\n' "$@" >&2
	exit 1
}

needed=$(sed -n 's/^go \([0-9]*\.[0-9]*\).*/\1/p' go.mod)

command -v "$go" >/dev/null 2>&1 || fail \
	"Go is needed and no \`$go\` command was found." \
	"Install Go $needed or newer (https://go.dev/dl/) and put its bin folder on PATH."

# "go version go1.25.3 linux/amd64" or "go version devel go1.27-0123abc ...".
# GOTOOLCHAIN=local gives the version of the command itself, not of a toolchain that it fetches.
reported=$(GOTOOLCHAIN=local "$go" version) || fail "\`$go version\` failed."
have=$(printf '%s\n' "$reported" | sed -n 's/.*go\([0-9][0-9]*\.[0-9][0-9]*\).*/\1/p')
[ -n "$have" ] || fail "Cannot read a Go version from: $reported"

# minor VERSION prints N of a version 1.N, and a large number for Go 2 and later.
minor() {
	case $1 in
	1.*) echo "${1#1.}" ;;
	*) echo 1000 ;;
	esac
}

if [ "$(minor "$have")" -lt 21 ]; then
	fail "Go $have is too old: this module needs Go $needed, and only Go 1.21 and newer can fetch that by themselves." \
		"Install Go $needed or newer: https://go.dev/dl/"
fi

if [ "$(minor "$have")" -lt "$(minor "$needed")" ]; then
	"$go" list -m >/dev/null || fail \
		"Go $have could not fetch Go $needed, which this module needs (why: see above)." \
		"Set GOTOOLCHAIN=auto and be online, or install Go $needed or newer: https://go.dev/dl/"
fi
