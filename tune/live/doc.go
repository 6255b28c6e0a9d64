// Package live shows searches in browsers while they go on: the page of [report], served over
// HTTP, with what has come since then as server-sent events.
//
// A [Server] observes. Results are put on a list, and that is all that a search waits for:
// reports are made of the list by those who look at them, at most a few times a second and in a
// small share of the time, and never where nobody looks. A browser has no queue: what it is sent
// is made when it can take it, of all that it does not have yet, so that one that falls behind
// gets less often, and more at once.
//
// On a loopback address everybody on the machine may look, but no page of another site may: a
// name that is not this machine's in the Host header is refused (DNS rebinding), and no other
// origin is let in. Any other address needs the token in [Server.URL]. The connections are
// bounded, since they take file descriptors from the search.
package live
