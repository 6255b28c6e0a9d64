"""The version of a source install: of `git describe`, as the program's. Everything else stands in pyproject.toml."""

import runpy
import subprocess
from pathlib import Path

from setuptools import setup

here = Path(__file__).resolve().parent
try:
    described = subprocess.run(
        ["git", "describe", "--tags", "--always", "--dirty"], cwd=here, capture_output=True, text=True, check=True
    ).stdout
except (OSError, subprocess.CalledProcessError):  # no git, or an archive without a history
    described = ""
setup(version=runpy.run_path(str(here / "ndtune" / "_binary.py"))["release"](described.strip()))
