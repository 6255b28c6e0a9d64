#!/bin/sh
# Installs a browser for the tests of reports.
#
# If there is a browser, the script does nothing and prints nothing. Otherwise it installs
# Chromium on Debian. On other systems the tests that need a browser are skipped,
# and say so. (On Ubuntu, for example, the package is a snap, which containers cannot run.)
#
# Exit status: 1 if the installation failed (the last lines say why), else 0.
set -eu

say() { printf '%s\n' "install-browser: $*" >&2; }

# The commands that internal/browser/browser.go looks for.
has_browser() {
	for name in chromium chromium-browser google-chrome google-chrome-stable headless-shell; do
		if command -v "$name" >/dev/null; then return 0; fi
	done
	return 1
}

has_browser && exit 0

if ! grep -qs '^ID=debian' /etc/os-release; then
	say "there is no Chromium here; tests in a browser will be skipped."
	exit 0
fi

as_root() {
	if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
	say "installing needs root, and there is no sudo here. Run as root:"
	say "    apt-get install --no-install-recommends chromium"
	exit 1
fi

# The lock has a time-out because new machines often run their own upgrade first. Without a font,
# all text is boxes.
apt() {
	as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get -qq -y -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@"
}

say "installing chromium fonts-dejavu-core with apt-get"
log=$(mktemp "${TMPDIR:-/tmp}/install-browser.XXXXXX")
trap 'rm -f "$log"' EXIT
apt update >"$log" 2>&1 || say "apt-get update failed; trying with the package lists that are here"
if ! apt install --no-install-recommends --no-remove chromium fonts-dejavu-core >"$log" 2>&1; then
	cat "$log" >&2
	say "apt-get install chromium failed (above)."
	exit 1
fi
has_browser || { say "chromium is installed, but its command is not on PATH."; exit 1; }
