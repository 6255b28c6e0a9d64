#!/bin/sh
# Installs an OpenCL device to tune on, if this machine has none.
#
#   install-opencl.sh [--for-tests] [NDTUNE]
#
# The script asks the built program NDTUNE (by default bin/ndtune) for devices. If there
# is a device, the script does nothing and prints nothing. Otherwise it installs the ICD
# loader and PoCL, which makes the CPU an OpenCL device, with
# the system's package manager.
#
# --for-tests  requires PoCL, even beside a GPU, and Oclgrind, the simulator
#              that finds races and out-of-bounds accesses; and openssl,
#              which makes the certificates of a documented fleet.
#
# Exit status: 0, everything is installed; 1, something is missing, and the
# last lines say what to do; 2, the command line is wrong.
set -eu

say() { printf '%s\n' "install-opencl: $*" >&2; }

fail() {
	for line in "$@"; do say "$line"; done
	exit 1
}

# devices NDTUNE prints the OpenCL devices as JSON. It fails if there are none.
devices() { "$1" devices --json 2>/dev/null; }

has_device() { devices "$1" >/dev/null; }

# PoCL's platform is called "Portable Computing Language" in every version.
# (The output goes through a variable, because grep -q would end early and break a pipe.)
has_pocl() {
	found=$(devices "$1") || return 1
	case $found in
	*"Portable Computing Language"*) ;;
	*) return 1 ;;
	esac
}

has_oclgrind() { command -v oclgrind >/dev/null; }

# An existing loader, for example a vendor's, is kept.
has_loader() { PATH=$PATH:/usr/sbin:/sbin ldconfig -p 2>/dev/null | grep -F 'libOpenCL.so.1 ' >/dev/null; }

# as_root COMMAND... runs a command as root. Callers check with need_root that it can.
as_root() {
	if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

# need_root COMMAND... exits with the commands to run by hand if this
# user cannot become root.
need_root() {
	if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
		say "installing needs root, and there is no sudo here. Run as root:"
		for line in "$@"; do say "    $line"; done
		exit 1
	fi
}

# quietly COMMAND... shows a command's output only if it fails.
quietly() {
	log=$(mktemp "${TMPDIR:-/tmp}/install-opencl.XXXXXX")
	status=0
	"$@" >"$log" 2>&1 || status=$?
	[ "$status" -eq 0 ] || cat "$log" >&2
	rm -f "$log"
	return "$status"
}

# --no-remove: only the user may remove a conflicting driver.
# The lock has a time-out because new machines often run their own upgrade first.
apt() {
	as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get -qq -y -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@"
}

install_with_apt() {
	set --
	if [ -n "$want_pocl" ]; then
		set -- pocl-opencl-icd
		has_loader || set -- "$@" ocl-icd-libopencl1
	fi
	[ -z "$want_oclgrind" ] || set -- "$@" oclgrind
	[ -z "$want_openssl" ] || set -- "$@" openssl
	need_root "apt-get update" "apt-get install --no-install-recommends $*"
	say "installing $* with apt-get"
	updated=yes
	quietly apt update || {
		updated=
		say "apt-get update failed (above); trying with the package lists that are here"
	}
	if ! quietly apt install --no-install-recommends --no-remove "$@"; then
		say "apt-get install $* failed (above)."
		[ -n "$updated" ] || fail "apt-get update had failed before: mend the package sources or the network first."
		fail "On Ubuntu these packages are in the component universe: add-apt-repository universe"
	fi
}

install_with_dnf() {
	if [ -n "$want_pocl" ]; then
		need_root "dnf install pocl ocl-icd"
		say "installing pocl ocl-icd with dnf"
		quietly as_root dnf install -y -q pocl ocl-icd ||
			fail "dnf install pocl ocl-icd failed (above)." \
				"On RHEL and its kin these packages come from EPEL: dnf install epel-release"
	fi
	if [ -n "$want_oclgrind" ]; then
		say "Oclgrind is no package here; tests that need it cannot run without it: https://github.com/jrprice/Oclgrind"
		for_tests_without_oclgrind=yes
	fi
}

explain() {
	if [ -n "$for_tests" ]; then
		say "the tests need PoCL and Oclgrind, and there is neither apt-get nor dnf to install them with."
	else
		say "no OpenCL device was found, and there is neither apt-get nor dnf to install one with."
		say "Install the driver of your device, or:"
	fi
	say "PoCL (OpenCL on the CPU) and an ICD loader:"
	say "    Arch Linux       pacman -S pocl ocl-icd"
	say "    any, with conda  conda install -c conda-forge pocl ocl-icd-system"
	say "    others           https://portablecl.org"
	[ -z "$want_oclgrind" ] || say "Oclgrind: https://github.com/jrprice/Oclgrind"
	exit 1
}

for_tests=
for_tests_without_oclgrind=
ndtune=
for argument in "$@"; do
	case $argument in
	--for-tests) for_tests=yes ;;
	-*)
		say "unknown option $argument; usage: install-opencl.sh [--for-tests] [NDTUNE]"
		exit 2
		;;
	*) ndtune=$argument ;;
	esac
done
[ -n "$ndtune" ] || ndtune=$(cd "$(dirname "$0")/.." && pwd)/bin/ndtune
[ -x "$ndtune" ] || fail "$ndtune is not there; run: make build"

# satisfied sets want_* for the missing parts. It succeeds if nothing is missing.
satisfied() {
	want_pocl=
	want_oclgrind=
	want_openssl=
	if [ -n "$for_tests" ]; then
		has_pocl "$ndtune" || want_pocl=yes
		has_oclgrind || want_oclgrind=yes
		command -v openssl >/dev/null || want_openssl=yes
	else
		has_device "$ndtune" || want_pocl=yes
	fi
	[ -z "$want_pocl$want_oclgrind$want_openssl" ]
}

satisfied && exit 0

if command -v apt-get >/dev/null; then
	install_with_apt
elif command -v dnf >/dev/null; then
	install_with_dnf
else
	explain
fi

satisfied && exit 0
[ -z "$want_pocl" ] || fail "the packages are installed, but $ndtune still sees no device of theirs:" \
	"$("$ndtune" devices 2>&1 || true)"
[ -z "$want_openssl" ] || fail "openssl is missing: install it with the system's package manager."
[ -n "$for_tests_without_oclgrind" ] ||
	fail "Oclgrind is still missing: its command oclgrind is not on PATH."
