"""Tegra is not supported."""

from ndtune.observers.observer import refused

TegraObserver = refused("TegraObserver", "write a BenchmarkObserver that reads the instrument")
