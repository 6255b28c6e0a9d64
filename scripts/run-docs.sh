#!/bin/sh
# Runs every command of the documents as written, in order, in a temporary
# folder: run-docs.sh BINARY DOCUMENT...
set -eu

[ $# -ge 2 ] || { echo "usage: $0 BINARY DOCUMENT..." >&2; exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)
binary=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

# The commands find the program by its name, and kernels and records by their paths in a checkout.
mkdir "$work/bin"
ln -s "$binary" "$work/bin/ndtune"
ln -s "$root/kernels" "$work/kernels"
ln -s "$root/tune" "$work/tune"
PATH=$work/bin:$PATH
XDG_STATE_HOME=$work/state
export PATH XDG_STATE_HOME

for document; do
	echo "== $document"
	grep -qE '^    ndtune ' "$document" || { echo "$document holds no command" >&2; exit 1; }
	grep -E '^    ndtune ' "$document" | while IFS= read -r command; do
		command=${command#    }
		echo "\$ $command"
		(cd "$work" && sh -c "$command") || { echo "failed: $command" >&2; exit 1; }
	done
done
