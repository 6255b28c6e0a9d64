//go:build freebsd || linux || netbsd

package cl

var libraryNames = []string{"libOpenCL.so.1", "libOpenCL.so"}
