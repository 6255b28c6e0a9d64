#!/bin/sh
# Runs every fuzz target of the module for TIME, one after the other. Go prints the number of inputs. The status is 1 if a target
# failed.
#
#   fuzz.sh [TIME]        by default 30s
set -eu

go=${GO:-go}
time=${1:-30s}
cd "$(dirname "$0")/.."

failed=0
packages=$("$go" list ./...)
for package in $packages; do
	listed=$("$go" test -list '^Fuzz' "$package") || {
		printf '%s\n' "$listed" >&2
		exit 1
	}
	for target in $(printf '%s\n' "$listed" | grep '^Fuzz' || true); do
		echo "fuzz $package $target for $time"
		"$go" test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$package" || failed=1
	done
done
exit $failed
