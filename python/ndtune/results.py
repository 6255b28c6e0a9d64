"""What tune_kernel returns: a list of dictionaries, one for each configuration."""

from __future__ import annotations

from typing import Any


class Results(list[dict[str, Any]]):
    """The results of a search, with Kernel Tuner's keys; lines are those of the run log, which reports are made of."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.env: dict[str, Any] = {}
        self.lines: list[str] = []
        self.parameters: list[str] = []
        self.objectives: list[tuple[str, bool]] = [("time", False)]
