"""Compares run logs of one space: how much the medians of its ten best configurations differ
from log to log, in per cent. The ten best are those of the first log."""

import itertools
import json
import statistics
import sys


def medians(path):
    found = {}
    for line in open(path):
        entry = json.loads(line)
        if entry.get("kind") == "result" and entry["status"] == "correct":
            found[json.dumps(entry["configuration"])] = statistics.median(entry["times"])
    return found


logs = {path: medians(path) for path in sys.argv[1:]}
first = logs[sys.argv[1]]
best = sorted(first, key=first.get)[:10]
for a, b in itertools.combinations(logs, 2):
    apart = [abs(logs[a][key] / logs[b][key] - 1) * 100 for key in best]
    print(f"{a} {b}: at most {max(apart):.2f} %, on average {sum(apart) / len(apart):.2f} %")
