// Package cl is the OpenCL host layer.
package cl
