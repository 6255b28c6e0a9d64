"""Files of the best configurations for applications, as Kernel Tuner writes and reads them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ndtune import util

_KEYS = ("version_number", "kernel_name", "objective", "tunable_parameters")


class TuneResults:
    """A file that store_results has written: data are its entries, meta the rest."""

    def __init__(self, results_filename: str | Path) -> None:
        if not Path(results_filename).is_file():
            raise ValueError("Error: results_filename does not exist")
        self.meta, self.data = _read_results_file(results_filename)
        if not self.data:
            raise ValueError("results file seems to be empty or did not load correctly")
        self.objective: str = self.meta["objective"]
        self.objective_higher_is_better: bool = self.meta["objective_higher_is_better"]

    def get_best_config(self, gpu_name: str = "default", problem_size: Any = None) -> dict[str, Any]:
        """The best configuration for a device and a problem size.

        Without this size, that of the device which is among the stored ones of most sizes, and of those the one with
        the best sum; without this device, the same of all devices.
        """
        name = gpu_name.replace("-", "_").replace(" ", "_")
        entries = [entry for entry in self.data if entry["device_name"] == name]
        sized = [entry for entry in entries if entry["problem_size"] == _size(problem_size or "")]
        sign = -1 if self.objective_higher_is_better else 1
        ranks: dict[str, list[Any]] = {}  # by configuration: minus the number of entries, their costs, itself
        for entry in sized or entries or self.data:
            rank = ranks.setdefault(json.dumps(entry["tunable_parameters"]), [0, 0.0, entry["tunable_parameters"]])
            rank[0] -= 1
            rank[1] += sign * entry[self.objective]
        return min(ranks.values(), key=lambda rank: rank[:2])[2]


def store_results(
    results_filename: str | Path,
    kernel_name: str,
    kernel_string: Any,
    tune_params: Mapping[str, Sequence[Any]],
    problem_size: Any,
    results: Sequence[Mapping[str, Any]],
    env: Mapping[str, Any],
    top: float = 3,
    objective: str | None = None,
    objective_higher_is_better: bool | None = None,
) -> None:
    """Store the configurations that are less than top percent worse than the best, for a device and a size.

    Entries of other devices and sizes in the file stay. ValueError if the file is of another kernel or objective.
    """
    objective, higher = util.get_objective_defaults(objective, objective_higher_is_better)
    measured = [row for row in results if objective in row]
    best = (max if higher else min)(row[objective] for row in measured)
    limit = best * (1 - top / 100 if higher else 1 + top / 100)
    meta: dict[str, Any] = {"version_number": "1.0", "kernel_name": kernel_name}
    data: list[dict[str, Any]] = []
    if Path(results_filename).is_file():
        meta, data = _read_results_file(results_filename)
        if meta["kernel_name"] != kernel_name:
            raise ValueError("Mismatch between given kernel_name and results file")
        if not set(tune_params) <= set(meta["tunable_parameters"]):
            raise ValueError("Mismatch between tunable_parameters in results file and tune_params")
        if meta["objective"] != objective:
            raise ValueError("Mismatch between given objective and results file")
    else:
        if isinstance(kernel_string, str) and kernel_string:
            is_file = util.looks_like_a_filename(kernel_string)
            meta["kernel_string"] = util.read_file(kernel_string) if is_file else kernel_string
        meta |= {"objective": objective, "objective_higher_is_better": higher, "tunable_parameters": list(tune_params)}
    place = {
        "device_name": re.sub("[^0-9a-zA-Z]+", "_", env["device_name"].strip()),
        "problem_size": _size(problem_size),
    }
    data = [entry for entry in data if any(entry[key] != value for key, value in place.items())]
    for row in measured:
        if row[objective] > limit if higher else row[objective] < limit:
            parameters = {name: value for name, value in row.items() if name in tune_params}
            data.append({**place, "tunable_parameters": parameters, objective: row[objective]})
    Path(results_filename).write_text(json.dumps({**meta, "data": data}, indent="", cls=util.NpEncoder))


def create_device_targets(
    header_filename: str | Path,
    results_filename: str | Path,
    objective: str | None = None,
    objective_higher_is_better: bool | None = None,
) -> None:
    """Write a C header with the best configuration of each device of a results file, under TARGET_device, and of all.

    It defines the macros only where the macro kernel_tuner is undefined, so that a tuned source may include it.
    """
    util.get_objective_defaults(objective, objective_higher_is_better)
    results = TuneResults(results_filename)
    text = "/* header file generated by ndtune, do not modify by hand */\n#pragma once\n"
    text += "#ifndef kernel_tuner /* only use these when not tuning */\n\n"
    condition = "#ifdef"
    for device in dict.fromkeys(entry["device_name"] for entry in results.data):
        text += f"\n{condition} TARGET_{device}\n{_macros(results.get_best_config(device))}\n"
        condition = "#elif"
    text += f"\n#else /* default configuration */\n{_macros(results.get_best_config())}\n"
    Path(header_filename).write_text(text + "#endif /* GPU TARGETS */\n\n#endif /* kernel_tuner */\n")


def _macros(configuration: Mapping[str, Any]) -> str:
    return "\n".join(f"#define {name} {value}" for name, value in configuration.items())


def _size(problem_size: Any) -> str:
    sizes = problem_size if isinstance(problem_size, (list, tuple)) else [problem_size]
    return "x".join(map(str, sizes))


def _read_results_file(results_filename: str | Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The meta data and the entries of a results file; ValueError if it is none."""
    content = json.loads(util.read_file(results_filename))
    if content.get("version_number") != "1.0":
        raise ValueError(f"Unknown results file version_number: {content.get('version_number')}")
    if missing := [key for key in (*_KEYS, "data") if key not in content]:
        raise ValueError(f"Error while parsing results file, missing keys: {missing}")
    meta = {key: value for key, value in content.items() if key in _KEYS}
    meta["objective_higher_is_better"] = content.get("objective_higher_is_better", False)
    meta["kernel_string"] = content.get("kernel_string", "")
    wanted = {"device_name", "problem_size", "tunable_parameters", meta["objective"]}
    for entry in content["data"]:
        if wanted - entry.keys() or set(meta["tunable_parameters"]) - entry["tunable_parameters"].keys():
            raise ValueError(f"Error while parsing results file, missing keys in: {entry}")
    return meta, content["data"]
