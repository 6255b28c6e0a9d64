"""Tunes OpenCL kernels: the interface of Kernel Tuner, with ndtune's searches."""

from ndtune import _binary, _process  # noqa: F401 - the program starts here, before numpy is imported
from ndtune._binary import NdtuneError
from ndtune.integration import create_device_targets, store_results
from ndtune.interface import Interrupted, check, run_kernel, tune_cache, tune_kernel
from ndtune.t1 import from_t1, tune_kernel_T1

__version__ = _binary.version()

__all__ = [
    "Interrupted",
    "NdtuneError",
    "check",
    "create_device_targets",
    "from_t1",
    "run_kernel",
    "store_results",
    "tune_cache",
    "tune_kernel",
    "tune_kernel_T1",
    "__version__",
]
