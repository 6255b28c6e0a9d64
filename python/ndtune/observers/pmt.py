"""PMT is not supported."""

from ndtune.observers.observer import refused

PMTObserver = refused("PMTObserver", "write a BenchmarkObserver that reads the instrument")
