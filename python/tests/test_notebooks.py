"""The tutorials in docs/notebooks run from the first cell to the last, and show what their kept outputs show."""

import os
import re
from pathlib import Path
from typing import Any

import pytest

import ndtune

nbformat = pytest.importorskip("nbformat")
client = pytest.importorskip("nbclient")

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))


def shown(notebook: Any) -> list[list[str]]:
    """The kinds of outputs of each cell of code, such as text, tables and pictures."""
    return [
        sorted({kind for output in cell.outputs for kind in output.get("data", {output.output_type: ""})})
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def test_there_are_notebooks() -> None:
    assert [n.stem for n in NOTEBOOKS] == ["diffusion", "matmul"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_runs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = str(Path(ndtune.__file__).resolve().parents[1])  # the notebook runs in a process of its own
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([package, os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("NDTUNE_CUDA_LIBRARY", "there is none")  # as where the outputs were made
    notebook = nbformat.read(path, as_version=4)
    kept = shown(notebook)
    assert any("image/png" in kinds for kinds in kept) and any("text/html" in kinds for kinds in kept)
    assert notebook.cells[1].source.startswith('lang = "OpenCL" ')
    notebook.cells[1].source = re.sub("(?m)^n = [0-9]+", "n = 64", notebook.cells[1].source)  # quick
    # It reads the kernels beside its folder.
    client.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(path.parent)}}).execute()
    assert shown(notebook) == kept
