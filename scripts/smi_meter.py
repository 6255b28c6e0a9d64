#!/usr/bin/env python3
"""An instrument for ndtune that asks nvidia-smi: the mean power and SM clock while launches run.

In a specification:

    measure:
      observe: [energy, mean_power, smi_power]
      instruments:
        - {command: [python3, smi_meter.py], quantities: [smi_power, smi_clock, smi_readings], window: 60s, timeout: 30s}

It shows how a command works as an instrument (docs/observers.md), and checks ndtune's own readings.
"""

import json
import os
import subprocess
import sys


def start():
    pci = os.environ.get("NDTUNE_DEVICE_PCI", "")
    command = ["nvidia-smi", "--query-gpu=power.draw.instant,clocks.sm", "--format=csv,noheader,nounits", "-lms", "100"]
    return subprocess.Popen(command + (["-i", pci] if pci else []), stdout=subprocess.PIPE, text=True)


def main():
    smi = None
    for line in sys.stdin:
        if "begin" in json.loads(line):
            smi = start()
            print("{}", flush=True)
            continue
        smi.terminate()
        rows = [row.split(",") for row in smi.communicate()[0].splitlines()]
        rows = [(float(power), float(clock)) for power, clock in rows[1:]]  # the first row may be of the time before
        count = len(rows)
        values = {"smi_readings": count}
        if count:
            values["smi_power"] = sum(power for power, _ in rows) / count
            values["smi_clock"] = sum(clock for _, clock in rows) / count
        print(json.dumps(values), flush=True)


main()
