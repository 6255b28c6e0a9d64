"""Tunes OpenCL kernels: the interface of Kernel Tuner, with ndtune's searches."""

from ndtune._binary import NdtuneError

__all__ = ["NdtuneError"]
