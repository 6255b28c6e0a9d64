"""Wheels: what scripts/wheel.py writes, pip installs; the same files give the same bytes."""

import email
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "wheel.py"
INFO = "ndtune-1.2.0.dist-info/"


@pytest.fixture
def script() -> dict[str, Any]:
    return runpy.run_path(str(SCRIPT))


def test_metadata(script: dict[str, Any]) -> None:
    tomllib = pytest.importorskip("tomllib")
    project = tomllib.loads((SCRIPT.parents[1] / "python" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    message = email.message_from_string(script["metadata"](project, "1.2.0", ["LICENSE"]))
    assert (message["Name"], message["Version"], message["Requires-Python"]) == ("ndtune", "1.2.0", ">=3.10")
    required = message.get_all("Requires-Dist") or []
    assert [r for r in required if "extra" not in r] == ["numpy"]
    assert 'pandas; extra == "notebook"' in required
    assert str(message.get_payload()).startswith("# ndtune for Python")


def test_installed(script: dict[str, Any], tmp_path: Path) -> None:
    files = {
        "ndtune/__init__.py": (b"", 0o644),
        "ndtune/bin/ndtune": (b"#!/bin/sh\necho runs\n", 0o755),
        f"{INFO}METADATA": (b"Metadata-Version: 2.4\nName: ndtune\nVersion: 1.2.0\n", 0o644),
        f"{INFO}WHEEL": (b"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-any\n", 0o644),
    }
    wheels = [tmp_path / part / "ndtune-1.2.0-py3-none-any.whl" for part in ("first", "second")]
    for wheel, order in zip(wheels, (list, reversed), strict=True):
        wheel.parent.mkdir()
        script["write"](wheel, dict(order(list(files.items()))), INFO)
    assert wheels[0].read_bytes() == wheels[1].read_bytes()
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "-q", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--target", str(tmp_path / "here"), str(wheels[0])], check=True)
    installed = tmp_path / "here" / "ndtune" / "bin" / "ndtune"
    assert installed.read_bytes() == files["ndtune/bin/ndtune"][0]
    if os.name != "nt":
        assert subprocess.run([installed], capture_output=True, text=True, check=True).stdout == "runs\n"
