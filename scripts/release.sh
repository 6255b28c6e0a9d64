#!/bin/sh
# Writes what a release consists of into dist/: an archive with the program for each of six platforms, the wheels of
# the package for Python, and SHA256SUMS.
#
#   release.sh GO VERSION   VERSION is that of `git describe --tags`
#
# Two runs on one commit give the same bytes.
set -eu
cd "$(dirname "$0")/.."
go=$1 version=$2
[ -n "$version" ] || { echo 'release: git describe --tags gives no version: fetch the tags, or make one' >&2; exit 1; }
folder=$(mktemp -d "${TMPDIR:-/tmp}/release.XXXXXX")
trap 'rm -rf "$folder"' EXIT
rm -rf dist
mkdir -p dist

for platform in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 freebsd/amd64; do
	system=${platform%/*} machine=${platform#*/}
	name=ndtune-$version-$system-$machine
	mkdir "$folder/$name"
	cp LICENSE NOTICE README.md "$folder/$name"
	flags=
	# Without cgo, purego on FreeBSD exports symbols that only the standard library may export by default.
	[ "$system" != freebsd ] || flags=-gcflags=github.com/ebitengine/purego/internal/fakecgo=-std
	GOOS=$system GOARCH=$machine CGO_ENABLED=0 "$go" build -trimpath -buildvcs=false $flags \
		-ldflags "-s -w -X github.com/ndtune/ndtune/cmd/ndtune/internal/ui.Version=$version" -o "$folder/$name/" ./cmd/ndtune
	find "$folder/$name" -exec touch -d @0 {} +
	if [ "$system" = windows ]; then
		(cd "$folder" && TZ=UTC python3 -m zipfile -c "$name.zip" "$name")
		mv "$folder/$name.zip" dist
	else
		tar -C "$folder" --sort=name --owner=0 --group=0 --numeric-owner -c "$name" | gzip -9n >"dist/$name.tar.gz"
	fi
	echo "dist/$name"
done
python3 scripts/wheel.py --go "$go" --version "$version"
cd dist
sha256sum -- * >"$folder/SHA256SUMS"
mv "$folder/SHA256SUMS" .
