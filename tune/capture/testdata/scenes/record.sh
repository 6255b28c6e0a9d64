#!/bin/sh
# Records the launches of all scenes in ../captures, or of those that are named. See ../README.md.
#
#     ./record.sh [SCENE…]
set -eu
cd "$(dirname "$0")"
loader=${NDTUNE_CLILOADER:-cliloader}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
${CC:-cc} -O1 -Wall -Wextra -o "$work/scenes" scenes.c -lOpenCL -lpthread
cp factor.h "$work"
if [ $# -eq 0 ]; then
	set -- $("$work/scenes" 2>&1 | sed 's/.*scenes://')
fi
captures=$PWD/../captures
cd "$work"
for scene in "$@"; do
	unique=1 last=1000000 repeats=3
	case $scene in
	three) unique=0 last=3 repeats=2 ;; # one kernel at two sizes, in one round of launches
	optional | svm) unique=0 repeats=1 ;;
	spirv)
		clang-14 -cl-std=CL1.2 -target spir64 -O1 -emit-llvm -c -Xclang -finclude-default-header "$OLDPWD/polynomial.cl"
		llvm-spirv-14 polynomial.bc -o polynomial.spv
		;;
	esac
	mkdir "$scene"
	env CLI_DumpDir="$scene" CLI_LogToFile=1 CLI_CallLogging=1 CLI_CallLoggingEnqueueCounter=1 CLI_ReportToFile=1 \
		CLI_KernelNameHashTracking=1 CLI_OmitProgramNumber=1 CLI_DevicePerformanceTiming=1 CLI_DevicePerformanceTimeGWOTracking=1 \
		CLI_DevicePerformanceTimeGWSTracking=1 CLI_DevicePerformanceTimeLWSTracking=1 CLI_CaptureReplay=1 \
		CLI_CaptureReplayUniqueKernels=$unique CLI_CaptureReplayMaxEnqueue=$last CLI_InitializeBuffers=1 \
		"$loader" ./scenes "$scene" "$repeats" 2>/dev/null || echo "$scene: exit status $?"
	# What replays a launch elsewhere, and where the layer lies here, are no part of the data.
	find "$scene" \( -name 'DeviceBinary*' -o -name run.py \) -delete
	sed -i 's|^\(CLIntercept file location: \).*/|\1|; s|^\(Trying to load dispatch from: \)/.*/|\1|' "$scene/clintercept_log.txt"
	rm -rf "${captures:?}/$scene"
	mkdir -p "$captures"
	mv "$scene" "$captures/"
done
