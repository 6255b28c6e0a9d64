"""Files of results and of the machine, in the format T4."""

from __future__ import annotations

import json
import platform
import subprocess
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from ndtune import _binary, util

_STAGES = {"compilation": "compile_time", "benchmark": "benchmark_time", "framework": "framework_time"}
_STAGES |= {"search_algorithm": "strategy_time", "validation": "verification_time"}
_INVALIDITY = {"CompilationFailedConfig": "compile", "InvalidConfig": "constraints", "RuntimeFailedConfig": "runtime"}
_INVALIDITY |= {"VerificationFailedConfig": "correctness", "None": "correct"}


def get_t4_results(
    results: Sequence[Mapping[str, Any]], tune_params: Mapping[str, Any], objective: str = "time"
) -> dict[str, Any]:
    """The results of tune_kernel in the format T4; times are in ms."""
    no_measurement = {*tune_params, *_STAGES.values(), "timestamp", "times", "reason"}
    entries = []
    for row in results:
        entry = {"timestamp": row["timestamp"]} if "timestamp" in row else {}
        entry["configuration"] = {name: value for name, value in row.items() if name in tune_params}
        entry["times"] = {key: row[stage] for key, stage in _STAGES.items()} | {"runtimes": row.get("times", [])}
        entry["invalidity"] = _INVALIDITY[str(row.get("__error__"))]
        entry["correctness"] = int(entry["invalidity"] != "correctness")
        measured = {key: value for key, value in row.items() if key not in no_measurement}
        units = {key: "ms" if key.startswith("time") else "" for key in measured}
        entry["measurements"] = [{"name": key, "value": v, "unit": units[key]} for key, v in measured.items()]
        entries.append(entry | {"objectives": [objective]})
    return {"results": entries, "schema_version": "1.0.0", "metadata": {"timeunit": "milliseconds"}}


def store_output_file(
    output_filename: str, results: Sequence[Mapping[str, Any]], tune_params: Mapping[str, Any], objective: str = "time"
) -> None:
    """Write the results of tune_kernel into a file in the format T4."""
    _write(output_filename, get_t4_results(results, tune_params, objective))


def get_t4_metadata() -> dict[str, Any]:
    """The machine in the format T4: operating system, hardware, OpenCL devices, versions of packages."""
    listing = subprocess.run([_binary.find(), "devices", "--json"], capture_output=True, text=True, check=False)
    environment = {
        "device_query": {"ndtune": json.loads(listing.stdout) if listing.returncode == 0 else []},
        "requirements": [f"numpy=={metadata.version('numpy')}"],
    }
    system = {"Darwin": "Mac", "": "unidentified OS"}.get(platform.system(), platform.system())
    hardware = {"hardware_description": [platform.uname()._asdict()]}
    content = {"operating_system": system, "hardware": hardware, "environment": environment}
    return {"metadata": content, "schema_version": "1.0.0"}


def store_metadata_file(metadata_filename: str) -> None:
    """Write the machine into a file in the format T4."""
    _write(metadata_filename, get_t4_metadata())


def _write(name: str, content: Any) -> None:
    path = Path(name if str(name).endswith(".json") else f"{name}.json")
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content, cls=util.NpEncoder))
