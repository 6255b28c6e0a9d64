"""Energy, power, clocks and temperature, under the names of AMD's library."""

from typing import Any

from ndtune.observers.observer import QuantityObserver, quantities


class AMDSMIObserver(QuantityObserver):
    """Observes energy (J of a launch), power (W), core_freq, mem_freq (Hz) and temperature (°C), each with a prefix."""

    def __init__(
        self,
        observables: tuple[str, ...] | list[str] = ("energy",),
        *,
        device_id: Any = None,
        prefix: str = "amdsmi",
        use_continuous_observer: bool = True,
        continuous_duration: float = 1.0,
    ) -> None:
        known = {"energy": ("energy", 1.0), "power": ("mean_power", 1.0), "temperature": ("temperature", 1.0)}
        known |= {"core_freq": ("clock", 1e6), "mem_freq": ("memory_clock", 1e6)}
        missing = ("mem_temperature", "core_voltage", "core_activity", "mem_activity")
        found = quantities(list(observables), known, missing)
        self.quantities = {f"{prefix}_{name}" if prefix else name: value for name, value in found.items()}
        self.continuous_duration = continuous_duration
