#!/usr/bin/env python3
"""Compares a metric of the same configurations in two run logs of ndtune: repeat.py METRIC FIRST.jsonl SECOND.jsonl

It prints by how much the two values of a configuration differ, how that compares with their uncertainties, and how
far the best by the metric is from the best by the time.
"""

import json
import math
import statistics
import sys


def read(path, metric):
    results, missing = {}, []
    for line in open(path):
        entry = json.loads(line)
        if entry.get("kind") != "result" or entry["status"] != "correct":
            continue
        value = entry["metrics"].get(metric)
        reading = next((r for r in entry.get("readings", []) if r["quantity"] == metric), {})
        if not isinstance(value, (int, float)) or math.isnan(value):
            missing.append(reading.get("missing", "no reason"))
            continue
        key = json.dumps(entry["configuration"], sort_keys=True)
        results[key] = (value, reading.get("uncertainty", 0.0), statistics.mean(entry["times"]), entry["durations_ns"].get("measure", 0) / 1e9)
    return results, missing


def main():
    metric, paths = sys.argv[1], sys.argv[2:4]
    (first, lost), (second, lost_again) = (read(path, metric) for path in paths)
    print(f"{metric}: {len(first)} and {len(second)} configurations; without a value {len(lost)} and {len(lost_again)}")
    for why in sorted(set(lost + lost_again)):
        print(f"  missing: {why}")
    both = sorted(first.keys() & second.keys())
    if not both:
        return
    differences = sorted(2 * abs(first[k][0] - second[k][0]) / (first[k][0] + second[k][0]) for k in both)
    sigmas = sorted(abs(first[k][0] - second[k][0]) / max(math.hypot(first[k][1], second[k][1]), 1e-300) for k in both)
    at = lambda values, share: values[min(len(values) - 1, int(share * len(values)))]
    print(f"differences of {len(both)} configurations: median {at(differences, .5):.2%}, 95 % below {at(differences, .95):.2%}, largest {differences[-1]:.2%}")
    print(f"in standard uncertainties: median {at(sigmas, .5):.2f}, 95 % below {at(sigmas, .95):.2f}; relative uncertainty: median {statistics.median(first[k][1] / first[k][0] for k in both):.2%}")
    print(f"time a configuration was measured: median {statistics.median(first[k][3] for k in both):.2f} s")
    least, fastest = min(both, key=lambda k: first[k][0]), min(both, key=lambda k: first[k][2])
    for name, k in (("least " + metric, least), ("least time", fastest)):
        print(f"{name}: {metric} {first[k][0]:.6g} ± {first[k][1]:.2g}, time {first[k][2]:.6g} ms: {k}")


main()
