"""A strategy object searches: its runner asks the program to evaluate, by the protocol of strategies that are programs.

The object runs in the thread that called tune_kernel. While it waits for results in runner.run, the lines and the
questions of the program are handled; while it computes, they wait.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ndtune import util
from ndtune._space import Space, Values
from ndtune.searchspace import Searchspace

if TYPE_CHECKING:
    from ndtune._outcome import Task

Found = list[util.Result | None]


class Conversation:
    """The program's questions to a strategy, answered by what evaluate was asked for.

    pump handles the next line or question, False at the end of the run; send says something to the program; lookup has
    the result of a configuration, once its line has come.
    """

    def __init__(
        self,
        space: Space,
        pump: Callable[[], bool],
        send: Callable[[dict[str, Any]], None],
        lookup: Callable[[Values], util.Result | None],
    ) -> None:
        self._space, self._pump, self._send, self._lookup = space, pump, send, lookup
        self._wanted: deque[Values] = deque()
        self._due: set[Values] = set()
        self._refused: dict[Values, util.Result] = {}
        self._asked = 0  # how many configurations the program waits for
        self._ended = False

    def answer(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """Answer a message of the program; None if the answer comes later, or never."""
        if "hello" in message:
            return {"ready": message["hello"]["protocol"]}
        for told in message.get("tell", ()):
            configuration = self._space.configuration(told["configuration"])
            values = self._space.values(configuration)
            self._due.discard(values)
            if told["status"] == "constraints":
                failed = {**configuration, "__error__": util.InvalidConfig()}
                self._refused[values] = util.copy_without_benchmark_timings(failed)
        self._asked = message.get("ask", self._asked)
        return self._proposal()

    def _proposal(self) -> dict[str, Any] | None:
        """The answer to the open question, if there is one and the strategy has made up its mind."""
        if not self._asked or not (self._wanted or self._due or self._ended):
            return None
        taken = [self._wanted.popleft() for _ in range(min(self._asked, len(self._wanted)))]
        self._asked = 0
        if not taken and not self._due:
            return {"end": True}
        self._due.update(taken)
        return {"propose": [self._space.plain(dict(zip(self._space.names, v, strict=True))) for v in taken]}

    def _speak(self) -> None:
        if proposal := self._proposal():
            self._send(proposal)

    def evaluate(self, configurations: list[Values]) -> Found:
        """Return the results of configurations, None where the run ended before."""

        def found(values: Values) -> util.Result | None:
            return self._lookup(values) or self._refused.get(values)

        self._wanted.extend(dict.fromkeys(values for values in configurations if not found(values)))
        self._speak()
        while not all(map(found, configurations)) and self._pump():
            pass
        return [found(values) for values in configurations]

    def end(self) -> None:
        """Tell the program that there is nothing more to propose."""
        self._ended = True
        self._speak()


class Runner:
    """What strategy objects call: run evaluates configurations within the budget of tuning_options."""

    def __init__(self, evaluate: Callable[[list[Values]], Found]) -> None:
        self._evaluate = evaluate
        self._seen: set[Values] = set()

    def run(self, parameter_space: Iterable[Any], tuning_options: util.Options) -> Found:
        """Return the results of configurations, in their order; None for those that the budget does not cover.

        A repeated configuration counts too; it has the result of the first time, without times for building and
        measuring.
        """
        wanted = [tuple(values) for values in parameter_space]
        taken = []
        for values in wanted:
            if not tuning_options.budget.is_done():
                tuning_options.budget.add_evaluations(1)
                taken.append(values)
        results = self._evaluate(taken)
        for i, values in enumerate(taken):
            result = results[i]
            if result is not None and values in self._seen:
                results[i] = util.copy_without_benchmark_timings(result)
            self._seen.add(values)
        return results + [None] * (len(wanted) - len(taken))


def search(
    task: Task, searchspace: Searchspace, evaluate: Callable[[list[Values]], Found], budget: util.TuningBudget
) -> list[util.Result] | None:
    """Let the strategy object of a task search, and return what it returns."""
    options = util.Options(
        task,
        strategy_options=util.Options(task.strategy_options or {}),
        tune_params=searchspace.tune_params,
        objective=list(task.objectives),
        objective_higher_is_better=list(task.objectives.values()),
        budget=budget,
        **({} if task.plan.max_fevals is None else {"max_fevals": task.plan.max_fevals}),
    )
    return task.plan.object.tune(searchspace, Runner(evaluate), options)
