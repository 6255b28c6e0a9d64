// Package simulate runs search strategies on recorded spaces: every configuration has been
// measured before, so that a search takes microseconds, needs no device, and can be repeated
// until its luck averages out.
//
// A [Recording] is a record made ready for that. [Run] repeats each strategy on each
// recording, on all cores, and summarises the repeats by a [Curve]: the quality of the best
// configuration found, after each evaluation. Quality is the best value of the objective in
// the record divided by the best one found (for an objective that is maximised the other way
// round), so that 1 is the best there is, and 0 stands as long as nothing correct was found.
// A failed configuration counts as an evaluation, as it costs one on a device.
//
// The package compares strategies by what they find in a number of evaluations. It says
// nothing of the time that a strategy itself takes, nor of that of the evaluations.
package simulate
