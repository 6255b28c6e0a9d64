"""Observers: what is recorded of each configuration besides its times."""

from ndtune.observers.observer import (
    BenchmarkObserver,
    ContinuousObserver,
    IterationObserver,
    OutputObserver,
    PrologueObserver,
)

__all__ = ["BenchmarkObserver", "ContinuousObserver", "IterationObserver", "OutputObserver", "PrologueObserver"]
