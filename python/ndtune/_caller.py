"""What the caller sees: the tracebacks of exceptions and the places of warnings are those of the caller's code."""

from __future__ import annotations

import dis
import functools
import os
import sys
import warnings
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

_F = TypeVar("_F", bound=Callable[..., Any])
_PACKAGE = os.path.dirname(__file__) + os.sep


def outermost(function: _F) -> _F:
    """A function whose exceptions show where it was called and where the caller's own functions failed.

    Of the package they show the lines that called those. What is a fault of the package keeps all its lines.
    """

    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        try:
            return function(*arguments, **named)
        except BaseException as error:
            raise error.with_traceback(_shortened(error))  # noqa: B904

    return call  # type: ignore[return-value]


def _shortened(error: BaseException) -> TracebackType | None:
    entries, entry = [], error.__traceback__
    while entry:
        entries.append(entry)
        entry = entry.tb_next
    inside = [entry.tb_frame.f_code.co_filename.startswith(_PACKAGE) for entry in entries]
    last = entries[-1]
    meant = dis.opname[last.tb_frame.f_code.co_code[last.tb_lasti]] == "RAISE_VARARGS"
    if inside[-1] and not meant and not isinstance(error, KeyboardInterrupt):
        return error.__traceback__
    kept = None
    for i in reversed(range(len(entries))):
        if not inside[i] or i + 1 < len(entries) and not inside[i + 1]:
            kept = TracebackType(kept, entries[i].tb_frame, entries[i].tb_lasti, entries[i].tb_lineno)
    return kept


def warn(text: str) -> None:
    """Give a warning (UserWarning) at the caller's line."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, UserWarning, stacklevel=level)
