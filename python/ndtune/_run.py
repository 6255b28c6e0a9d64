"""A launch of run_kernel: one command of the program."""

from __future__ import annotations

import json
import logging
import os
import tempfile
from typing import Any

from ndtune._binary import NdtuneError
from ndtune._process import Process, prepare, told
from ndtune._specification import Specification, memory_for


def run(specification: Specification, device: str) -> dict[str, Any]:
    """Launch the one configuration of a specification once; return the program's answer with its outputs, by name.

    Raises NdtuneError if there is no answer.
    """
    answer = _run(specification, device)
    if "cannot be shared" in answer.get("reason", ""):  # as the card is another one, for example
        logging.debug("arrays on the card go over the host: %s", answer["reason"])
        for argument in specification.arguments:
            argument.over_host()
        answer = _run(specification, device)
    return answer


def _run(specification: Specification, device: str) -> dict[str, Any]:
    prepare(device)
    answer: dict[str, Any] = {}

    def take(line: dict[str, Any], _: str) -> None:
        if line["kind"] == "result" or line.get("error"):
            answer.update(line)

    size = sum(a.array.nbytes for a in specification.arguments if a.array is not None and not a.shared)
    with tempfile.TemporaryDirectory(prefix="ndtune-", dir=memory_for(3 * size)) as folder:
        outputs = os.path.join(folder, "outputs")
        arguments = ["run", "-", "--json", "--iterations", "0", "--outputs", outputs, "--device", device]
        with Process(arguments, take) as process:
            specification.write(folder, [a.may_change for a in specification.arguments])
            process.send(json.dumps(specification.content, ensure_ascii=False))
            while process.pump():
                pass
        if answer.get("kind") != "result":
            raise NdtuneError(told(answer.get("error") or "\n".join(process.notes) or "the program ndtune has ended"))
        paths = answer.get("outputs", {})
        loaded = {a.name: a.load(paths[a.name], in_place=True) for a in specification.arguments if a.name in paths}
    return answer | {"outputs": loaded}
