"""Kernel Tuner's strategies and their options, as those of the program.

table.json has for each strategy there the program's that is used, and for each option its default there and its
counterpart: an option, the strategy itself, or "" for one that limits or chooses only and needs none. values has the
counterparts of values, null for those without; limit has the factors of the number of evaluations without max_fevals,
numbers and options; start says whether x0 is taken. A note says where another strategy takes the place, and what has
no counterpart.

A strategy can also be an object with a method tune(searchspace, runner, tuning_options): see the modules driver and
wrapper.
"""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ndtune._space import Space

_TABLE: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("table.json").read_text())
_OWN = ("auto", "prior_ranking")
COMMON = ("max_fevals", "time_limit", "x0", "searchspace_construction_options")

strategy_map = {name: SimpleNamespace(_options=entry["options"], _name=name) for name, entry in _TABLE.items()}


def __getattr__(name: str) -> Any:
    """A strategy as an attribute, as Kernel Tuner has modules: `strategy=ndtune.strategies.minimize`."""
    if name in strategy_map:
        return strategy_map[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@dataclass
class Plan:
    """How the program searches: arguments of its command line, or the object that does it instead.

    asked and used are for the environment: what tune_kernel was asked for, and the program's strategy.
    """

    asked: str
    used: str
    arguments: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    object: Any = None
    max_fevals: int | None = None
    time_limit: float | None = None  # seconds


def plan(
    strategy: Any, options: Mapping[str, Any] | None, space: Space, seed: int | None, size: Callable[[], int]
) -> Plan:
    """Plan a search by a strategy's name, an object, or None for brute force. size counts the configurations.

    Raises ValueError for an unknown name, option or value, as Kernel Tuner does.
    """
    options = dict(options or {})
    strategy = getattr(strategy, "_name", strategy) or "brute_force"
    common = {name: options.pop(name) for name in COMMON if name in options and strategy != "brute_force"}
    if callable(getattr(strategy, "tune", None)):
        made = Plan(type(strategy).__name__, type(strategy).__name__, object=strategy)
    elif strategy in _OWN:
        made = Plan(_text(strategy, options), strategy, ["--strategy", _text(strategy, options)])
    elif isinstance(strategy, str) and strategy in _TABLE:
        made = _translated(strategy, options, common, len(space.names), size)
    else:
        raise ValueError(f"Unkown strategy {strategy}, must be one of: {', '.join([*_TABLE, *_OWN])}")
    made.max_fevals, made.time_limit = common.get("max_fevals", made.max_fevals), common.get("time_limit")
    if made.max_fevals is not None:
        if made.max_fevals <= 0:
            raise ValueError("max_fevals must be greater than zero")
        made.arguments += ["--max-evals", str(int(made.max_fevals))]
    x0 = common.get("x0")
    if x0 is not None and made.object is None:
        n = len(space.names)
        if not isinstance(x0, (tuple, list)) or len(x0) != n:
            raise AssertionError(f"Invalid x0: {x0}, expected number of parameters of `tune_params` to match ({n})")
        start = space.plain(dict(zip(space.names, x0, strict=True)))
        made.arguments += ["--start", pairs(start)]
    if seed is not None:
        made.arguments += ["--seed", str(operator.index(seed))]
    return made


def _translated(
    name: str, options: dict[str, Any], common: dict[str, Any], dimensions: int, size: Callable[[], int]
) -> Plan:
    """Plan a search by a name of the table."""
    entry = _TABLE[name]
    accepted = [*entry["options"], *(c for c in COMMON if entry.get("start", True) or c != "x0")]
    accepted = [] if name == "brute_force" else accepted
    for option in [*options, *common]:
        if option not in accepted:
            raise ValueError(f"Unrecognized option {option} in strategy_options (allowed: {accepted})")
    if name == "diff_evo" and "popsize" in options and options.get("popsize_times_dimensions", True):
        options["popsize"] *= dimensions
    used, missing, ours = entry["used"], [], {}
    for option, value in options.items():
        counterpart = (*entry["options"].get(option, ()), None, None)[1]
        if choices := entry.get("values", {}).get(option):
            if str(value) not in choices:
                raise ValueError(f"'{option}' of {name} is set to {value}, but must be one of {list(choices)}")
            value = choices[str(value)]
        if counterpart == "strategy":
            used = value
        elif counterpart and value is not None:
            least = {"popsize": 4 if used == "diff_evo" else 2, "initial": 2}.get(counterpart)
            value = max(1, round(1 / value)) if option == "mutation_prob" else value
            ours[counterpart] = value if least is None else max(int(value), least)
        elif choices or counterpart is None and not (option == "constraint_aware" and value):
            missing.append(option)
    notes = [f"ndtune has no strategy {name}: {used} takes its place"] if entry["used"] != name else []
    notes += [f"{used} runs without the options {', '.join(missing)}, which have no counterpart"] if missing else []
    made = Plan(_text(name, options), _text(used, ours), ["--strategy", _text(used, ours)], notes)
    given = {option: options.get(option, default) for option, (default, *_) in entry["options"].items()}
    limit = math.prod(given.get(factor, factor) for factor in entry.get("limit", [math.inf]))
    if name == "random_sample" and "max_fevals" not in common:
        if not 0 <= given["fraction"] <= 1:
            raise AssertionError(f"the option fraction is {given['fraction']}, but must be between 0 and 1")
        limit = max(1, math.ceil(size() * given["fraction"]))
    made.max_fevals = int(limit) if limit < 10**9 else None
    return made


def pairs(values: Mapping[str, Any]) -> str:
    """A configuration, or options, as the command line has them."""
    return ",".join(f"{k}={str(v).lower() if isinstance(v, bool) else v}" for k, v in values.items())


def _text(name: str, options: Mapping[str, Any]) -> str:
    return f"{name}:{pairs(options)}" if options else name
