"""Where the package finds the program, and which versions it takes."""

import os
import stat
import sys
from pathlib import Path

import pytest

from ndtune import NdtuneError, _binary


@pytest.mark.parametrize(
    ("described", "release"),
    [
        ("v1.2.0", "1.2.0"),
        ("1.2.0", "1.2.0"),
        ("v1.2.0-dirty", "1.2.0+dirty"),
        ("v1.2.0-5-gabc1234", "1.2.0.post5+gabc1234"),
        ("v1.2.0-5-gabc1234-dirty", "1.2.0.post5+gabc1234.dirty"),
        ("abc1234", "0.0.0+gabc1234"),
        ("1234567-dirty", "0.0.0+g1234567.dirty"),
        ("v0.0.0-20261123234009-abc1234abc12+dirty", "0.0.0+gabc1234abc12.dirty"),
        ("v1.2.1-0.20261123234009-abc1234abc12", "1.2.1+gabc1234abc12"),
        ("devel", "0.0.0"),
        ("", "0.0.0"),
    ],
)
def test_release(described: str, release: str) -> None:
    assert _binary.release(described) == release
    packaging_version = pytest.importorskip("packaging.version")
    assert str(packaging_version.Version(release)) == release


@pytest.mark.parametrize(
    ("package", "program", "same"),
    [
        ("1.2.0", "v1.2.0", True),
        ("1.2.0", "v1.2.1", False),
        ("1.2.0.post5+gabc1234", "v1.2.0-5-gabc1234", True),
        ("0.0.0+gabc1234", "v0.0.0-20261123234009-abc1234abc12", True),  # built by go install
        ("0.0.0+gabc1234", "abc1234-dirty", True),
        ("0.0.0+gabc1234", "abc1235", False),
        ("1.2.0", "v1.2.0-5-gabc1234", False),
        ("0.0.0", "devel", True),
    ],
)
def test_same(package: str, program: str, same: bool) -> None:
    assert _binary.same(package, program) is same


def program(folder: Path, text: str = "binary") -> Path:
    """Write a program named ndtune."""
    folder.mkdir(parents=True)
    path = folder / "ndtune"
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("NDTUNE", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setattr(_binary, "_PACKAGE", tmp_path / "package")  # without a folder bin
    monkeypatch.setattr(_binary, "version", lambda: "")


def test_order(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(NdtuneError, match="neither in this package nor in PATH"):
        _binary.find()
    starter = program(tmp_path / "venv", "#!" + sys.executable)  # as pip makes it
    found = program(tmp_path / "path")
    monkeypatch.setenv("PATH", os.pathsep.join([str(starter.parent), str(found.parent)]))
    assert _binary.find() == str(found)
    own = program(tmp_path / "package" / "bin")
    assert _binary.find() == str(own)
    named = program(tmp_path / "named")
    monkeypatch.setenv("NDTUNE", str(named))
    assert _binary.find() == str(named)
    monkeypatch.setenv("NDTUNE", str(tmp_path / "missing"))
    with pytest.raises(NdtuneError, match="NDTUNE names .*missing"):
        _binary.find()


def test_a_clone_has_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    built = program(tmp_path / "clone" / "bin")
    monkeypatch.setattr(_binary, "_PACKAGE", tmp_path / "clone" / "python" / "ndtune")
    with pytest.raises(NdtuneError, match="neither in this package nor in PATH"):
        _binary.find()  # a folder bin that is no clone's
    (tmp_path / "clone" / "go.mod").touch()
    assert _binary.find() == str(built)


@pytest.mark.skipif(os.name == "nt", reason="a script in place of the program")
def test_version(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(_binary, "version", lambda: "1.2.0")
    for version, refused in {
        "ndtune version v1.2.0 (go1.26, linux/amd64)": "",
        "ndtune version v1.3.0 (go1.26, linux/amd64)": r"is ndtune v1\.3\.0, but the package .* is of version 1\.2\.0",
        "something else 1.2.0": "is not ndtune",
    }.items():
        other = program(tmp_path / str(len(refused)), f"#!/bin/sh\n/bin/echo '{version}'\n")
        monkeypatch.setenv("NDTUNE", str(other))
        if not refused:
            assert _binary.find() == str(other)
            continue
        with pytest.raises(NdtuneError, match=refused):
            _binary.find()
