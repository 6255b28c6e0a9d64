"""Performance counters are not supported."""

from ndtune.observers.observer import refused

NCUObserver = refused("NCUObserver", "NVIDIA's performance counters are for CUDA")
