"""The stand-in for CUDA's driver and NVRTC, compiled once."""

import shutil
import subprocess
from pathlib import Path

import pytest

STANDIN = Path(__file__).parents[2] / "internal" / "standin"


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The stand-in, compiled."""
    if shutil.which("gcc") is None:
        pytest.skip("the stand-in for CUDA's driver needs gcc")
    path = tmp_path_factory.mktemp("standin") / "libstandin.so"
    flags = ["-std=gnu11", "-shared", "-fPIC", "-fvisibility=hidden", "-o", str(path)]
    subprocess.run(["gcc", *flags, *map(str, (STANDIN / "driver").glob("*.c")), "-lm", "-lpthread"], check=True)
    return path


@pytest.fixture
def cuda(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One card, a stand-in for an H200, and no OpenCL."""
    for variable in ("NDTUNE_CUDA_LIBRARY", "NDTUNE_NVRTC_LIBRARY"):
        monkeypatch.setenv(variable, str(library))
    monkeypatch.setenv("NDTUNE_OPENCL_LIBRARY", str(library.parent / "there-is-no-opencl.so"))
    monkeypatch.setenv("STANDIN_PROFILES", str(STANDIN / "profiles" / "nvidia-h200-cuda.profile"))
