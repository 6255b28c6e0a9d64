"""The tutorials in docs/notebooks run from the first cell to the last, and show what their kept outputs show."""

import os
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
def test_a_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = str(Path(ndtune.__file__).resolve().parents[1])  # the notebook runs in a process and a folder of its own
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([package, os.environ.get("PYTHONPATH", "")]))
    notebook = nbformat.read(path, as_version=4)
    kept = shown(notebook)
    assert any("image/png" in kinds for kinds in kept) and any("text/html" in kinds for kinds in kept)
    client.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert shown(notebook) == kept
