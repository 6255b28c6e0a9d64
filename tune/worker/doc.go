// Package worker evaluates configurations in child processes of the program itself: builds run in
// parallel even if the driver allows only one build at a time in a process, and a driver that
// crashes or hangs costs one configuration.
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
// The peaks of a device are measured in a worker, too: see [MeasurePeaks].
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
//	hello     →            the device, and which parts of its peaks the worker shall measure
//	          ←  measured  the results of a part so far, at the begin of each part, during it and at its end
//
//	release   →            the problem is over: the worker releases all but its context, and waits for another hello
//
//	          ←  failed    instead of any answer: nothing further can be evaluated
//
// A worker does one thing at a time. It ends when its standard input does.
package worker
