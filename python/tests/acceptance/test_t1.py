"""Tasks of T1 files, by tune_kernel_T1."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

OPTIMIZER = """
class Walk:
    def __init__(self, stride=1):
        self.stride, self.costfunc_kwargs = stride, {"scaling": False, "snap": True}

    def __call__(self, func, searchspace):
        for configuration in searchspace.list[::self.stride]:
            func(configuration)
"""


@pytest.fixture
def task(folder: Path, vector_add: list[Any]) -> Callable[..., Path]:
    """Return a function that writes a T1 file of the vector addition; changes are further keys."""
    (folder / "vector_add.cl").write_text(vector_add[1])
    vector = {"Type": "float", "MemoryType": "Vector", "Size": 100, "FillType": "Random", "FillValue": 1.0}
    scalar = {"Name": "n", "Type": "int32", "MemoryType": "Scalar", "FillValue": 100}
    kernel = {"Language": "OpenCL", "KernelName": "vector_add", "KernelFile": "vector_add.cl", "ProblemSize": 100}
    kernel |= {"Arguments": [*(vector | {"Name": name} for name in "cab"), scalar], "GridDivX": ["block_size_x"]}
    kernel |= {"Device": {"Name": "any"}, "GlobalSize": {"X": "100"}, "LocalSize": {"X": "block_size_x"}}
    parameters = [
        {"Name": "block_size_x", "Type": "int", "Values": "[32, 64, 128]", "Default": 32},
        {"Name": "tile", "Type": "int", "Values": "list(range(1, 5))", "Default": 1},
    ]
    space = {"TuningParameters": parameters, "Conditions": [{"Expression": "tile != 3", "Parameters": ["tile"]}]}

    def write(**changes: Any) -> Path:
        content = {"General": {"FormatVersion": 1}, "ConfigurationSpace": space, "KernelSpecification": kernel}
        path = folder / "task.json"
        path.write_text(json.dumps(content | changes))
        return path

    return write


@pytest.fixture
def simulate(package: Any, task: Callable[..., Path], cache: Callable[..., Path]) -> Callable[..., Any]:
    """Return a function that simulates the task; file has further keys of the T1 file."""
    measured = cache({"block_size_x": [32, 64, 128], "tile": [1, 2, 3, 4]})

    def run(file: dict[str, Any], **options: Any) -> Any:
        return package.tune_kernel_T1(task(**file), measured, simulation_mode=True, device="any", **options)

    return run


def test_simulation(simulate: Callable[..., Any]) -> None:
    results, env = simulate({}, strategy="brute_force", strategy_options={}, output_T4=False)
    assert len(results) == 9 and {r["tile"] for r in results} == {1, 2, 4}
    assert env["simulation"] and env["best_config"]["time"] == min(r["time"] for r in results)


def test_search_of_the_file(simulate: Callable[..., Any]) -> None:
    file = {"Search": {"Name": "random_sample"}, "Budget": [{"Type": "ConfigurationCount", "BudgetValue": 4}]}
    results, _ = simulate(file, strategy_options={}, output_T4=False)
    assert len(results) == 4
    file["Search"] = {"Name": "genetic_algorithm", "Attributes": [{"Name": "popsize", "Value": 3}]}
    results, _ = simulate(file, strategy="random_sample", strategy_options={}, output_T4=False)
    assert len(results) == 4


def test_strategy_of_a_file(simulate: Callable[..., Any], folder: Path) -> None:
    (folder / "walk.py").write_text(OPTIMIZER)
    options = {"custom_search_method_path": folder / "walk.py", "max_fevals": 9, "stride": 2}
    results, _ = simulate({}, strategy="Walk", strategy_options=options, output_T4=False)
    assert len(results) == 5


def test_format_t4(simulate: Callable[..., Any]) -> None:
    metadata, content = simulate({}, strategy="brute_force", strategy_options={})
    assert set(metadata) == {"metadata", "schema_version"}
    assert len(content["results"]) == 9 and content["results"][0]["configuration"] == {"block_size_x": 32, "tile": 1}


@pytest.mark.only_ours
def test_measured(package: Any, task: Callable[..., Path]) -> None:
    """Kernel Tuner's OpenCL refuses the constant memory that it makes of T1 files, even where there is none."""
    path = task(Search={"Name": "brute_force"})
    results, env = package.tune_kernel_T1(path, "measured.json", output_T4=False, device=0, iterations=3)
    assert len(results) == 9 and all(len(r["times"]) >= 3 for r in results)
    assert env["strategy"]["used"] == "brute_force"
    results, _ = package.tune_kernel_T1(path, "measured.json", output_T4=False, simulation_mode=True)
    assert len(results) == 9
    options = {"strategy": "random_sample", "strategy_options": {"fraction": 0.5}}
    _, content = package.tune_kernel_T1(path, **options)
    assert len(content["results"]) == 5
