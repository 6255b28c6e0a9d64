#!/bin/sh
# Fetches the modules that a build needs. If a module cannot be fetched, the script names it once and
# explains what to do; the go command would print a line for each import of the module.
#
#   fetch-modules.sh GO ARGUMENT...   arguments of `go list`: packages, -test
#
# Exit status: 1 if a module cannot be fetched, else 0. The go command reports all other
# faults of packages.
set -eu

go=$1
shift

say() { printf '%s\n' "fetch-modules: $*" >&2; }

folder=$(mktemp -d "${TMPDIR:-/tmp}/fetch-modules.XXXXXX")
trap 'rm -rf "$folder"' EXIT

# -e: go list continues after a missing package. It reports on its error stream the modules that it
# downloads and the go.mod files that it cannot read.
"$go" list -e -deps -f '{{with .Error}}{{$.ImportPath}}: {{.Err}}{{end}}' "$@" 2>&1 >"$folder/packages" |
	tee "$folder/errors" | grep '^go: downloading ' >&2 || true

# Print one line for each module: MODULE@VERSION: REASON. With GOPROXY=off, go names only packages.
# A wrong checksum is no refusal of the proxy; the go command explains it.
awk '
	/: verifying |: checksum mismatch/ { next }
	match($0, /[^ ]+@v[^ ]+: /) {
		if (!seen[substr($0, RSTART, RLENGTH)]++) print substr($0, RSTART)
	}
	/: module lookup disabled by GOPROXY=off/ && !off++
' "$folder/packages" "$folder/errors" >"$folder/missing"

[ -s "$folder/missing" ] || exit 0

sed 3q "$folder/missing" | while IFS= read -r line; do say "cannot fetch $line"; done
more=$(sed 1,3d "$folder/missing" | wc -l)
[ "$more" -eq 0 ] || say "and $((more)) more"
first=$(sed -n '1s/[@:].*//p' "$folder/missing")
say "Modules come from GOPROXY=$("$go" env GOPROXY). A proxy may refuse one for a while: try again later,"
say "or take another proxy, or the modules' own servers: GOPROXY=direct make ..."
say "or another version: $go list -m -versions $first, then $go get $first@VERSION."
exit 1
