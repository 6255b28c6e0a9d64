#!/usr/bin/env python3
"""Runs strategies of Kernel Tuner 1.5.0 in its simulation mode, and prints their traces for
`go run -C scripts ./score -trace FILE`.

    python3 -m pip install kernel_tuner==1.5.0
    python3 scripts/kernel_tuner_traces.py --repeats 25 NAME.json=SECONDS... > traces.jsonl

Each argument is an uncompressed cache file and the simulated time that a search of it has. Take
the time that `go run -C scripts ./score` prints for the record. NAME must be the name under which
it lists the record. A line is one search: the configurations in the order in which the strategy
asked for them, repetitions included, and the milliseconds that the strategy took for each.
"""

import argparse
import contextlib
import io
import json
import pathlib
import warnings

import kernel_tuner

STRATEGIES = ["genetic_algorithm", "simulated_annealing", "dual_annealing", "pso", "diff_evo",
              "firefly_algorithm", "basinhopping", "hybrid_vndx", "adaptive_tabu_greywolf"]


def trace(path, seconds, strategy, parameters):
    """Returns the configurations of one search, and the milliseconds that the strategy took for each."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results, _ = kernel_tuner.tune_cache(str(path), strategy=strategy, strategy_options={"time_limit": seconds}, quiet=True)
    return [{p: r[p] for p in parameters} for r in results], [round(r["strategy_time"], 4) for r in results]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=25)
    parser.add_argument("--strategy", action="append", help="one of Kernel Tuner's; may be repeated")
    parser.add_argument("records", nargs="+", metavar="NAME.json=SECONDS")
    options = parser.parse_args()
    for repeat in range(options.repeats):
        for record in options.records:
            path, seconds = record.rsplit("=", 1)
            path = pathlib.Path(path)
            parameters = json.loads(path.read_text())["tune_params_keys"]
            for strategy in options.strategy or STRATEGIES:
                configurations, milliseconds = trace(path, float(seconds), strategy, parameters)
                line = {"strategy": "kernel_tuner:" + strategy, "record": path.stem, "repeat": repeat,
                        "trace": configurations, "milliseconds": milliseconds}
                print(json.dumps(line, separators=(",", ":")), flush=True)


if __name__ == "__main__":
    main()
