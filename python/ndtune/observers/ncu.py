"""Performance counters are not supported."""

from ndtune.observers.observer import refused

NCUObserver = refused("NCUObserver", "run one configuration in ncu --target-processes all")
