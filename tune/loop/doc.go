// Package loop is the tuning loop. [Run] searches the space of a problem: a search strategy proposes configurations, a [tune.Evaluator] turns
// them into results, and a [tune.Log] keeps them. [Options] say when it ends.
//
// # Reasons
//
// A learning strategy depends on its seed and the results alone: Run reports results in the order of the proposals, and keeps a fixed
// number of proposals ahead. [UnderWay] computes it from the capacity that the evaluators had when the log began. So an interrupted search
// goes on as if it had not been interrupted; the price is that one slow configuration can hold up those behind it. By simulation of builds
// whose times scatter by 40 %, three proposals for each builder keep all builders busy nevertheless; a strategy that is told early results
// first would depend on the machine's speed. Brute force and random sampling do not learn, and do not wait.
//
// Run answers proposals that a limit of the device excludes, as results with the status constraints that do not count in the budget. The
// space keeps these configurations, so that indices and records do not depend on the device.
//
// An evaluator reports a doubt; Run decides. A probe evaluates the best again, with a build option that no driver has seen, because a
// build from the driver's cache would succeed even on a full disk. Failures in doubt are neither logged nor told to the strategy until
// the probe has ended. After each probe that finds the configurations themselves at fault, the row of failures that triggers the next
// probe is twice as long.
//
// The choice among the front is an expression, not a set of weights, because bounds, products and weighted sums are then one form. It is
// no part of the digest, so that a log can be continued with another one.
//
// Several cards of one model are compared before the final measurement, and one of them measures all finalists: see docs/fleet.md.
package loop
