"""Run the acceptance suite against both packages and print, as Markdown, how many cases each passes.

    python tests/acceptance/table.py [ARGUMENT OF PYTEST ...]

Kernel Tuner, with pyopencl, must be installed beside ndtune. Cases of ndtune only are not counted for Kernel Tuner.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

PACKAGES = ["kernel_tuner", "ndtune"]


def run(package: str, arguments: list[str]) -> tuple[dict[tuple[str, str], str], float]:
    """Return the outcome of each case, by file and name, and the seconds that the run took."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        began = time.perf_counter()
        command = [sys.executable, "-m", "pytest", str(Path(__file__).parent), f"--junitxml={report}", *arguments]
        environment = {**os.environ, "PACKAGE": package}
        finished = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        seconds = time.perf_counter() - began
        if not report.exists():
            sys.exit(f"pytest for {package} ended with status {finished.returncode}:\n{finished.stdout}")
        outcomes = {}
        for case in ElementTree.parse(report).iter("testcase"):
            outcome = next((child.tag for child in case if child.tag in ("failure", "error", "skipped")), "passed")
            outcomes[case.get("classname", "").rpartition(".")[2], case.get("name", "")] = outcome
    return outcomes, seconds


def main(arguments: list[str]) -> None:
    """Run both and print the table, then the cases that one of them does not pass."""
    outcomes, seconds = {}, {}
    for package in PACKAGES:
        outcomes[package], seconds[package] = run(package, arguments)
    files = sorted({file for file, _ in outcomes["ndtune"]})
    print("| cases of | " + " | ".join(PACKAGES) + " |")
    print("|---|" + "---|" * len(PACKAGES))
    for file in [*files, "all"]:
        cells = []
        for package in PACKAGES:
            counts = Counter(outcome for (of, _), outcome in outcomes[package].items() if file in (of, "all"))
            cells.append(f"{counts['passed']} of {counts.total() - counts['skipped']}")
        print(f"| {file.removeprefix('test_')} | " + " | ".join(cells) + " |")
    print("| seconds | " + " | ".join(f"{seconds[package]:.0f}" for package in PACKAGES) + " |")
    for package in PACKAGES:
        failed = [
            f"{file}::{name}" for (file, name), outcome in outcomes[package].items() if outcome in ("failure", "error")
        ]
        if failed:
            print(f"\n{package} does not pass:")
            print("\n".join(f"- {case}" for case in failed))


if __name__ == "__main__":
    main(sys.argv[1:])
