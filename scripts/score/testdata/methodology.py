#!/usr/bin/env python3
"""Makes methodology.json: made-up search spaces, searches on them, and their scores by the package
autotuning_methodology 1.1.0, with which the test of this package compares its own.

    python3 -m pip install autotuning_methodology==1.1.0
    python3 methodology.py > methodology.json
"""

import json
import pathlib
import tempfile
import types
import warnings

import numpy as np
from autotuning_methodology.baseline import RandomSearchCalculatedBaseline
from autotuning_methodology.caching import Results
from autotuning_methodology.curves import StochasticOptimizationAlgorithm
from autotuning_methodology.searchspace_statistics import SearchspaceStatistics

KEYS = ["compilation", "runtimes", "framework", "search_algorithm", "validation"]
ERROR = "RuntimeFailedConfig"


def statistics(values, builds):
    """Returns the package's statistics of a space: values are milliseconds, or None for a failure."""
    results = []
    for i, (value, build) in enumerate(zip(values, builds)):
        times = {"compilation": build, "framework": 0, "search_algorithm": 0, "validation": 0}
        if value is not None:
            times["runtimes"] = [value]
        results.append({
            "configuration": {"x": i}, "times": times, "invalidity": "correct" if value is not None else "runtime",
            "measurements": [{"name": "time", "value": value if value is not None else ERROR, "unit": ""}], "objectives": ["time"],
        })
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "space.json")
        path.write_text(json.dumps({"metadata": {"timeunit": "milliseconds"}, "results": results, "schema_version": "1.0.0"}))
        return SearchspaceStatistics("kernel", "device", True, KEYS, ["time"], path, full_validate=False)


def arrays(traces, values, builds):
    """Returns the searches as the package stores them."""
    shape = max(len(t) for t in traces), len(traces)
    fevals, clock, found, best = (np.full(shape, np.nan) for _ in range(4))
    for column, trace in enumerate(traces):
        now, least, seen = 0.0, np.nan, set()
        for row, (i, strategy) in enumerate(trace):
            now += strategy / 1000
            if i not in seen:
                now += (builds[i] + (values[i] or 0)) / 1000
                seen.add(i)
            fevals[row, column], clock[row, column] = row + 1, now
            if values[i] is not None:
                found[row, column], least = values[i], np.nanmin([least, values[i]])
            best[row, column] = least
    keyed = np.full((len(KEYS), *shape), np.nan)
    return Results([fevals, clock, found, best, best, keyed, keyed])


class Plain(StochasticOptimizationAlgorithm):
    """A curve by one isotonic regression of everything that was found."""

    def _get_prediction_interval_bagging(self, x, y, times, confidence_level, num_repeats):
        curve = self.get_isotonic_curve(x, y, times, ymin=y.min(), ymax=y.max())
        return np.stack([curve, curve, curve], axis=1)


class Converged(StochasticOptimizationAlgorithm):
    """The package's own curve is the mean of the isotonic regressions of as many random samples as there are searches, so that
    its scores differ from call to call. This is the mean of many calls."""

    def _get_prediction_interval_bagging(self, x, y, times, confidence_level, num_repeats):
        made = [super(Converged, self)._get_prediction_interval_bagging(x, y, times, confidence_level, num_repeats) for _ in range(800)]
        return np.mean(made, axis=0)


def judged(name, values, builds, traces):
    s = statistics(values, builds)
    first, last, start, end = s.cutoff_point_fevals_time_start_end(0.01, 0.95)
    times = np.linspace(start, end, 1000)
    description = types.SimpleNamespace(
        group_name=name, group_display_name=name, device_name="device", application_name="kernel", stochastic=True,
        minimization=True, get_results=lambda: arrays(traces, values, builds))
    baseline = RandomSearchCalculatedBaseline(s)

    def score(algorithm):
        *_, curve, _, _ = algorithm(description).get_curve_over_time(
            times, dist=s.objective_performances_total_sorted, confidence_level=0.95, return_split=False)
        return round(float(np.mean(baseline.get_standardised_curve(times, curve, "time"))), 6)

    calls = [score(StochasticOptimizationAlgorithm) for _ in range(10)]
    return {
        "name": name, "values": values, "traces": traces,
        "evaluations": [int(first), int(last)], "seconds": [float(start), float(end)],
        "baseline": [round(float(v), 9) for v in baseline.get_curve_over_time(times)[::111]], "isotonic": score(Plain), "score": score(Converged),
        "one_call_differs_by": round(float(np.std(calls)), 6),
    }


def case(name, seed, size, failures, digits, greed, repeats, length, revisits=0.0, uneven=False):
    """Makes a space and searches on it, which take a better one of two configurations with the probability greed."""
    r = np.random.default_rng(seed)
    values = [None if r.random() < failures else round(float(v), digits) for v in 1 + r.lognormal(0, 0.8, size)]
    builds = [20 + i * 37 % 881 for i in range(size)]
    traces = []
    for _ in range(repeats):
        trace = []
        for _ in range(int(length * r.uniform(0.4, 1)) if uneven else length):
            i, j = (int(k) for k in r.integers(size, size=2))
            if trace and r.random() < revisits:
                i = j = trace[int(r.integers(len(trace)))][0]
            if r.random() < greed and (values[j] or 99) < (values[i] or 99):
                i = j
            trace.append([i, round(float(r.exponential(5)), 2)])
        traces.append(trace)
    return judged(name, values, builds, traces)


np.random.seed(1)
warnings.simplefilter("ignore")
print("[" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in [
    case("greedy searches of a space with failures", 2, 1000, 0.2, 4, 0.8, 16, 90),
    case("values that coincide, and configurations asked for twice", 3, 900, 0.05, 1, 0.5, 16, 100, revisits=0.3),
    case("searches that end early", 4, 1000, 0.1, 4, 0.6, 20, 90, uneven=True),
    case("a small space", 5, 60, 0.1, 5, 0.7, 10, 40),
]) + "]")
