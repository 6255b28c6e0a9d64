// Package fleet evaluates configurations on other machines, over NATS JetStream (https://nats.io).
//
// An [Agent] runs on each machine. It announces its devices, and evaluates configurations for the searches of
// others. An [Evaluator] is the coordinator's end: it takes the place of a device of this machine in [loop.Run].
// The server is the official one, nats-server, which its users run.
//
// All state is JetStream's:
//
//   - The bucket ndtune_agents has an entry for each device of an agent, with its identity, its capacity and its
//     work. Entries expire if their agent does not renew them.
//   - The bucket ndtune_searches has an entry for each search: the kind of device that it is for, the digest of
//     its problem, and its settings. Entries expire if their coordinator does not renew them.
//   - The object store ndtune_problems has the problems by their digests, so that each travels once.
//   - The stream NDTUNE_WORK is a queue of configurations for each search. An agent takes one, tells the server
//     while it evaluates it, and acknowledges it after its result is stored. A configuration whose agent died goes to
//     another agent; after [maxDeliveries] of them it becomes a failed result.
//   - The stream NDTUNE_RESULTS keeps the results for a day. The server drops a result that was stored
//     twice within two minutes, and the coordinator each one that it has.
//
// Two kinds of messages are not stored. The subject ndtune.best.SEARCH tells agents the best result so far. The subject
// ndtune.measure.AGENT asks one device to measure configurations in turn; the coordinator repeats it until the result
// comes.
//
// Messages are JSON. Those of another version of the protocol, and those that cannot be read, are dropped and
// counted.
package fleet
