"""Functions over results: the same answers as those that scripts know."""

import pytest

from ndtune import util


def result(time: float, **more: object) -> util.Result:
    return {"time": time, **more}


@pytest.mark.parametrize(
    "results, objective, higher, best",
    [
        ([result(2.0), result(1.0), result(3.0)], "time", False, 1.0),
        ([result(2.0), result(1.0), result(3.0)], "time", True, 3.0),
        ([result(2.0, __error__=util.InvalidConfig()), result(5.0)], "time", False, 5.0),
        ([result(2.0, __error__=util.InvalidConfig()), result(1.0)], "time", True, 1.0),
    ],
)
def test_best(results: list[util.Result], objective: str, higher: bool, best: float) -> None:
    assert util.get_best_config(results, objective, higher)["time"] == best


def test_front() -> None:
    rows = [(1.0, 5.0), (2.0, 6.0), (3.0, 4.0), (1.0, 4.0), (0.5, 1.0)]
    results = [result(time, speed=speed) for time, speed in rows]
    results.append(result(0.0, speed=9.0, __error__=util.CompilationFailedConfig()))
    front = util.get_pareto_results(results, ["time", "speed"], [False, True])
    assert [(r["time"], r["speed"]) for r in front] == [(1.0, 5.0), (2.0, 6.0), (0.5, 1.0)]
    assert [r.get("optimal", False) for r in results] == [True, True, False, False, True, False]


def test_metrics_build_on_each_other() -> None:
    metrics = {"y": "x * 2", "z": lambda p: p["y"] + 1, "x": "z"}
    assert util.process_metrics({"x": 3}, metrics) == {"x": 7, "y": 6, "z": 7}
    with pytest.raises(ValueError, match="dictionary"):
        util.process_metrics({}, [])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="strings or callable"):
        util.process_metrics({}, {"a": 3})  # type: ignore[dict-item]


def test_config_string() -> None:
    assert (
        util.get_config_string({"a": 1, "time": 0.12345, "b": "x"}, ["a", "time"], {"time": "ms"})
        == "a=1, time=0.123ms"
    )


def test_budget() -> None:
    budget = util.TuningBudget(time_limit=5, max_fevals=4)
    assert not budget.is_done() and budget.get_evaluations_remaining() == 4
    budget.add_time(seconds=2.5)
    assert 0.5 <= budget.get_fraction_consumed() < 0.6
    budget.add_evaluations(4)
    assert budget.is_done() and budget.get_fraction_consumed() == 1
    with pytest.raises(util.StopCriterionReached, match=r"max_fevals \(4\) reached"):
        budget.raise_exception_if_done()
    with pytest.raises(ValueError, match="time_limit"):
        util.TuningBudget(time_limit=0)


@pytest.mark.parametrize(
    "text, expected",
    [("vector_add.cl", True), ("__kernel void f(){}", False), ("kernels/a.cu", True), ("no source", False)],
)
def test_file_names(text: str, expected: bool) -> None:
    assert util.looks_like_a_filename(text) is expected


def test_objectives() -> None:
    assert util.get_objective_defaults(None, None) == ("time", False)
    assert util.get_objective_defaults("TFLOPS/W", None) == ("TFLOPS/W", True)
    with pytest.raises(ValueError, match="objective_higher_is_better"):
        util.get_objective_defaults("mine", None)
