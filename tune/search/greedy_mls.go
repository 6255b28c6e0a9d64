package search

var greedyMLSDefinition = definition{
	Description: Description{
		Name:    "greedy_mls",
		Summary: "multi-start local search to the first better neighbour: descents from random configurations",
		Source:  "Aarts and Lenstra, «Local Search in Combinatorial Optimization», 1997",
		Options: []Option{neighborOption("Hamming"), samplesOption},
	},
	make: func(s setting) proposer { return newMultiStart(s, false) },
}
