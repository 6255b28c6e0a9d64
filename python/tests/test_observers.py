"""Observers: which quantities the program observes, and the order of calls of those in Python."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from ndtune._space import Space
from ndtune.observers.ncu import NCUObserver
from ndtune.observers.nvml import NVMLObserver
from ndtune.observers.observer import BenchmarkObserver, ContinuousObserver, PrologueObserver
from ndtune.observers.plan import Plan, plan
from ndtune.observers.register import RegisterObserver

PARAMS: dict[str, Any] = {"block_size_x": [32, 64], "nvml_gr_clock": [900, 1200]}
FIRST = {"block_size_x": 32, "nvml_gr_clock": 900}
CALLS = ["register_configuration", "before_start", "after_start", "during", "after_finish"]


def planned(*observers: Any) -> Plan:
    return plan(observers, Space(PARAMS), device=0, lang="OpenCL")


def ask(handler: Callable[[Any], Any], **line: Any) -> Any:
    """Ask as the program does, and do what follows until the second look for the next question."""
    answer = handler({kind: {"configuration": FIRST, **rest} for kind, rest in line.items()})
    if isinstance(answer, tuple):
        looks = iter([False, True])
        answer[1](lambda: next(looks))
        return answer[0]
    return answer


class Recorder(BenchmarkObserver):
    """Writes down each call."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def get_results(self) -> dict[str, Any]:
        return {"calls": list(self.calls)}


for name in CALLS:
    setattr(Recorder, name, lambda self, *_, name=name: self.calls.append(name))


def test_quantities() -> None:
    made = planned(NVMLObserver(["nvml_energy", "core_freq"], continuous_duration=2))
    settings = {"clock": "nvml_gr_clock"}
    assert made.measure(list) == {"observe": ["clock", "energy"], "window": "2s", "settings": settings}
    assert made.arguments == ["--allow", "settings"] and not made.handlers
    with pytest.warns(UserWarning, match="core_freq is nan in all results: no sensor"):
        made.register_device(name="d", missing={"clock": "no sensor"})
    row = made.collect((32, 900), {"energy": 2.5, "clock": None})
    assert row["nvml_energy"] == 2.5 and math.isnan(row["core_freq"])


def test_registers_are_required() -> None:
    with pytest.raises(NotImplementedError, match="OpenCL"):
        planned(RegisterObserver()).collect((32, 900), {"registers": None})
    assert planned(RegisterObserver()).collect((32, 900), {"registers": 24.0}) == {"num_regs": 24}


def test_order_of_calls() -> None:
    class Before(Recorder, PrologueObserver):
        pass

    recorder, before = Recorder(), Before()
    made = planned(recorder, before)
    instruments = made.measure(lambda kind: [kind])["instruments"]
    assert [(i["each"], i["quantities"], i["command"]) for i in instruments] == [
        ("launch", ["python_launch"], ["launch"])
    ]
    for launch in range(2):
        assert ask(made.handlers["launch"], begin={"launch": launch, "times": [1.0, 2.0]}) == {}
        ask(made.handlers["launch"], end={"launch": launch, "times": [1.0, 2.0]})
    assert made.collect((32, 900), {})["calls"] == CALLS[:1] + CALLS[1:] * 2 == recorder.calls
    assert before.calls == CALLS


def test_without_launches() -> None:
    class Name(BenchmarkObserver):
        def get_results(self) -> dict[str, Any]:
            return {"name": self.dev.name}

    made = planned(lambda arguments: Name(), Name())
    made.register_device(name="a device", missing={})
    assert list(made.handlers) == ["configuration"]
    ask(made.handlers["configuration"], end={"launch": 0, "times": [1.0]})
    assert made.collect((32, 900), {}) == {"name": "a device"} and made.collect((64, 900), {}) == {}


def test_continuous() -> None:
    class Power(ContinuousObserver):
        continuous_duration = 3

        def get_results(self) -> dict[str, Any]:
            return {"my_energy": 50 * self.results["time"] / 1000}

    class Parent(BenchmarkObserver):
        continuous_observer = Power()

        def get_results(self) -> dict[str, Any]:
            return {"x": 1}

    made = planned(Parent())
    assert {i["each"]: i.get("window") for i in made.measure(lambda kind: [kind])["instruments"]} == {
        "configuration": None,
        "window": "3s",
    }
    ask(made.handlers["window"], begin={"launch": 0, "times": [10.0, 30.0]})
    ask(made.handlers["window"], end={"launch": 0, "times": [10.0, 30.0]})
    assert made.collect((32, 900), {}) == {"my_energy": 1.0}


@pytest.mark.parametrize(
    "make, error, message",
    [
        (lambda: planned(3), TypeError, "Invalid observer: 3 does not extend BenchmarkObserver"),
        (lambda: NVMLObserver(["nonsense"]), ValueError, "Observable nonsense not in supported"),
        (lambda: NVMLObserver(["gr_voltage"]), NotImplementedError, "cannot observe gr_voltage: it has nvml_power"),
        (lambda: NCUObserver(metrics=["x"]), NotImplementedError, "ndtune has no NCUObserver"),
        (lambda: planned(Deep()), NotImplementedError, r"Deep uses self.dev.event: .* only name, env"),
    ],
)
def test_refused(make: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


class Deep(BenchmarkObserver):
    """Reaches into the device."""

    def get_results(self) -> dict[str, Any]:
        return {"x": self.dev.event.profile.end, "name": self.dev.name}
