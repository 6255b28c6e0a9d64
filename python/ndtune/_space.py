"""The space of a search: the parameters as the user and as the program has them, and the restrictions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ndtune import _expressions

Values = tuple[Any, ...]

# Names that mean something else in the program's expressions: such a parameter has another name there.
_RESERVED = frozenset(
    "device time time_min time_median time_mean and or not in true false nil let if else div min max abs ceil "
    "floor round int float len sum all any none one filter map count floor_div floor_mod true_div power compare "
    "round_down round_up round_even truncate sqrt log2 bit_and bit_or bit_xor shift_left shift_right index lane "
    "item best error error_rms".split()
)


class Space:
    """Parameters with their values. rename has those that have another name in the program."""

    def __init__(self, tune_params: Mapping[str, Sequence[Any]], *, hidden: bool = False) -> None:
        self._mixed = {n for n, values in tune_params.items() if 0 < sum(map(_is_bool, values)) < len(values)}
        # By the kind of a value and itself: 1 and true are two of them, 1 and 1.0 are one, as are repeated values.
        self._values = {n: {_key(self._plain(n, v)): v for v in values} for n, values in tune_params.items()}
        self.tune_params = {n: list(values.values()) for n, values in self._values.items()}
        self.names = list(tune_params)
        self.rename = {
            name: "p_" + re.sub(r"\W", "_", name)
            for name in self.names
            if hidden or name in _RESERVED or not name.isidentifier()
        }
        self.parameters = {
            self.rename.get(n, n): [self._plain(n, v) for v in values] for n, values in self.tune_params.items()
        }

    def configuration(self, plain: Mapping[str, Any]) -> dict[str, Any]:
        """A configuration with the user's names and values, from one with those of the specification."""
        return {n: self._values[n][_key(plain[self.rename.get(n, n)])] for n in self.names}

    def plain(self, configuration: Mapping[str, Any]) -> dict[str, Any]:
        """A configuration with the names and values of the specification, from one with the user's."""
        return {self.rename.get(n, n): self._plain(n, configuration[n]) for n in self.names}

    def _plain(self, name: str, value: Any) -> Any:
        """A value as the program has it; a truth value among others and an integer above an int64 are texts."""
        value = value.item() if isinstance(value, np.generic) else value
        as_text = not isinstance(value, (bool, int, float, str)) or (name in self._mixed and _is_bool(value))
        as_text |= type(value) is int and value >= 2**63
        return str(value) if as_text else value

    def values(self, configuration: Mapping[str, Any]) -> Values:
        """The user's values of a configuration, in the order of the parameters."""
        return tuple(configuration[n] for n in self.names)

    def order(self, configuration: Mapping[str, Any]) -> Values:
        """The place of a configuration among all, in the order of itertools.product."""
        return tuple(list(self._values[n]).index(_key(self._plain(n, configuration[n]))) for n in self.names)

    def restrictions(self, given: Any, folder: str, max_threads: Any = "device.max_work_group_size") -> list[Any]:
        """The program's restrictions for Kernel Tuner's, with its limit of a work-group by the default names.

        Files of allowed combinations are written into the folder.
        """
        return _expressions.restrictions(given, self.tune_params, folder, max_threads, rename=self.rename)


def check_parameters(tune_params: Any) -> None:
    """TypeError for what is no dictionary of lists, ValueError for a list without values, or with one not finite."""
    if not isinstance(tune_params, Mapping):
        raise TypeError(f"tune_params must be a dictionary of names and lists of values, not {type(tune_params)}")
    for name, values in tune_params.items():
        if isinstance(values, str) or not np.iterable(values) or iter(values) is values:  # it can be read once only
            raise TypeError(f"tune_params[{name!r}] must be a list of values, not {values!r}")
        if not list(values):
            raise ValueError(f"tune_params[{name!r}] is empty: give at least one value")
        if any(isinstance(v, (float, np.floating)) and not np.isfinite(v) for v in values):
            raise ValueError(f"tune_params[{name!r}]: the values must be finite, not {list(values)}")


def _is_bool(value: Any) -> bool:
    return isinstance(value, (bool, np.bool_))


def _key(value: Any) -> tuple[str, Any]:
    return "number" if type(value) in (int, float) else type(value).__name__, value
