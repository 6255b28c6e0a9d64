"""Energy, power, clocks and temperature, as the program observes them on any device, not on NVIDIA's alone."""

from typing import Any

from ndtune.observers.observer import QuantityObserver


class NVMLObserver(QuantityObserver):
    """Observes nvml_power (W), nvml_energy (J of a launch), core_freq, mem_freq (MHz) and temperature (°C).

    With it, the parameters nvml_gr_clock, nvml_mem_clock (MHz) and nvml_pwr_limit (W) set clocks and limit of the
    device. continuous_duration is the time in seconds for which each kernel is repeated to observe it.
    """

    settings = {"nvml_gr_clock": "clock", "nvml_mem_clock": "memory_clock", "nvml_pwr_limit": "power_limit"}

    def __init__(self, observables: list[str], *_: Any, continuous_duration: float = 1, **__: Any) -> None:
        known = {"nvml_power": ("mean_power", 1.0), "nvml_energy": ("energy", 1.0), "core_freq": ("clock", 1.0)}
        known |= {"mem_freq": ("memory_clock", 1.0), "temperature": ("temperature", 1.0)}
        self.choose(observables, known, ("power_readings", "gr_voltage"))
        self.continuous_duration = continuous_duration
