"""Tunes OpenCL kernels: the interface of Kernel Tuner, with ndtune's searches."""

from ndtune._binary import NdtuneError
from ndtune.interface import Interrupted, run_kernel, tune_kernel

__all__ = ["Interrupted", "NdtuneError", "run_kernel", "tune_kernel"]
