package worker

import "syscall"

func signalText(s syscall.Signal) string { return s.String() }
