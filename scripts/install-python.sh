#!/bin/sh
# Makes the virtual environment python/.venv for the tests of the package for Python.
#
# PYTHON names a Python 3.10 or newer; the default is python3. If it cannot make virtual environments, the script installs
# python3-venv on Debian. An environment that is newer than python/pyproject.toml is kept, and the script prints nothing.
#
# Exit status: 1 if the installation failed (the last lines say why), else 0.
set -eu
cd "$(dirname "$0")/../python"

say() { printf '%s\n' "install-python: $*" >&2; }

serves() { "$1" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; }

# A shim of pyenv can stand in PATH for a Python that is not installed: then the system's serves.
find_python() {
	for python in "${PYTHON:-python3}" /usr/bin/python3; do
		if serves "$python"; then return 0; fi
	done
	return 1
}

as_root() {
	if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

# The lock has a time-out because new machines often run their own upgrade first.
apt() {
	as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get -qq -y -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@"
}

[ ! .venv/complete -nt pyproject.toml ] || exit 0

log=$(mktemp "${TMPDIR:-/tmp}/install-python.XXXXXX")
trap 'rm -f "$log"' EXIT

if ! find_python; then
	if ! command -v apt-get >/dev/null || { [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; }; then
		say "the tests need Python 3.10 or newer with the module venv: install it (on Debian, as root: apt-get install python3-venv),"
		say "or name one in the environment variable PYTHON."
		exit 1
	fi
	say "installing python3-venv with apt-get"
	apt update >"$log" 2>&1 || say "apt-get update failed; trying with the package lists that are here"
	if ! apt install --no-install-recommends --no-remove python3-venv >"$log" 2>&1; then
		cat "$log" >&2
		say "apt-get install python3-venv failed (above)."
		exit 1
	fi
	find_python || { say "python3-venv is installed, but /usr/bin/python3 is older than 3.10 or has no venv."; exit 1; }
fi

say "making python/.venv with $python"
if ! { "$python" -m venv --clear .venv && .venv/bin/python -m pip --disable-pip-version-check install -q -e '.[test]'; } >"$log" 2>&1; then
	cat "$log" >&2
	say "python/.venv could not be made (above); the packages come from the index that pip is configured for."
	exit 1
fi
touch .venv/complete
