// Package device evaluates configurations on one OpenCL device, in this process: it builds
// the variant, refuses what the device cannot run, compares the output with the reference,
// and only then times it.
//
// It never times while anything else that it started runs on the device, and it never
// reports the time of a kernel whose output is wrong. It cannot survive a driver that
// crashes or hangs: that takes a process of its own.
package device
