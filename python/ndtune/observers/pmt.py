"""PMT is not supported."""

from ndtune.observers.observer import refused

PMTObserver = refused("PMTObserver", "NVMLObserver has nvml_energy; a BenchmarkObserver reads other instruments")
