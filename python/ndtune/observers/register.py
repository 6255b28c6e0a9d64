"""Registers of a kernel."""

from ndtune.observers.observer import QuantityObserver


class RegisterObserver(QuantityObserver):
    """Observes num_regs, the registers of a work-item. NotImplementedError ends a search if the driver has none."""

    quantities = {"num_regs": ("registers", 1.0)}
    required = True
