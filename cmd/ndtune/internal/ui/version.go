package ui

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// VersionText returns the version, with the compiler and the platform that the program was built for.
func VersionText() string {
	return fmt.Sprintf("%s (%s, %s/%s)", ShortVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// Version is set when the program is built (see the Makefile).
var Version string

// ShortVersion returns the version alone.
func ShortVersion() string {
	if Version != "" {
		return Version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
