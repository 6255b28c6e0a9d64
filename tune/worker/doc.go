// Package worker evaluates configurations in child processes of the program itself: builds run in
// parallel even if the driver allows only one build at a time in a process, and a driver that
// crashes or hangs costs one configuration.
//
// Its types: a [Pool] evaluates, [Options] say how, a [Reserve] has workers that were started before.
//
// A [Pool] is a tune.Evaluator. On a CPU device every worker evaluates whole configurations.
// On other devices some workers only build, and one worker for each device holds the
// buffers and measures. Builds reach it through the driver's cache, or as binaries.
//
// Launches are timed alone. No two processes use one device at once; and if the device is a
// CPU, or shares the host's memory, all other workers are frozen while one times. The table of
// the states of a worker is in member.go.
//
// # The program's part
//
// A worker is the program started again by package process, with NDTUNE_WORKER in its
// environment. The program's main calls [Main] first. In a worker, Main serves and never returns. A
// problem that holds Go functions cannot be sent to a worker: both the program and its workers make
// it with a function that [Register] names. If either call is missing, [Open] says so.
//
// The peaks of a device are measured in a worker, too: see [Reserve.MeasurePeaks].
//
// # The protocol
//
// Package process carries the messages, which are of the types request and answer in protocol.go.
//
//	hello     →            the problem, the device, and whether to build or to evaluate
//	          ←  ready     the device as the worker found it, with its timer
//	build     →            a configuration to compile
//	          ←  stage     at the begin of each part for which the parent has a time limit
//	          ←  built     it can be evaluated (with the binary, if wanted), or its result
//	evaluate  →            a configuration
//	          ←  stage
//	          ←  need      the correct outputs, named by a key
//	outputs   →            these outputs; none if the worker shall make and send them
//	          ←  outputs   that it has made; none if no other worker needs them
//	          ←  ask       to have the device to itself
//	time      →            it has the device; with the best objective so far
//	          ←  set       settings of the device at which it is to be timed
//	applied   →            the device has them
//	          ←  result
//	remeasure →            configurations to measure in turn
//	          ←  turn      which configuration is measured next
//	          ←  remeasured
//
//	hello     →            the device, and which part of its peaks the worker shall measure
//	          ←  stage     the part begins
//	          ←  measured
//
//	release   →            the problem is over: the worker releases all but its context, and waits for another hello
//
//	          ←  failed    instead of any answer: nothing further can be evaluated
//
// A worker does one thing at a time. It ends when its standard input does.
//
// # Reasons
//
// A pool is one goroutine with a list of its workers. An event is an answer of a worker, its end, or an expired watch; nothing else
// changes the list, so there are no locks.
//
// On a CPU device, all workers evaluate whole configurations: PoCL compiles completely only at the first launch, which needs the
// buffers. A second one starts only when the configurations that are left are worth its start and its buffers (Pool.Expect): for five
// builds of 0.2 s it is not, and would make those of the first slower. On other devices, one worker per device evaluates, and the others only build. A builder starts only when it is worth its
// start: the first builds tell how long one takes. At most eight start at a time, because the driver makes contexts one after the other,
// 0.13 s each on NVIDIA's 580, and 0.04 s with CUDA_DEVICE_MAX_CONNECTIONS=1, which builders therefore have.
//
// More than eight starts at a time gain nothing, because the driver initializes one process after the other, nor do threads, because it
// compiles two or three programs at a time in one process. On a host with four H200 and 64 cores (driver 580, 2026-11-27) 400 builds of
// 0.6 s took, from the start of the first process on: 11.6 s in 64 processes that started eight at a time, 17.2 s in 64 that started at once; with
// as many threads in all, 12.0 s in 32 processes, 13.8 s in 21, 15.7 s in 16 and 24.3 s in 8.
//
// Builders do not build what will probably be proposed. On that host, those that did (the head of the model's acquisition, while no proposal
// waited) built 8, 8, 8, 11 and 50 ahead, of which 0, 0, 0, 1 and 21 were proposed later, and searches of 400 took 17.3, 17.8 and 26.4 s with it, 17.3,
// 18.0 and 26.9 s without: with enough proposals under way no builder is idle unless the cards are the limit. Walks propose their likely next
// steps themselves: see package search.
//
// Nothing is loaded on a device while it measures. A random configuration of a matrix multiplication took 62 ms on an H200 in the mean of 406
// (2026-11-27): 5.6 ms to load the program (4.2 in the median), 0.5 for variant and arguments, 11.5 for the first launch, 0.9 for checks, and
// 43.5 for the timed launches. Loads beside these would save 9 % at most, and disturb them: a module is copied into memory of the device.
//
// Launches are timed alone. On a CPU, or on a GPU that shares the host's memory, all other workers are frozen first (SIGSTOP), with the
// compilers that they run. A worker that times holds everything it needs, so it cannot wait for a lock of a frozen worker. Windows
// cannot freeze a process: there the pool waits until the others are idle.
//
// A death is judged by a second worker, because an earlier configuration may have damaged the memory of the dead one. A time-out is
// final, unless it is that of a launch, which is repeated once: see repeat.go. Two new workers that die while they make the reference, or three
// in a row that die before they are ready, end the run. Workers of a GPU are killed at the end and not waited for, because the driver
// takes a second to clear their contexts away.
//
// The expected output is made once, and handed to every worker that needs it. But if only one worker of each device needs it, and made it
// within a second, each makes its own, because a pipe needs 0.4 s for 64 MiB. NDTUNE_WORKER_TRACE=FILE makes workers write each assignment that they begin.
package worker
