// Package process runs the program again as child processes. The program survives whatever they
// do: a child may hang, crash, print, and leave processes of its own behind.
//
// A [Host] starts children with a mark in their environment. A [Child] is one of them: it gets
// requests, and its answers arrive as events, the last of which is its [End]. It can be frozen,
// thawed, and killed with everything that it has started.
//
// In the child, the program finds the mark with [Marked] and talks to its [Parent].
//
// Messages are encoded by encoding/gob on the child's standard input and output. The child moves
// both to other descriptors, so that the output of libraries cannot reach them: it goes to standard
// error. If a child dies, the end of its standard error explains its death. A child ends when its
// standard input does, even in the middle of its work.
//
// A [Program] is a program of the user's, in any language, that answers lines of JSON: it judges outputs, makes sources, reads an
// instrument, or is a search strategy. All of them have one protocol, one way to fail, and one place that starts and ends them.
//
// # Reasons
//
// Nothing is left behind. A child ends when its standard input does, even in the middle of an endless launch. Linux also kills it with
// its parent. Each child is a process group of its own, so Ctrl-C reaches only the parent, which kills the groups. Before a child loads
// a driver or a library, it moves its channel to the parent away from standard output, so that everything they print can be captured.
package process
