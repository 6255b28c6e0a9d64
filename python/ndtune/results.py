"""The results of a search: a list of dictionaries, as Kernel Tuner returns it. A notebook shows a table and a curve.

`Progress` shows a running search: lines of text in a terminal, one line that is updated in place in a notebook. The
curve takes its colours from the text around it, so that it suits light and dark themes.
"""

from __future__ import annotations

import html
import io
import math
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ._binary import find

# The table of a notebook has the best of the results.
ROWS = 10
ACCENT = "#3b82c4"  # readable on white and on black


def in_notebook() -> bool:
    """Whether the caller's output goes to a notebook, where displays can be updated."""
    if "IPython" not in sys.modules:
        return False
    shell = sys.modules["IPython"].get_ipython()
    return shell is not None and hasattr(shell, "kernel")


def _failed(row: Mapping[str, Any]) -> bool:
    return "__error__" in row


def _number(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}" if math.isfinite(value) else "–"
    return str(value)


class Results(list[dict[str, Any]]):
    """The results of a search in the order of their evaluation, one dictionary for each configuration.

    The keys are those of Kernel Tuner: the parameters, `time` (the median, in ms), `times`, the metrics, and the times
    of the stages in ms. A failure has `__error__` instead of times, and the `reason`.
    """

    def __init__(
        self,
        rows: Sequence[dict[str, Any]] = (),
        *,
        tune_params: Mapping[str, Sequence[Any]] | None = None,
        objectives: Mapping[str, bool] | None = None,
        metrics: Sequence[str] = (),
        units: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(rows)
        self.tune_params = dict(tune_params or {})
        self.objectives = dict(objectives or {"time": False})
        self.metrics = list(metrics)
        self.units = dict(units or {"time": "ms"})
        self.env: dict[str, Any] = {}
        self.lines: list[str] = []  # of the run log

    def __reduce__(self) -> tuple[Any, ...]:  # a copy by pickle, copy or a process pool is a plain list
        return (list, (list(self),))

    @property
    def objective(self) -> str:
        """The name of the first objective."""
        return next(iter(self.objectives))

    @property
    def df(self) -> Any:
        """The results as a pandas.DataFrame; pandas must be installed."""
        try:
            import pandas
        except ImportError:
            raise ImportError("results.df needs pandas: pip install pandas") from None
        return pandas.DataFrame(list(self))

    def correct(self) -> list[dict[str, Any]]:
        """The results with a value of the first objective, the best first."""
        name, higher = next(iter(self.objectives.items()))
        rows = [r for r in self if not _failed(r) and isinstance(r.get(name), (int, float)) and math.isfinite(r[name])]
        return sorted(rows, key=lambda r: r[name], reverse=higher)

    def figure(self, *parameters: str) -> Any:
        """A matplotlib figure of the results.

        Without a parameter: the objective of each evaluation and the best so far. With one: the objective over its
        values. With two: a heat map of the best objective for each pair of values. matplotlib must be installed.
        """
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise ImportError("results.figure() needs matplotlib: pip install matplotlib") from None

        class Picture(Figure):  # type: ignore[misc,valid-type,unused-ignore]
            """A figure that a notebook shows, also where pyplot was never imported."""

            def _repr_png_(self) -> bytes:
                page = io.BytesIO()
                self.savefig(page, format="png", dpi=100)
                return page.getvalue()

        for p in parameters:
            if p not in self.tune_params:
                raise ValueError(f"figure: there is no parameter {p}; there are {', '.join(self.tune_params)}")
        if len(parameters) > 2:
            raise ValueError("figure: give at most two parameters")
        rows = self.correct()
        if not rows:
            raise ValueError("figure: no configuration is correct")
        figure = Picture(figsize=(6.4, 4), layout="constrained")
        axes = figure.add_subplot()
        label = self._label(self.objective)
        if len(parameters) == 2:
            self._heat_map(figure, axes, rows, *parameters)
        elif parameters:
            name = parameters[0]
            values = list(dict.fromkeys(self.tune_params[name]))
            groups = {str(v): [r[self.objective] for r in rows if r[name] == v] for v in values}
            groups = {v: times for v, times in groups.items() if times}
            axes.boxplot(list(groups.values()))
            axes.set_xticks(range(1, len(groups) + 1), list(groups))
            axes.set(xlabel=name, ylabel=label)
        else:
            points, best = self._curve()
            axes.plot([x for x, _ in points], [y for _, y in points], ".", color="0.6", label="each configuration")
            axes.step([x for x, _ in best], [y for _, y in best], where="post", color=ACCENT, label="best so far")
            axes.set(xlabel="evaluations", ylabel=label, yscale="log" if _wide(points) else "linear")
            axes.locator_params(axis="x", integer=True)
            axes.legend()
        return figure

    def _heat_map(self, figure: Any, axes: Any, rows: list[dict[str, Any]], x: str, y: str) -> None:
        across, down = (list(dict.fromkeys(self.tune_params[n])) for n in (x, y))
        grid = [[math.nan] * len(across) for _ in down]
        for r in reversed(rows):  # the best is written last
            grid[down.index(r[y])][across.index(r[x])] = r[self.objective]
        colours = "viridis" if self.objectives[self.objective] else "viridis_r"  # the better, the brighter
        image = axes.imshow(grid, aspect="auto", origin="lower", cmap=colours)
        axes.set_xticks(range(len(across)), map(str, across))
        axes.set_yticks(range(len(down)), map(str, down))
        axes.set(xlabel=x, ylabel=y)
        figure.colorbar(image, label=self._label(self.objective))

    def report(self, path: str | os.PathLike[str] | None = None) -> Any:
        """The report of ndtune: embedded in a notebook, or written to `path` as a page of its own (.html)."""
        _, text = _ask_program("report", [self], ".html", ["--fragment"] if path is None else [])
        if path is None:
            return Html(text)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return None

    def compare(self, *others: Results) -> Any:
        """The comparison of these results with others of the same problem: what the best of each costs elsewhere.

        They are those of other devices, or of the other language, if kernel_source had a source for each. A notebook
        shows tables, print a text (docs/compare.md).
        """
        if not others:
            raise TypeError("compare: give the results of another device or language")
        return Comparison(*_ask_program("compare", [self, *others], ".md"))

    def _configuration(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(row[n] for n in self.tune_params)

    def _label(self, name: str) -> str:
        return f"{name} ({self.units[name]})" if name in self.units else name

    def _curve(self) -> tuple[list[tuple[int, float]], list[tuple[int, float]]]:
        """The objective of each correct evaluation, and of each that was the best so far, by its number from 1."""
        name, higher = next(iter(self.objectives.items()))
        points = [
            (i, float(r[name]))
            for i, r in enumerate(self, 1)
            if not _failed(r) and isinstance(r.get(name), (int, float)) and math.isfinite(r[name])
        ]
        best: list[tuple[int, float]] = []
        for i, v in points:
            if not best or (v > best[-1][1] if higher else v < best[-1][1]):
                best.append((i, v))
        if best:
            best.append((len(self), best[-1][1]))
        return points, best

    def _repr_html_(self) -> str:
        rows, failed = self.correct(), [r for r in self if _failed(r)]
        columns = [*self.tune_params, *self.objectives, *(m for m in self.metrics if m not in self.objectives)]
        labels = [self._label(c) for c in columns]
        finals = {tuple(f[n] for n in self.tune_params): f["time"] for f in self.env.get("finals", ())}
        if finals:  # the final measurement ranks them, the others follow
            labels.append("measured again (ms)")
            rows.sort(key=lambda r: finals.get(self._configuration(r), math.inf))
        best = self.env.get("best_config")
        head = f"<b>{_count(len(self), 'configuration')}</b>" + (f", {len(failed)} failed" if failed else "")
        if isinstance(best, dict):
            text = ", ".join(f"{n}={_number(best[n])}" for n in self.tune_params if n in best)
            head += f"; best: <code>{html.escape(text)}</code>, {html.escape(self._value(self.objective, best))}"
        parts = [f'<div style="max-width:60em"><p>{head}</p>', self._svg()]
        if rows:
            cells = [[_number(r.get(c, "")) for c in columns] for r in rows[:ROWS]]
            for r, line in zip(rows, cells, strict=False):
                line += [_number(finals.get(self._configuration(r), ""))] if finals else []
            parts.append(_table(labels, cells))
            if len(rows) > ROWS:
                parts.append(f"<p>The {ROWS} best of {len(rows)}.</p>")
        if failed:
            kinds = Counter((str(r["__error__"]), str(r.get("reason", "")).split("\n")[0][:160]) for r in failed)
            parts.append(_table(["failed", "how", "reason"], [[str(n), *what] for what, n in kinds.most_common(5)]))
        return "".join(parts) + "</div>"

    def _value(self, name: str, row: Mapping[str, Any]) -> str:
        return f"{name}={_number(row.get(name))}" + (f" {self.units[name]}" if name in self.units else "")

    def _svg(self) -> str:
        """The objective of each evaluation and the best so far, in the colour of the surrounding text."""
        points, best = self._curve()
        if len(points) < 2:
            return ""
        width, height, left, top, bottom = 640, 210, 64, 24, 26
        scale = math.log10 if _wide(points) else float
        low, high = scale(min(v for _, v in points)), scale(max(v for _, v in points))
        span = (high - low) or 1.0

        def at(i: int, v: float) -> tuple[float, float]:
            x = left + (width - left - 8) * (i - 1) / max(1, len(self) - 1)
            return round(x, 1), round(top + (height - bottom - top - 8) * (high - scale(v)) / span, 1)

        dots = "".join(f'<circle cx="{x}" cy="{y}" r="2"/>' for x, y in (at(*p) for p in points))
        path = f"M{at(*best[0])[0]},{at(*best[0])[1]}" + "".join(f"H{x}V{y}" for x, y in (at(*p) for p in best[1:]))
        ends = [(at(1, v)[1], _number(float(v))) for v in (max(v for _, v in points), min(v for _, v in points))]
        labels = "".join(f'<text x="{left - 6}" y="{y + 4}" text-anchor="end">{t}</text>' for y, t in ends)
        base = height - bottom
        return (
            f'<svg viewBox="0 0 {width} {height}" style="max-width:{width}px;width:100%" role="img" '
            f'aria-label="best {html.escape(self.objective)} after each evaluation" font-size="11" fill="currentColor">'
            f'<path d="M{left},{top - 8}V{base}H{width - 4}" fill="none" stroke="currentColor" opacity=".5"/>{labels}'
            f'<text x="{left}" y="{height - 8}">1</text><text x="{width - 4}" y="{height - 8}" text-anchor="end">'
            f"{_count(len(self), 'evaluation')}</text>"
            f'<text x="{left}" y="10">{html.escape(self._label(self.objective))}, line: best so far</text>'
            f'<g opacity=".45">{dots}</g><path d="{path}" fill="none" stroke="{ACCENT}" stroke-width="2"/></svg>'
        )


def _ask_program(command: str, results: Sequence[Results], kind: str, options: Sequence[str] = ()) -> tuple[str, str]:
    """What a command of the program prints of the run logs of results, and the file of a kind that it writes."""
    with tempfile.TemporaryDirectory(prefix="ndtune-") as folder:
        made = os.path.join(folder, "made" + kind)
        logs: list[str] = []
        for one in results:
            if not one.lines:
                what = "results without a run log, such as those of a simulation or of a plain list"
                raise ValueError(f"{command}: {what}")
            logs.append(os.path.join(folder, f"run{len(logs)}.jsonl"))
            with open(logs[-1], "w", encoding="utf-8") as f:
                f.writelines(line.rstrip("\n") + "\n" for line in one.lines)
        said = subprocess.run([find(), command, *logs, "-o", made, *options], capture_output=True, encoding="utf-8")
        if not os.path.exists(made):
            raise RuntimeError(said.stderr.strip())
        with open(made, encoding="utf-8") as f:
            return said.stdout, f.read()


class Comparison:
    """A comparison of results: a text, and tables in a notebook."""

    def __init__(self, text: str, markdown: str) -> None:
        self.text, self.markdown = text, markdown

    def __repr__(self) -> str:
        return self.text

    def _repr_markdown_(self) -> str:
        return self.markdown


class Html:
    """HTML that a notebook shows."""

    def __init__(self, text: str) -> None:
        self.text = text

    def _repr_html_(self) -> str:
        return self.text


def _count(n: int, what: str) -> str:
    return f"{n} {what}" + ("" if n == 1 else "s")


def _wide(points: Sequence[tuple[int, float]]) -> bool:
    """Whether values belong on a logarithmic axis."""
    values = [v for _, v in points]
    return bool(values) and min(values) > 0 and max(values) > 10 * min(values)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    cells = "".join(f"<th>{html.escape(h)}</th>" for h in head)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(v)}</td>" for v in r) + "</tr>" for r in rows)
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"


class Progress:
    """Shows a running search: `begin`, then `row` for each result and `note` for messages, then `end`.

    mode: "text" prints lines, "notebook" updates one display in place, "none" shows nothing, None finds out.
    """

    def __init__(self, results: Results, quiet: bool = False, mode: str | None = None) -> None:
        if mode not in (None, "text", "notebook", "none"):
            raise ValueError(f"progress must be 'text', 'notebook', 'none' or None, not {mode!r}")
        self.results = results
        self.mode = "none" if quiet else mode or ("notebook" if in_notebook() else "text")
        self._display: Any = None
        self._total: int | None = None
        self._best: dict[str, Any] | None = None

    def begin(self, device: str, total: int | None) -> None:
        """Names the device, and the number of configurations that will be evaluated, if it is known."""
        self._total = total
        if self.mode == "text":
            print(f"Using: {device}")
        elif self.mode == "notebook":
            from IPython.display import display

            self._display = display(Html(f"{html.escape(device)}: the search begins …"), display_id=True)

    def row(self, row: dict[str, Any], text: str | None) -> None:
        """Shows a result; text is its line, None for a failure."""
        if self.mode == "text" and text is not None:
            print(text)
        if self._display is None:
            return
        name, higher = next(iter(self.results.objectives.items()))
        if not _failed(row) and isinstance(row.get(name), (int, float)):
            if self._best is None or (row[name] > self._best[name]) == higher and row[name] != self._best[name]:
                self._best = row
        done, bar = len(self.results), ""
        if self._total:
            bar = f'<progress value="{done}" max="{self._total}"></progress> '
        best = "none correct yet"
        if self._best is not None:
            values = ", ".join(f"{n}={self._best[n]}" for n in self.results.tune_params)
            best = f"best: <code>{html.escape(values)}</code>, {html.escape(self.results._value(name, self._best))}"
        of = f" of {self._total}" if self._total else ""
        self._display.update(Html(f"{bar}{done}{of} configurations; {best}"))

    def note(self, text: str) -> None:
        """Shows a message."""
        if self.mode == "text":
            print(text)
        elif self.mode == "notebook":
            from IPython.display import display

            display(Html(f"<i>{html.escape(text)}</i>"))

    def end(self) -> None:
        """The search is over: the display of a notebook keeps one line."""
        if self._display is not None:
            failed = sum(map(_failed, self.results))
            text = _count(len(self.results), "configuration") + (f", {failed} failed" if failed else "")
            self._display.update(Html(text))
