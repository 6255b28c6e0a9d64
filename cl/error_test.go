package cl_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ndtune/ndtune/cl"
)

func TestStatusNames(t *testing.T) {
	for status, want := range map[cl.Status]string{
		cl.Success:              "CL_SUCCESS",
		cl.InvalidWorkGroupSize: "CL_INVALID_WORK_GROUP_SIZE",
		cl.BuildProgramFailure:  "CL_BUILD_PROGRAM_FAILURE",
		-1001:                   "CL_PLATFORM_NOT_FOUND_KHR",
		-4711:                   "OpenCL status -4711",
	} {
		if got := status.Error(); got != want {
			t.Errorf("%d: %q, want %q", int32(status), got, want)
		}
	}
}

func TestErrorText(t *testing.T) {
	err := error(&cl.Error{Call: "clFinish", Status: cl.OutOfResources})
	if err.Error() != "clFinish: CL_OUT_OF_RESOURCES" {
		t.Error(err)
	}
	err = fmt.Errorf("launch: %w", &cl.Error{Call: "clFinish", Detail: "why", Status: cl.InvalidCommandQueue, Err: cl.ErrReleased})
	if err.Error() != "launch: clFinish: why: CL_INVALID_COMMAND_QUEUE" {
		t.Error(err)
	}
	if !errors.Is(err, cl.InvalidCommandQueue) || !errors.Is(err, cl.ErrReleased) || errors.Is(err, cl.OutOfResources) {
		t.Error("matches")
	}
}
