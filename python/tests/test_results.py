"""What a notebook shows of results, and what a terminal prints while they arrive."""

import copy
import math
import pickle
import xml.etree.ElementTree as ElementTree

import pytest

from ndtune.results import Progress, Results


def a_search() -> Results:
    rows = [
        {"x": x, "y": y, "time": float(x * y), "times": [x * y], "GB/s": 1 / (x * y)} for x in (4, 2, 1) for y in (1, 2)
    ]
    rows[2]["time"] = math.nan
    results = Results(rows, tune_params={"x": [1, 2, 4], "y": [1, 2]}, metrics=["GB/s"])
    results.append({"x": 1, "y": 3, "__error__": "CompilationFailedConfig", "reason": "no <kernel>\nline 2"})
    results.env = {"best_config": results[4]}
    return results


def test_html_has_the_best_first_and_counts_failures() -> None:
    page = a_search()._repr_html_()
    assert "7 configurations</b>, 1 failed" in page and "best: <code>x=1, y=1</code>, time=1 ms" in page
    assert page.index("<td>1</td><td>1</td><td>1</td>") < page.index("<td>1</td><td>2</td><td>2</td>")
    assert "no &lt;kernel&gt;" in page and "line 2" not in page
    assert "<script" not in page and "color:#000" not in page  # no scripts, no colour that a dark theme hides
    ElementTree.fromstring(page)  # well-formed


def test_the_curve_shows_only_numbers() -> None:
    points, best = a_search()._curve()
    assert [i for i, _ in points] == [1, 2, 4, 5, 6]
    assert best == [(1, 4.0), (5, 1.0), (7, 1.0)]


@pytest.mark.parametrize("higher, first", [(False, 1.0), (True, 8.0)])
def test_the_direction_of_the_objective(higher: bool, first: float) -> None:
    results = a_search()
    results.objectives = {"time": higher}
    assert results.correct()[0]["time"] == first


@pytest.mark.parametrize("results", [Results(), Results([{"x": 1, "time": 1.0}], tune_params={"x": [1]})])
def test_few_results(results: Results) -> None:
    ElementTree.fromstring(results._repr_html_())


def test_copies_are_plain_lists() -> None:
    results = a_search()
    assert type(pickle.loads(pickle.dumps(results))) is list and len(copy.copy(results)) == 7


def test_evaluations_are_counted_in_whole_numbers() -> None:
    pytest.importorskip("matplotlib")
    few = a_search()
    del few[3:]
    assert all(tick == int(tick) for tick in few.figure().axes[0].get_xticks())


def test_figures() -> None:
    pytest.importorskip("matplotlib")
    for parameters in ((), ("x",), ("x", "y")):
        assert a_search().figure(*parameters)._repr_png_().startswith(b"\x89PNG")
    with pytest.raises(ValueError, match="there is no parameter z; there are x, y"):
        a_search().figure("z")
    with pytest.raises(ValueError, match="no configuration is correct"):
        Results().figure()


def test_a_report_and_a_comparison_need_the_log() -> None:
    with pytest.raises(ValueError, match="without a run log"):
        a_search().report()
    with pytest.raises(ValueError, match="without a run log"):
        a_search().compare(a_search())


def test_a_terminal_gets_lines(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(Results(), mode="text")
    progress.begin("a device", 2)
    progress.row({"time": 1.0}, "x=1, time=1.000ms")
    progress.row({"__error__": "CompilationFailedConfig"}, None)
    progress.end()
    assert capsys.readouterr().out == "Using: a device\nx=1, time=1.000ms\n"
    Progress(Results(), quiet=True, mode="text").begin("a device", 2)
    assert capsys.readouterr().out == ""
    with pytest.raises(ValueError, match="'html'"):
        Progress(Results(), mode="html")


def test_a_notebook_gets_one_line_that_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    display = pytest.importorskip("IPython.display")
    shown: list[str] = []

    class Handle:
        def update(self, what: object) -> None:
            shown.append(what.text)  # type: ignore[attr-defined]

    monkeypatch.setattr(display, "display", lambda what, display_id=False: shown.append(what.text) or Handle())
    results = Results(tune_params={"x": [1, 2]})
    progress = Progress(results, mode="notebook")
    progress.begin("a <device>", 2)
    for x in (2, 1):
        results.append({"x": x, "time": float(x)})
        progress.row(results[-1], "text")
    progress.end()
    assert shown[0].startswith("a &lt;device&gt;")
    assert shown[2] == (
        '<progress value="2" max="2"></progress> 2 of 2 configurations; best: <code>x=1</code>, time=1 ms'
    )
    assert shown[3] == "2 configurations"
