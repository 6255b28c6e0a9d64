"""Kernel Tuner's strategies and their options, as those of the program.

Most have a strategy of the same name in the program. Where another one takes the place, and where an option has no
counterpart, a note says so. A strategy can also be an object with a method tune(searchspace, runner, tuning_options):
see the modules driver and wrapper.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ndtune._space import Space

Given = dict[str, Any]


@dataclass
class Strategy:
    """A strategy of Kernel Tuner: the program's that is used, and the options, each with its default there.

    names has the options with a counterpart, by its name; values their values, where those differ: None has none.
    limit is the number of evaluations without max_fevals, of all options. free strategies ignore unknown options there.
    """

    used: str
    _options: dict[str, tuple[str, Any]]
    names: dict[str, str] = field(default_factory=dict)
    values: dict[str, dict[Any, Any]] = field(default_factory=dict)
    limit: Callable[[Given], float] = lambda given: math.inf
    start: bool = True
    free: bool = False


def _strategy(used: str, same: str = "", names: Mapping[str, str] | None = None, /, **more: Any) -> Strategy:
    """An entry of the table: same are options of the same name; what is no field of Strategy is an option's default."""
    fields = {name: more.pop(name) for name in ("values", "limit", "start", "free") if name in more}
    options = {name: (f"see the strategy {used}", default) for name, default in more.items()}
    return Strategy(used, options, {name: name for name in same.split()} | dict(names or {}), **fields)


def _generations(given: Given) -> float:
    return given["popsize"] * given["maxiter"]


_LOCAL: Given = {"limit": lambda given: 100, "neighbor": "Hamming", "restart": True, "order": None, "randomize": True}
_SCIPY = dict.fromkeys("Nelder-Mead Powell CG BFGS L-BFGS-B TNC COBYLA SLSQP trust-constr".split())
_CROSSOVERS = {name: name for name in ("single_point", "two_point", "uniform", "disruptive_uniform")}
_METHODS: Given = {f"{base}{n}{kind}": None for base in ("best", "rand") for n in (1, 2) for kind in ("bin", "exp")}
_METHODS |= dict.fromkeys(["currenttobest1exp", "randtobest1bin", "randtobest1exp"])
_METHODS |= {name: name for name in ("best1bin", "rand1bin", "currenttobest1bin")}
_ACQUISITIONS = dict.fromkeys(["multi", "multi-advanced", "multi-fast", "multi-ultrafast"])
_ACQUISITIONS |= {"ei": "ei", "poi": "pi", "lcb": "lcb", "lcb-srinivas": "lcb"}
_KERNELS = {"matern32": "matern32", "matern52": "matern52", "rbf": None, "constantrbf": None}
_PYMOO = {"two-point-crossover": "two_point", "single-point-crossover": "single_point", "uniform-crossover": "uniform"}
_NSGA: Given = {"start": False, "popsize": 20, "crossover_operator": "two-point-crossover", "crossover_prob": 1.0}
_NSGA |= {"mutation_prob": 0.1, "ref_dirs_list": [], "values": {"crossover_operator": _PYMOO}}
_NSGA_NAMES = {"crossover_operator": "method", "mutation_prob": "mutation_chance"}

strategy_map: dict[str, Strategy] = {
    "brute_force": _strategy("brute_force"),
    "random_sample": _strategy("random_sample", fraction=0.1, start=False),
    "minimize": _strategy("mls", method="L-BFGS-B", values={"method": _SCIPY}, limit=lambda given: 100),
    "basinhopping": _strategy("basinhopping", method="L-BFGS-B", T=1.0, values={"method": _SCIPY}),
    "diff_evo": _strategy(
        "diff_evo", "popsize F CR method", popsize=16, popsize_times_dimensions=True, maxiter=10**15, F=0.7, CR=0.6,
        method="best1bin", constraint_aware=True, values={"method": _METHODS}, limit=_generations,
    ),
    "genetic_algorithm": _strategy(
        "genetic_algorithm", "popsize method mutation_chance", popsize=26, maxiter=90, method="single_point",
        mutation_chance=55, constraint_aware=True, values={"method": _CROSSOVERS}, limit=_generations,
    ),
    "greedy_mls": _strategy("greedy_mls", "neighbor", **_LOCAL),
    "ordered_greedy_mls": _strategy("greedy_mls", "neighbor", **_LOCAL | {"randomize": False}),
    "greedy_ils": _strategy(
        "greedy_ils", "neighbor", {"random_walk": "perturbation_size"}, neighbor="Hamming", restart=True,
        no_improvement=50, random_walk=0.3, limit=lambda given: 100,
    ),
    "dual_annealing": _strategy("dual_annealing", method="COBYLA", values={"method": _SCIPY}),
    "mls": _strategy("mls", "neighbor", **_LOCAL | {"restart": False}),
    "pso": _strategy(
        "pso", "popsize w c1 c2", popsize=50, maxiter=190, w=0.5, c1=3.5, c2=1.0, constraint_aware=True,
        limit=_generations,
    ),
    "simulated_annealing": _strategy(
        "simulated_annealing", "T T_min alpha maxiter", T=0.1, T_min=0.0001, alpha=0.9975, maxiter=1,
        constraint_aware=True, limit=lambda given: math.ceil(math.log(given["T_min"]) / math.log(given["alpha"])),
    ),
    "skopt": _strategy(
        "bayes_opt", "", {"acq_func": "acquisition", "kappa": "exploration", "num_initial": "initial"}, learner="RF",
        acq_func="gp_hedge", lie_strategy="cl_max", kappa=1.96, num_initial=None, batch_size=1, skopt_kwargs={},
        values={"acq_func": {"LCB": "lcb", "EI": "ei", "PI": "pi", "gp_hedge": None}},
    ),
    "firefly_algorithm": _strategy(
        "firefly_algorithm", "popsize B0 gamma alpha", popsize=20, maxiter=100, B0=1.0, gamma=1.0, alpha=0.2,
        constraint_aware=True, limit=_generations,
    ),
    "bayes_opt": _strategy(
        "bayes_opt", "", {"popsize": "initial", "method": "acquisition", "covariancekernel": "kernel"},
        covariancekernel="matern32", covariancelengthscale=1.5, method="multi-ultrafast", samplingmethod="lhs",
        popsize=20, values={"method": _ACQUISITIONS, "covariancekernel": _KERNELS}, limit=lambda given: 100,
        start=False, free=True,
    ),
    "pyatf_strategies": _strategy(
        "simulated_annealing", searchtechnique="simulated_annealing", use_searchspace_cache=False, start=False
    ),
    "hybrid_vndx": _strategy(
        "greedy_ils", budget=5000, k=5, cand_pool=8, restart_iter=100, tabu_size=300, elite_size=5, temp0=1.0,
        cooling=0.995, constraint_aware=True, start=False, limit=lambda given: given["budget"],
    ),
    "adaptive_tabu_greywolf": _strategy(
        "pso", "", {"pack_size": "popsize"}, budget=5000, pack_size=8, tabu_factor=3, shake_rate=0.2, jump_rate=0.15,
        stagn_limit=80, restart_ratio=0.3, t0=1.0, t_decay=5.0, t_min=1e-4, constraint_aware=True, start=False,
        limit=lambda given: given["budget"],
    ),
    "nsga2": _strategy("nsga2", "popsize", _NSGA_NAMES, **_NSGA),
    "nsga3": _strategy("nsga2", "popsize", _NSGA_NAMES, **_NSGA),
}  # fmt: skip

_TECHNIQUES = {"simulated_annealing": "simulated_annealing", "differential_evolution": "diff_evo"}
_TECHNIQUES |= {"pattern_search": "mls", "torczon": "mls", "auc_bandit": "auto", "round_robin": "auto"}
_OWN = ("auto", "prior_ranking")
# Options that are no parameter of a search, but choose one or limit it.
_STEERING = {"maxiter", "fraction", "budget", "restart", "popsize_times_dimensions"}
_STEERING |= {"searchtechnique", "use_searchspace_cache"}
_COMMON = ("max_fevals", "time_limit", "x0", "searchspace_construction_options")
_SMALLEST = {"diff_evo": 4, "bayes_opt": 2}  # populations that the program takes; 2 for the others


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
    options: Given = field(default_factory=dict)  # of an object
    max_fevals: int | None = None
    time_limit: float | None = None  # seconds


def plan(
    strategy: Any,
    options: Mapping[str, Any] | None,
    space: Space,
    seed: int | None,
    size: Callable[[], int],
) -> Plan:
    """Plan a search by a strategy's name, an object, or None for brute force. size counts the configurations.

    Raises ValueError for an unknown name, option or value, as Kernel Tuner does.
    """
    options = dict(options or {})
    strategy = strategy or "brute_force"
    common = {name: options.pop(name) for name in _COMMON if name in options and strategy != "brute_force"}
    if not isinstance(strategy, str):
        if not callable(getattr(strategy, "tune", None)):
            raise ValueError(f"Unkown strategy {strategy}, must be one of: {', '.join([*strategy_map, *_OWN])}")
        made = Plan(type(strategy).__name__, type(strategy).__name__, object=strategy, options={**options, **common})
    elif strategy in _OWN:
        made = Plan(_text(strategy, options), strategy)
        made.arguments = ["--strategy", _text(strategy, options)]
    elif strategy in strategy_map:
        made = _translated(strategy, options, common, len(space.names), size)
    else:
        raise ValueError(f"Unkown strategy {strategy}, must be one of: {', '.join([*strategy_map, *_OWN])}")
    made.max_fevals = common.get("max_fevals", made.max_fevals)
    made.time_limit = common.get("time_limit")
    if made.max_fevals is not None:
        if made.max_fevals <= 0:
            raise ValueError("max_fevals must be greater than zero")
        made.arguments += ["--max-evals", str(int(made.max_fevals))]
    if (x0 := common.get("x0")) is not None and made.object is None:
        if not isinstance(x0, (tuple, list)) or len(x0) != len(space.names):
            count = len(space.names)
            raise AssertionError(f"Invalid x0: {x0}, expected number of parameters of `tune_params` to match ({count})")
        start = space.plain(dict(zip(space.names, x0, strict=True)))
        made.arguments += ["--start", ",".join(f"{name}={_plain(value)}" for name, value in start.items())]
    if seed is not None:
        made.arguments += ["--seed", str(seed)]
    return made


def _translated(name: str, options: Given, common: Given, dimensions: int, size: Callable[[], int]) -> Plan:
    """Plan a search by a name of the table."""
    entry = strategy_map[name]
    accepted = [*entry._options, *(c for c in _COMMON if entry.start or c != "x0")] if name != "brute_force" else []
    for option in [*options, *common]:
        if option not in accepted and not (entry.free and option != "x0"):
            raise ValueError(f"Unrecognized option {option} in strategy_options (allowed: {accepted})")
    given = {option: options.get(option, default) for option, (_, default) in entry._options.items()}
    used, notes, ours = entry.used, [], {}
    if name == "pyatf_strategies":
        used = _chosen(name, "searchtechnique", given["searchtechnique"], _TECHNIQUES)
    elif entry.used in ("mls", "greedy_mls") and name != "minimize":
        used = "greedy_mls" if given["restart"] else "mls"
    if name == "diff_evo":
        given["popsize"] *= dimensions if given["popsize_times_dimensions"] else 1
        options |= {"popsize": given["popsize"]} if "popsize" in options else {}
    if entry.used != name:
        notes.append(f"ndtune has no strategy {name}: {used} takes its place")
    for option, value in options.items():
        if option in entry.values:
            value = _chosen(name, option, value, entry.values[option])
        counterpart = entry.names.get(option)
        if counterpart is None or value is None:
            if option not in _STEERING and not (option == "constraint_aware" and value):
                notes.append(f"the option {option} of {name} has no counterpart: {used} runs without it")
            continue
        if counterpart in ("popsize", "initial"):
            value = max(int(value), _SMALLEST.get(used, 2))
        ours[counterpart] = max(1, round(1 / value)) if option == "mutation_prob" else value
    limit = entry.limit(given)
    if name == "random_sample":
        if not 0 <= given["fraction"] <= 1:
            raise AssertionError(f"the option fraction is {given['fraction']}, but must be between 0 and 1")
        limit = math.inf if "max_fevals" in common else max(1, math.ceil(size() * given["fraction"]))
    made = Plan(_text(name, options), _text(used, ours), ["--strategy", _text(used, ours)], notes)
    made.max_fevals = int(limit) if limit < 10**9 else None
    return made


def _chosen(name: str, option: str, value: Any, choices: Mapping[Any, Any]) -> Any:
    if value not in choices:
        raise ValueError(f"'{option}' of {name} is set to {value}, but must be one of {list(choices)}")
    return choices[value]


def _text(name: str, options: Mapping[str, Any]) -> str:
    return ":".join([name, *([",".join(f"{k}={_plain(v)}" for k, v in options.items())] if options else [])])


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
