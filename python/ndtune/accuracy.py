"""Arguments that depend on a parameter, such as their precision, and the error of the output."""

from __future__ import annotations

import re
from collections import UserDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ndtune import util
from ndtune.observers.observer import OutputObserver


class Tunable(UserDict):
    """An argument that is one of several arrays: the one under the value of param_key, for each configuration.

    param_key is a parameter, a Python expression of parameters, or a function of the configuration.
    """

    def __init__(self, param_key: str | Callable[[Any], Any], arrays: Mapping[Any, Any] | Sequence[Any]) -> None:
        super().__init__(arrays if isinstance(arrays, Mapping) else enumerate(arrays))
        self.param_key = param_key

    def __call__(self, params: Mapping[str, Any]) -> Any:
        """The array for a configuration; KeyError if there is none under this value."""
        key = self.param_key
        option = key(params) if callable(key) else params[key] if key in params else eval(key, {}, dict(params))
        if option not in self.data:
            raise KeyError(f"'{option}' is not a valid parameter value, should be one of: {list(self.data)}")
        chosen = self.data[option]
        return chosen(params) if isinstance(chosen, Tunable) else chosen

    select_for_configuration = __call__

    def param_keys(self) -> list[Any]:
        """param_key, and those of arrays that are Tunable themselves."""
        nested = (array.param_keys() for array in self.data.values() if isinstance(array, Tunable))
        return [self.param_key, *(key for keys in nested for key in keys)]


class TunablePrecision(Tunable):
    """An argument in several precisions: dtypes has a type for each value of the parameter, or names of types."""

    def __init__(self, param_key: Any, array: Any, dtypes: Any = None) -> None:
        dtypes = dtypes or {"half": np.half, "float": np.single, "double": np.double}
        if not isinstance(dtypes, Mapping):
            names = {"half": "float16", "f16": "float16", "float": "float32", "f32": "float32", "f64": "float64"}
            dtypes = {name: np.dtype(names.get(name, name)) for name in dtypes}
        array = array if isinstance(array, np.generic) else util.on_host(array)
        super().__init__(param_key, {name: array.astype(dtype) for name, dtype in dtypes.items()})


def _relative(a: Any, b: Any, least: float) -> Any:
    return (a - b) / np.maximum(np.abs(a), least)


def _logarithmic(a: Any, b: Any, least: float) -> Any:
    return np.log10(a + least) - np.log10(b + least)


_MEAN, _ROOT, _MAX = np.asarray, np.sqrt, None  # what is made of the mean of the elements
_METRICS: dict[str, tuple[Callable[[Any, Any, float], Any], Any]] = {
    "mse": (lambda a, b, _: (a - b) ** 2, _MEAN),
    "rmse": (lambda a, b, _: (a - b) ** 2, _ROOT),
    "mae": (lambda a, b, _: np.abs(a - b), _MEAN),
    "mre": (lambda a, b, least: np.abs(_relative(a, b, least)), _MEAN),
    "rmsre": (lambda a, b, least: ((a - b) / np.maximum(a, least)) ** 2, _ROOT),
    "male": (lambda a, b, least: np.abs(_logarithmic(a, b, least)), _MEAN),
    "rmsle": (lambda a, b, least: _logarithmic(a, b, least) ** 2, _ROOT),
    "max": (lambda a, b, _: np.abs(a - b), _MAX),
    "max rel": (lambda a, b, least: np.abs(_relative(a, b, least)), _MAX),
}
_PIECE = 1 << 16


def _metric(key: str, a: Any, b: Any, least: float) -> Any:
    """A metric of arrays, in pieces that stay in a cache, by all threads."""
    if key == "nrmse":
        return _metric("rmse", a, b, least) / _metric("rmse", a, np.zeros_like(a, shape=1), least)
    elements, root = _METRICS[key]
    a, b = (array.ravel() for array in np.broadcast_arrays(a, b))

    def of_piece(start: int) -> Any:
        x, y = (array[start : start + _PIECE].astype(np.float64) for array in (a, b))
        return np.max(elements(x, y, least)) if root is _MAX else np.sum(elements(x, y, least))

    with ThreadPoolExecutor() as pool:
        pieces = list(pool.map(of_piece, range(0, a.size, _PIECE)))
    return np.max(pieces) if root is _MAX else root(np.sum(pieces) / a.size)[()]


_SHORT = {"average": "mean", "avg": "mean", "squared": "square", "sq": "square", "maximum": "max"}
_SHORT |= {"relative": "rel", "absolute": "abs", "logarithmic": "log", "normalized": "norm", "error": ""}
_NAMES = {"mean square": "mse", "root mean square": "rmse", "norm root mean square": "nrmse", "mean abs": "mae"}
_NAMES |= {"abs": "mae", "mean rel": "mre", "rel": "mre", "root mean square rel": "rmsre", "mean abs log": "male"}
_NAMES |= {"root mean square log": "rmsle", "max abs": "max"}


def error_metric_from_name(user_key: str, EPS: float = 1e-8) -> Callable[[Any, Any], Any]:
    """A function of expected and computed arrays, by its name or abbreviation such as "mean relative error" or "mre".

    EPS is the least divisor of relative errors, and what is added before a logarithm.
    """
    words = [_SHORT.get(word, word) for word in re.split(r"[\s_-]+", user_key.lower().strip())]
    key = " ".join(word for word in words if word)
    key = _NAMES.get(key, key)
    if key not in (*_METRICS, "nrmse"):
        raise ValueError(f"invalid error metric provided: {user_key}")
    return lambda a, b: _metric(key, a, b, EPS)


class AccuracyObserver(OutputObserver):
    """Adds the largest error of the outputs to each result, under key. metric is a name or a function of two arrays."""

    def __init__(self, metric: Any = None, key: str = "error", *, atol: float = 1e-8) -> None:
        self.metric = metric if callable(metric) else error_metric_from_name(metric or "rmse", atol)
        self.key, self.result = key, 0.0

    def process_output(self, answer: Any, output: Any) -> None:
        """Compute the error."""
        pairs = [(util.on_host(a), util.on_host(o)) for a, o in zip(answer, output, strict=True) if a is not None]
        self.result = max(self.metric(a, o) for a, o in pairs)

    def get_results(self) -> dict[str, Any]:
        """Return the error."""
        return {self.key: self.result}
