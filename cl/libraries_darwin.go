package cl

var libraryNames = []string{"/System/Library/Frameworks/OpenCL.framework/OpenCL"}
