package search

// definitions are all strategies by name.
var definitions = byName(
	autoDefinition,
	bayesOptDefinition,
	bruteForceDefinition,
	randomSampleDefinition,
	geneticAlgorithmDefinition,
	diffEvoDefinition,
	psoDefinition,
	fireflyDefinition,
	simulatedAnnealingDefinition,
	dualAnnealingDefinition,
	basinhoppingDefinition,
	greedyILSDefinition,
	greedyMLSDefinition,
	mlsDefinition,
)

func byName(all ...definition) map[string]definition {
	named := make(map[string]definition, len(all))
	for _, d := range all {
		named[d.Name] = d
	}
	return named
}
