#!/bin/sh
# Fetches the modules that a build needs. Where one cannot be had, it names it and says what to
# do; the go command prints a line for each import of it.
#
#   fetch-modules.sh GO ARGUMENT...   ARGUMENT: as of `go list`: packages, -test, -modfile=FILE
#
# Exit status: 0, go on (all other faults of packages are for the go command to tell);
# 1, a module cannot be fetched.
set -eu

go=$1
shift

say() { printf '%s\n' "fetch-modules: $*" >&2; }

modfile=
for argument; do
	case $argument in
	-modfile=*) modfile="$argument " ;;
	esac
done

folder=$(mktemp -d "${TMPDIR:-/tmp}/fetch-modules.XXXXXX")
trap 'rm -rf "$folder"' EXIT

# -e: go list goes on behind a package that is missing. On its error stream it says what it
# downloads, and which go.mod it could not read.
"$go" list -e -deps -f '{{with .Error}}{{$.ImportPath}}: {{.Err}}{{end}}' "$@" 2>&1 >"$folder/packages" |
	tee "$folder/errors" | grep '^go: downloading ' >&2 || true

# One line for each module: MODULE@VERSION: REASON. With GOPROXY=off go names only packages.
# A wrong checksum is not the proxy's refusal: the go command explains it.
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
say "or another version: $go list -m -versions $first, then $go get $modfile$first@VERSION."
exit 1
