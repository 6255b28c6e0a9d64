"""Tegra is not supported."""

from ndtune.observers.observer import refused

TegraObserver = refused("TegraObserver", "NVMLObserver has nvml_energy; a BenchmarkObserver reads other instruments")
