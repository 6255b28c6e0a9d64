package cl

var libraryNames = []string{"OpenCL.dll"}
