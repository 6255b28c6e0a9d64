"""The arguments of tune_kernel as a specification of the program, and the files of data that it names.

The specification is JSON, which is YAML too. What its language cannot say, Python says while the search runs: the
source of a configuration when a function makes it or when `defines` are given, and the judgement of an output when
verify= is given or when NumPy compares other than the program does.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ndtune import _expressions, _shared, util
from ndtune._space import Space, Values

__all__ = ["Argument", "Kernel", "Specification", "Values", "memory_for", "save"]


class Kernel:
    """The source of a kernel as Kernel Tuner takes it: a text, a path, a function, or a list whose rest are files."""

    def __init__(self, name: str, source: Any, lang: str | None, defines: Mapping[str, Any] | None) -> None:
        self.name, self.defines = name, defines
        self.both = {language.upper(): text for language, text in source.items()} if isinstance(source, Mapping) else {}
        if self.both:
            if set(self.both) != {"OPENCL", "CUDA"}:
                raise ValueError(f"kernel_source has the languages {', '.join(source)}: it needs OpenCL and CUDA")
            lang = lang or "OpenCL"
            source = self.both["OPENCL" if lang.upper() == "OPENCL" else "CUDA"]
        self.sources = source if isinstance(source, list) else [source]
        self.generated = callable(self.sources[0])
        if lang is None and self.generated:
            raise TypeError("Please specify language when using a code generator function")
        self.text = "" if self.generated else util.get_kernel_string(self.sources[0])
        self.lang = (lang or util.detect_language(self.text)).upper()
        self.is_cuda = self.lang in ("CUDA", "CUPY", "NVCUDA", "PYCUDA")
        self.ours = self.is_cuda or self.lang == "OPENCL"
        for other in self.sources[1:]:
            if not util.looks_like_a_filename(other):
                raise ValueError("When passing multiple kernel sources, the secondary entries must be filenames")

    def check_arguments(self, arguments: Sequence[Any]) -> None:
        """Warn of arguments that do not fit the declaration of the kernel; TypeError for what is no list."""
        if not isinstance(arguments, Sequence):
            raise TypeError(f"arguments must be a list with one entry for each argument, not {type(arguments)}")
        if not self.generated:
            util.check_argument_list(self.name, self.text, arguments)

    def device(self, platform: Any, device: Any) -> str:
        """The device by the program's rules: platform and number, CUDA's number, or the text that the caller gave."""
        return device if isinstance(device, str) else f"{'cuda' if self.is_cuda else platform}:{device}"

    @property
    def in_python(self) -> bool:
        """Whether Python makes the text for each configuration."""
        return self.generated or self.defines is not None or bool(re.search(r"\bgrid_size_[xyz]\b", self.text))


class Specification(Space):
    """A specification: text() is what the program reads, once write() has written the data.

    handlers answer the questions of the program.
    """

    def __init__(  # fmt: skip
        self, kernel: Kernel, problem_size: Any, arguments: Sequence[Any], tune_params: Mapping[str, Sequence[Any]],
        grid_div: Sequence[Any], block_size_names: list[str] | None = None, compiler_options: Any = None,
        *, share: bool = False,
    ) -> None:
        if kernel.name in tune_params:
            raise NotImplementedError(f"the kernel's name, {kernel.name}, is that of a parameter: name one kernel")
        hidden = kernel.defines is not None  # no parameter is a macro of its own name
        super().__init__(tune_params, hidden=hidden)
        self.kernel, self.problem_size, self.grid_div = kernel, problem_size, list(grid_div)
        self.block_names = block_size_names or list(util.default_block_size_names)
        self.handlers: dict[str, Callable[[dict[str, Any]], Any]] = {}
        cuda = kernel.is_cuda
        self.arguments = [Argument(i, a, may_be_empty=cuda, share=cuda and share) for i, a in enumerate(arguments)]
        self.symbols: list[Argument] = []
        self.shared: list[dict[str, Any]] = []
        self._name_arguments()
        self.content: dict[str, Any] = {
            "kernel": self._kernel(compiler_options or []),
            "constants": {"kernel_tuner": 1} if not hidden else {},
            "problem_size": self._problem_size(),
            **{"block_size": {}, "grid_div": {}},
            "parameters": self.parameters,
            "arguments": [],
            "measure": {"early_stop": 0},
        }
        sizes = self.content["problem_size"]
        given = [name in self.tune_params for name in self.block_names]
        used = [i + 1 for i in range(3) if given[i] or self.grid_div[i] is not None]
        sizes += [1] * (max(used, default=1) - len(sizes))
        for i, (axis, name) in enumerate(zip("xyz", self.block_names, strict=True)):
            if given[i] or not i:
                self.content["block_size"][axis] = self.rename.get(name, name) if given[i] else 256
            if not given[i] and not hidden:
                self.content["constants"][name] = 1 if i else 256
            if i < len(sizes):
                self.content["grid_div"][axis] = self._divisors(self.grid_div[i], name, f"grid_div_{axis}")

    def expression(self, value: Any, what: str, **options: Any) -> str:
        """The program's expression for a text or a function of Python."""
        try:
            return _expressions.expression(value, self.tune_params, rename=self.rename, **options)
        except _expressions.Untranslatable as error:
            raise NotImplementedError(f"{what} cannot be written as an expression of ndtune: {error}") from error

    def restrict(self, given: Any, folder: str, max_threads: Any = "device.max_work_group_size") -> None:
        """Put Kernel Tuner's restrictions into the specification, see Space.restrictions."""
        self.content["restrictions"] = self.restrictions(given, folder, max_threads)

    def add_memory(self, smem_args: Mapping[str, Any] | None, cmem_args: Mapping[str, Any] | None) -> None:
        """Add the memory of CUDA C that is no argument: {"size": bytes} of each block, and symbols by their names."""
        for name, value in (cmem_args or {}).items():
            self.symbols.append(Argument(len(self.arguments), np.atleast_1d(util.on_host(value))))
            self.symbols[-1].name = name
            for i, argument in enumerate(self.arguments):
                argument.name = f"arg{i}" if argument.name == name else argument.name
        if smem_args is not None:
            size = smem_args["size"]
            text = self.expression(size, "smem_args") if callable(size) else self._whole(str(size), "smem_args")
            self.shared = [{"name": "shared_memory", "type": "uint8", "local_size": text}]

    def _kernel(self, compiler_options: Sequence[str]) -> dict[str, Any]:
        options = [compiler_options] if isinstance(compiler_options, str) else list(compiler_options)
        options = [re.sub(r"^-I\s*(.+)", lambda m: "-I" + os.path.abspath(m[1]), option) for option in options]
        options = [option.replace("{", "{{").replace("}", "}}") for option in options]
        if self.kernel.generated or "#include" in self.kernel.text:
            options.append("-I" + os.getcwd())
        if self.kernel.defines is None:
            options += [f"-D{name}={{{other}}}" for name, other in self.rename.items() if name.isidentifier()]
        part: dict[str, Any] = {"name": self.kernel.name, "build_options": options}
        if self.kernel.is_cuda:  # an instance of a template can depend on parameters
            parts = re.split(r"(\w+)", self.kernel.name)
            part["name"] = "".join(f"{{{self.rename.get(p, p)}}}" if p in self.tune_params else p for p in parts)
            part["language"] = "cuda"
        source = self.kernel.sources[0]
        if self.kernel.in_python:
            self.handlers["kernel"] = lambda question: {"source": self.source(question["configuration"])}
        elif isinstance(source, Path) or util.looks_like_a_filename(source):
            part["file"] = os.path.abspath(source)
        else:
            part["source"] = source
        return part

    def source(self, plain: Mapping[str, Any]) -> str:
        """The source of a configuration: the macros of `defines`, else those of the grid, and the user's text."""
        params = self.configuration(plain)
        text = util.get_kernel_string(self.kernel.sources[0], params)
        threads = util.get_thread_block_dimensions(params, self.block_names)
        size = util.get_problem_size(self.problem_size, params)
        grid = util.get_grid_dimensions(size, params, self.grid_div, self.block_names)
        names = (self.block_names, "CUDA" if self.kernel.is_cuda else "OpenCL", self.kernel.defines)
        return util.prepare_kernel_string(self.kernel.name, text, params, grid, threads, *names)[1]

    def _problem_size(self) -> list[Any]:
        size: Any = self.problem_size
        if callable(size):
            sample = size({name: values[0] for name, values in self.tune_params.items()})
            if not isinstance(sample, Sequence):
                return [self.expression(size, "problem_size")]
            return [self.expression(lambda p, i=i: size(p)[i], "problem_size") for i in range(len(sample))]
        parts = list(size) if np.iterable(size) and not isinstance(size, str) else [size]
        if not all(isinstance(part, (str, int, np.integer)) for part in parts):
            raise TypeError("Error: problem_size should only contain strings or integers")
        return [self._whole(part, "problem_size") if isinstance(part, str) else int(part) for part in parts]

    def _whole(self, text: str, what: str) -> str:
        """An expression for a text whose value is rounded to an integer, as Kernel Tuner does for texts."""
        made = self.expression(text, what)
        return made if made.isidentifier() or made.isdigit() else f"int({made})"

    def _divisors(self, given: Any, name: str, what: str) -> list[str]:
        if given is None:
            return [self.rename.get(name, name)] if name in self.tune_params else []
        if isinstance(given, (int, np.integer)):
            return [str(int(given))]
        if callable(given):
            return [self.expression(given, what)]
        if isinstance(given, str):
            return [self._whole(given, what)]
        return [text for part in util.iterable_divisors(given) for text in self._divisors(part, "", what)]

    def _name_arguments(self) -> None:
        """Give the arguments the names that the source declares, where it has one for each."""
        name, instance, _ = self.kernel.name.partition("<")  # of a template, whose types the declaration does not tell
        for declared in util.declarations(name, self.kernel.text):
            found = [re.search(r"(\w+)\s*(\[\s*\])?\s*$", text) for text in declared]
            names = [match[1] for match in found if match]
            if len(declared) == len(set(names)) == len(self.arguments):
                for argument, name, text in zip(self.arguments, names, declared, strict=True):
                    text = "const" if instance and re.search(r"\bconst\b", text) else "" if instance else text
                    argument.declare(name if name not in self.tune_params else argument.name, text)
                return

    def add_other_language(self, folder: str) -> None:
        """Name the sources of both languages, so that the searches in each are of one problem and can be compared."""
        if not self.kernel.both or self.kernel.in_python:
            return
        files = {}
        for language, source in self.kernel.both.items():
            path = source
            if not isinstance(source, os.PathLike) and not util.looks_like_a_filename(source):
                path = os.path.join(folder, f"kernel.{language}")
                util.write_file(path, source)
            files[language.lower()] = os.path.abspath(path)
        part = self.content["kernel"]
        self.content["kernel"] = {k: v for k, v in part.items() if k not in ("source", "language")} | {"file": files}

    def write(self, folder: str, outputs: Sequence[bool]) -> None:
        """Write the data of the arguments into a folder, and name the outputs."""
        self.content["arguments"] = [
            argument.entry(folder) | ({"output": True} if is_output else {})
            for argument, is_output in zip(self.arguments, outputs, strict=True)
        ]
        self.content["arguments"] += [symbol.entry(folder) | {"symbol": True} for symbol in self.symbols] + self.shared

    def loaded(self, paths: Mapping[str, str], wanted: Sequence[bool]) -> list[Any]:
        """The outputs that the program wrote, as the user's arguments have them; None where wanted is false."""
        return [
            argument.load(paths[argument.name]) if want and argument.name in paths else None
            for argument, want in zip(self.arguments, wanted, strict=True)
        ]


class Argument:
    """An argument of the kernel: its entry in the specification, and the way back of its content."""

    def __init__(self, place: int, value: Any, *, may_be_empty: bool = False, share: bool = False) -> None:
        self.value, self.name, self._raw, self._declared = value, f"arg{place}", False, ""
        self.shared, offer = "", _shared.offered(value) if share and util.on_device(value) else None
        if offer:  # array has only the type and the shape
            self.shared, value = offer
        self._scalar = value = util.on_host(value) if util.is_array(value) else value
        self.array = np.ascontiguousarray(value) if isinstance(value, np.ndarray) else None
        if self.array is not None and self.array.size == 0 and not may_be_empty:
            raise ValueError(f"arguments[{place}] is an array without elements: a buffer has at least one")
        if self.array is not None and (self.array.dtype.hasobject or self.array.dtype.kind == "U"):
            raise TypeError(f"arguments[{place}] is an array of {self.array.dtype}, which a kernel cannot read")
        if self.array is not None and self.array.dtype != self.array.dtype.newbyteorder("="):
            raise TypeError(
                f"arguments[{place}] is an array of {self.array.dtype}, in another order of bytes than the kernel's: "
                "pass array.astype(array.dtype.newbyteorder('='))"
            )

    def declare(self, name: str, text: str) -> None:
        """Take the name of a declaration. What it calls another type than NumPy's is passed as bytes, unchecked."""
        self.name, self._declared = name, text
        known = any(util.check_argument_type(other, text) for other in util.argument_types)
        self._raw = self.array is not None and known and not util.check_argument_type(str(self.array.dtype), text)

    def over_host(self) -> None:
        """Read the content of an array on a card that the program cannot open."""
        if self.shared:
            self.shared, self.array = "", np.ascontiguousarray(util.on_host(self.value))

    @property
    def may_change(self) -> bool:
        """Whether the kernel can write it: an array whose declaration does not say const or __constant."""
        return self.array is not None and not re.search(r"\bconst\b|constant\b", self._declared)

    def comparable(self, expected: np.ndarray) -> bool:
        """Whether the program compares the content with an expected one as NumPy does: finite numbers of one kind."""
        if self.array is None or self._is_bytes or self.array.dtype.kind not in "iuf":
            return False
        return expected.dtype.kind == self.array.dtype.kind and bool(np.isfinite(expected).all())

    def entry(self, folder: str) -> dict[str, Any]:
        """The entry of the specification; the content of an array is written into the folder."""
        if self.array is None:
            return {"name": self.name} | self._by_value()
        flat = self.array.reshape(-1) if self.array.size else np.zeros(1, self.array.dtype)
        if self._is_bytes or flat.dtype.kind == "b":
            flat = flat.view(np.uint8)
        elif flat.dtype.kind == "c":
            flat = flat.view(flat.real.dtype)
        entry = {"name": self.name, "type": "bytes" if self._is_bytes else flat.dtype.name, "size": flat.size}
        if self.shared:
            return entry | {"fill": {"shared": self.shared}}
        return entry | ({"fill": {"file": save(folder, self.name, flat)}} if flat.any() else {})

    @property
    def _is_bytes(self) -> bool:
        return self.array is not None and (self._raw or self.array.dtype.kind not in "biufc")

    def _by_value(self) -> dict[str, Any]:
        value = self._scalar
        if type(value).__name__ == "LocalMemory":  # pyopencl's, in bytes
            return {"type": "uint8", "local_size": int(value.size)}
        if value.dtype.kind in "biu":
            return {"type": "uint8" if value.dtype.kind == "b" else value.dtype.name, "value": int(value)}
        if value.dtype.kind == "f" and np.isfinite(value):
            return {"type": value.dtype.name, "value": float(value)}
        return {"type": "bytes", "value": value.tobytes().hex()}

    def unchanged(self) -> Any:
        """A copy of the argument."""
        if util.is_tensor(self.value):
            return self.value.cpu()
        copied = isinstance(self.value, np.ndarray) or util.on_device(self.value) and hasattr(self.value, "copy")
        return self.value.copy() if copied else self.value

    def load(self, path: str, *, in_place: bool = False) -> Any:
        """The content of a file of the program, in the type and the shape of the user's argument.

        That of an array of CuPy is one, too. in_place: an array on a GPU gets the content itself, as its kernel would
        have written it.
        """
        assert self.array is not None
        if not path:  # the program has written into the array itself
            ours = util.is_tensor(self.value) or hasattr(self.value, "set")
            return self.unchanged() if ours else util.on_host(self.value)
        # A large file is not read but mapped; no other takes its place on disk while that is used.
        mapped = os.name == "posix" and os.path.getsize(path) > 1 << 20
        flat = np.load(path, mmap_mode="c" if mapped else None).view(np.ndarray).reshape(-1).view(self.array.dtype)
        content = flat[: self.array.size].reshape(self.array.shape)
        if in_place and util.on_device(self.value):
            util.write_back(self.value, content)
        if util.is_tensor(self.value):
            return sys.modules["torch"].from_numpy(content)
        if util.on_device(self.value) and hasattr(self.value, "set"):
            made = self.value.copy()
            if not in_place:
                made.set(content)
            return made
        return content


def memory_for(size: int) -> str | None:
    """The place for a temporary folder of size bytes: in memory where the system has such a place with room."""
    place = "/dev/shm"
    fits = os.path.isdir(place) and os.access(place, os.W_OK) and shutil.disk_usage(place).free > 2 * size + 2**26
    return place if fits else None


def save(folder: str, name: str, array: np.ndarray) -> str:
    """Write an array into a folder, and return the path."""
    path = os.path.join(folder, name + ".npy")
    with open(path, "wb") as file:  # in half the time of numpy.save, whose fallocate fills a file in memory with zeros
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
        file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return path
