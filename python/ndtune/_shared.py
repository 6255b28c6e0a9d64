"""Arrays on a card, handed to the program as handles of CUDA's interprocess communication."""

from __future__ import annotations

import ctypes
import logging
import os
from typing import Any

import numpy as np

LEAST = 1 << 20  # bytes of an array that is worth a handle


def offered(value: Any) -> tuple[str, np.ndarray] | None:
    """The place of an array for the program, and an empty array of its type and shape; None: it must go over the host.

    All that the array's library has enqueued in the current context is done then. The memory of some allocators has
    no handles, such as that of cudaMallocAsync.
    """
    try:
        told = value.__cuda_array_interface__
        array = np.empty(told["shape"], np.dtype(told["typestr"]))
        strides = told.get("strides") or array.strides
        plain = array.dtype.kind in "biufc" and tuple(strides) == array.strides and not told.get("mask")
        if array.nbytes < LEAST or not plain:
            return None
        cuda = ctypes.CDLL(os.environ.get("NDTUNE_CUDA_LIBRARY", "libcuda.so.1"))
        at, base, size = told["data"][0], ctypes.c_void_p(), ctypes.c_size_t()
        handle = ctypes.create_string_buffer(64)
        _call(cuda.cuCtxSynchronize)
        _call(cuda.cuMemGetAddressRange_v2, ctypes.byref(base), ctypes.byref(size), ctypes.c_void_p(at))
        _call(cuda.cuIpcGetMemHandle, handle, base)
    except Exception as error:  # of a library's own, too: tensors with a gradient have no interface
        logging.debug("an array on the card goes over the host: %s", error)
        return None
    return f"{handle.raw.hex()}+{at - (base.value or 0)}", array


def _call(function: Any, *arguments: Any) -> None:
    if result := function(*arguments):
        raise OSError(f"{function.__name__} returned {result}")
