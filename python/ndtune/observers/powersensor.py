"""PowerSensor is not supported."""

from ndtune.observers.observer import refused

PowerSensorObserver = refused("PowerSensorObserver", "write a BenchmarkObserver that reads the instrument")
