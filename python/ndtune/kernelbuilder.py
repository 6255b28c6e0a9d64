"""A tuned kernel as a Python function."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ndtune import _binary
from ndtune._specification import Kernel
from ndtune.integration import TuneResults
from ndtune.interface import run_kernel


class PythonKernel:
    """A kernel with fixed parameters: a call launches it once, and returns the content of its arrays after that.

    The parameters are params, with those that results_file, written by store_results, has for the device and the size.
    inputs and outputs tell for each argument whether a call passes it on, else it keeps its value of arguments, and
    whether a call returns it; without them all. options are more arguments of run_kernel.
    """

    def __init__(
        self,
        kernel_name: str,
        kernel_string: Any,
        problem_size: Any,
        arguments: Sequence[Any],
        params: Mapping[str, Any] | None = None,
        inputs: Sequence[bool] | None = None,
        outputs: Sequence[bool] | None = None,
        device: int = 0,
        platform: int = 0,
        *,
        verbose: bool = True,
        results_file: str | None = None,
        **options: Any,
    ) -> None:
        self.params = dict(params or {})
        if results_file:
            kernel = Kernel(kernel_name, kernel_string, options.get("lang"), options.get("defines"))
            command, env = [_binary.find(), "devices", "--json"], _binary.environment()
            listing = subprocess.run(command, env=env, capture_output=True, check=True)
            names = {d["selector"]: d["name"] for d in json.loads(listing.stdout)}
            name = names[kernel.device(platform, device)]
            self.params |= TuneResults(results_file).get_best_config(name, problem_size)
        self.inputs, self.outputs = (flags or [True] * len(arguments) for flags in (inputs, outputs))
        self._kernel, self._arguments = (kernel_name, kernel_string, problem_size), list(arguments)
        self._options = {"device": device, "platform": platform, "quiet": True, **options}

    def __call__(self, *args: Any) -> list[np.ndarray]:
        """Launch the kernel with these arguments."""
        given = zip(self.inputs, args, self._arguments, strict=True)
        results = run_kernel(*self._kernel, [a if new else old for new, a, old in given], self.params, **self._options)
        return [r for r, wanted in zip(results, self.outputs, strict=True) if wanted and isinstance(r, np.ndarray)]

    def run_kernel(self, args: Sequence[Any]) -> list[np.ndarray]:
        """Launch the kernel with a list of arguments."""
        return self(*args)
