"""The program that does the work: where it is, and whether its version is the package's.

A wheel has the program in its folder bin. A source install finds one in PATH, and refuses a version that is not its
own, because the two talk to each other in formats that have no versions of their own. This module imports nothing of
the package: setup.py and the script that writes wheels take the function release from it.
"""

import functools
import os
import re
import shutil
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_NAME = "ndtune.exe" if os.name == "nt" else "ndtune"


class NdtuneError(RuntimeError):
    """A task cannot be done: the message says what, where, and what to do."""


def release(described: str) -> str:
    """Return the version of Python's form (PEP 440) for one of the program.

    The program has it from `git describe` (v1.2.0, v1.2.0-5-gabc1234, abc1234, each also with -dirty) or from Go
    (v1.2.0, v0.0.0-20261123234009-abc1234abc12+dirty). Without either it says «devel», which is release 0.0.0 here.
    """
    tag = re.match(r"v?(\d+\.\d+\.\d+)(?:-(\d+)-g[0-9a-f]+)?", described)
    text = "0.0.0"
    if tag:
        text = tag[1] + (f".post{tag[2]}" if tag[2] else "")
    commit = _commit(described)
    local = ([f"g{commit}"] if commit else []) + (["dirty"] if described.endswith("dirty") else [])
    return text + ("+" + ".".join(local) if local else "")


def _commit(version: str) -> str:
    """Return the commit in a version of the program or of the package, "" for a release."""
    found = re.search(r"(?:^|[-+]g?)([0-9a-f]{7,40})(?:[-+.]dirty)?$", version)
    return found[1] if found else ""


def same(package: str, program: str) -> bool:
    """Say whether a version of the package and one of the program are of the same release or commit."""
    ours, theirs = _commit(package), _commit(program)
    if ours and theirs:
        return ours.startswith(theirs) or theirs.startswith(ours)
    return package == release(program)


def version() -> str:
    """Return the package's version, "" in a source tree, even one that pip install --editable knows."""
    if (_PACKAGE.parent / "pyproject.toml").is_file():
        return ""
    try:
        return metadata.version("ndtune")
    except metadata.PackageNotFoundError:
        return ""


def find() -> str:
    """Return the path of the program: what NDTUNE names, else the package's own, else the first in PATH.

    In a clone of the repository, what `make build` has written there comes before PATH.

    Raises NdtuneError if there is none, or if it is of another version than the package.
    """
    if named := os.environ.get("NDTUNE"):
        path = shutil.which(named)
        if path is None:
            raise NdtuneError(f"the environment variable NDTUNE names {named!r}, which is not a program")
        return _checked(os.path.abspath(path))
    own = _PACKAGE / "bin" / _NAME
    if own.is_file():
        return str(own)
    clone = _PACKAGE.parents[1]
    if (clone / "go.mod").is_file() and (clone / "bin" / _NAME).is_file():
        return _checked(str(clone / "bin" / _NAME))
    for folder in os.get_exec_path():
        path = shutil.which("ndtune", path=folder)
        if path and not _starts_python(path):
            return _checked(os.path.abspath(path))
    raise NdtuneError(
        "the program ndtune is neither in this package nor in PATH: install a wheel, which has it inside, "
        "or build it (make build) and name it in the environment variable NDTUNE"
    )


def environment() -> dict[str, str]:
    """Return the environment of the program, which says where the compiler of CUDA C is if pip has installed it."""
    return {"VIRTUAL_ENV": sys.prefix} | os.environ


def _starts_python(path: str) -> bool:
    """Say whether a program in PATH is the one that pip makes for this package, which would only come back here."""
    with open(path, "rb") as file:
        return file.read(2) == b"#!" or zipfile.is_zipfile(path)  # on Windows: a program with an archive at its end


@functools.cache
def _checked(path: str) -> str:
    """Return the path of a program, if its version is the package's; a source tree takes any."""
    wanted = version()
    if not wanted:
        return path
    try:
        said = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
    except FileNotFoundError as error:  # of the loader that it names: the file is there
        raise NdtuneError(
            f"{path} was built for another C library (glibc, or musl) than this system has: build it here (make build)"
        ) from error
    except (OSError, subprocess.CalledProcessError) as error:
        raise NdtuneError(f"{path} --version failed: {error}") from error
    words = said.split()
    if words[:2] != ["ndtune", "version"] or len(words) < 3:
        raise NdtuneError(f"{path} is not ndtune: its --version says {said[:80]!r}")
    if not same(wanted, words[2]):
        raise NdtuneError(
            f"{path} is ndtune {words[2]}, but the package for Python is of version {wanted}: install both "
            "from one version, or name a program of that version in the environment variable NDTUNE"
        )
    return path
