"""Kernels in CUDA C, on the stand-in for CUDA's driver and NVRTC: what Python sends, and what comes back."""

import ctypes
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ndtune
from ndtune import _shared, util
from ndtune._specification import Kernel, Specification
from ndtune.kernelbuilder import PythonKernel

SAXPY = """__constant__ float filter[16];
extern "C" __global__ void saxpy(float *y, const float *x, const float a) {
    const int i = blockIdx.x * block_size_x + threadIdx.x;
    y[i] = a * x[i] + y[i];
}"""
X, Y = np.random.rand(2, 1024).astype(np.float32)
A = np.float32(2.5)
STANDIN = Path(__file__).parents[2] / "internal" / "standin"


class OnGPU:
    """An array as CuPy has it, in the memory of the host."""

    def __init__(self, array: np.ndarray) -> None:
        self._array, self.dtype = array.copy(), array.dtype
        self.__cuda_array_interface__ = {**array.__array_interface__, "version": 3}

    def get(self) -> np.ndarray:
        return self._array.copy()

    def set(self, array: np.ndarray) -> None:
        self._array[:] = array

    def copy(self) -> "OnGPU":
        return OnGPU(self._array)


class OnHost:
    """An array of a library that converts it for NumPy."""

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        return X


def test_kernels_in_cuda_c() -> None:
    source, params = "template <int n> __global__ void k(int *a) {}", {"block_size_x": [32, 64], "count": [1]}
    for lang in (None, "cuda", "cupy"):
        kernel = Kernel("k<block_size_x + count>", source, lang, None)
        content = Specification(kernel, 100, [np.zeros(4, np.int32)], params, (None,) * 3).content["kernel"]
        assert kernel.ours and content["language"] == "cuda"
        assert content["name"] == "k<{block_size_x} + {p_count}>"
        assert content["build_options"] == ["-Dcount={p_count}"]


@pytest.mark.parametrize(
    ("size", "want"),
    [
        (400, "400"),
        ("block_size_x * 4", "int(block_size_x * 4)"),
        (lambda p: 4 * p["block_size_x"], "4 * block_size_x"),
    ],
)
def test_memory_of_cuda_c_is_more_arguments(size: Any, want: str, tmp_path: Path) -> None:
    kernel = Kernel("k", "__global__ void k(int *a) {}", None, None)
    made = Specification(kernel, 100, [np.zeros(4, np.int32)], {"block_size_x": [32, 64]}, (None,) * 3)
    made.add_memory({"size": size}, {"filter": np.arange(9, dtype=np.float32), "count": np.int32(7)})
    made.write(str(tmp_path), [True])
    _, symbol, count, shared = made.content["arguments"]
    content = np.load(symbol.pop("fill")["file"])
    assert symbol == {"name": "filter", "type": "float32", "size": 9, "symbol": True} and list(content) == [*range(9)]
    assert (count["name"], count["type"], count["size"], count["symbol"]) == ("count", "int32", 1, True)
    assert shared == {"name": "shared_memory", "type": "uint8", "local_size": want}


def test_what_kernels_in_cuda_c_cannot_have() -> None:
    source, texture = "__global__ void k(double *a) {}", {"texture": np.zeros(9)}
    with pytest.raises(NotImplementedError, match="texmem_args: CUDA 12 .* pass the array as an argument"):
        ndtune.tune_kernel("k", source, 1, [np.zeros(1)], {"block_size_x": [32]}, texmem_args=texture)


def test_shares_of_multiprocessors_are_refused() -> None:
    params = {"block_size_x": [32], "cuda_sm_percentage": [50, 100]}
    with pytest.raises(NotImplementedError, match="cuda_sm_percentage"):
        ndtune.tune_kernel("saxpy", SAXPY, 1024, [Y, X, A], params)


@pytest.mark.usefixtures("cuda")
def test_logs_priors_devices_and_files_of_results(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    profile = str(STANDIN / "profiles" / "nvidia-h200-cuda.profile")
    monkeypatch.setenv("STANDIN_PROFILES", f"{profile}:{profile}")
    task: Any = ("saxpy", SAXPY, 1024, [Y, X, A])
    params: dict[str, list[Any]] = {"block_size_x": [32, 64]}
    more: Any = {"answer": [A * X + Y, None, None], "quiet": True}
    log = tmp_path / "run.jsonl"
    ndtune.tune_kernel(*task, params, **more, keep_log=log)
    results, env = ndtune.tune_kernel(*task, params, **more, keep_log=log)
    assert len(results) == 2 and any("2 from the log" in note for note in env["notes"])
    _, env = ndtune.tune_kernel(*task, params, **more, prior=log, strategy="auto")
    assert any("prior run: 2 results" in note for note in env["notes"])
    results, _ = ndtune.tune_kernel(*task, params, **more, devices=[0, 1])
    assert len(results.correct()) == 2
    results.report(tmp_path / "report.html")
    assert "NVIDIA H200" in (tmp_path / "report.html").read_text()
    assert ndtune.check(*task, params, options=["--no-simulator", "--launches", "1"])["findings"] == []
    files = tmp_path / "results.json", tmp_path / "targets.h"
    ndtune.store_results(files[0], "saxpy", SAXPY, params, 1024, results, env)
    ndtune.create_device_targets(files[1], files[0])
    assert "TARGET_NVIDIA_H200" in files[1].read_text()
    tuned = PythonKernel("saxpy", SAXPY, 1024, [Y, X, A], results_file=str(files[0]), device=1)
    assert np.allclose(tuned(Y, X, A)[0], A * X + Y)


@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("generated", [False, True])
def test_a_search_and_a_launch(generated: bool) -> None:
    task: Any = ("saxpy", (lambda p: SAXPY) if generated else SAXPY, 1024, [Y, X, A])
    more: Any = {
        "lang": "CUDA",
        "smem_args": {"size": "block_size_x * 4"},
        "cmem_args": {"filter": OnGPU(np.ones(9, np.float32))},
        "compiler_options": ["--std=c++17", "-use_fast_math"],
    }
    results, env = ndtune.tune_kernel(*task, {"block_size_x": [32, 64]}, answer=[A * X + Y, None, None], **more)
    assert len(results) == 2 and all("__error__" not in r for r in results)
    assert env["platform_name"] == "CUDA" and env["best_config"]["block_size_x"] in (32, 64)
    assert (env["cuda_version"], env["compute_capability"], env["pci_bus_id"]) == (13000, "90", "0000:00:06.0")
    assert env["device_properties"]["compute_units"] == 132 and len(env["uuid"]) == 36
    after = ndtune.run_kernel(*task, {"block_size_x": 64}, **more)
    assert np.allclose(after[0], A * X + Y) and after[2] == A


@pytest.mark.usefixtures("cuda")
def test_arrays_on_a_gpu() -> None:
    y, expected = OnGPU(Y), OnGPU(A * X + Y)
    task: Any = ("saxpy", SAXPY, 1024, [y, OnHost(), A])
    outputs: list[Any] = []

    def verify(answer: Any, output: Any, atol: float) -> bool:
        outputs.append(output[0])
        return np.allclose(answer[0].get(), output[0].get())

    for more in ({}, {"verify": verify}):
        results, _ = ndtune.tune_kernel(*task, {"block_size_x": [32, 64]}, answer=[expected, None, None], **more)
        assert len(results) == 2 and all("__error__" not in r for r in results)
    assert len(outputs) >= 2 and isinstance(outputs[0], OnGPU)
    assert (y.get() == Y).all()  # a search leaves the array as it was
    after = ndtune.run_kernel(*task, {"block_size_x": 64})
    assert isinstance(after[0], OnGPU) and np.allclose(after[0].get(), A * X + Y)
    assert np.allclose(y.get(), A * X + Y)  # a launch does what the kernel does
    assert PythonKernel("saxpy", SAXPY, 1024, [y, X, A], {"block_size_x": 64})(y, X, A)[0] is not X
    assert np.allclose(y.get(), 2 * A * X + Y)


class OnCard(OnGPU):
    """An array in memory of the stand-in, which it can hand to other processes."""

    def __init__(self, array: np.ndarray, offset: int = 0) -> None:
        cuda, context, at = ctypes.CDLL(os.environ["NDTUNE_CUDA_LIBRARY"]), ctypes.c_void_p(), ctypes.c_void_p()
        calls = (cuda.cuInit(0), cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0), cuda.cuCtxSetCurrent(context))
        assert not any((*calls, cuda.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(array.nbytes + offset))))
        memory = (ctypes.c_byte * array.nbytes).from_address((at.value or 0) + offset)
        self._array, self.dtype, self.fetched = np.frombuffer(memory, array.dtype).reshape(array.shape), array.dtype, 0
        self._array[:] = array
        self.__cuda_array_interface__ = {**self._array.__array_interface__, "version": 3}

    def get(self) -> np.ndarray:
        self.fetched += 1
        return super().get()

    def copy(self) -> "OnCard":
        return OnCard(self._array)


@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("refused", ["", "handles", "opening"])
def test_large_arrays_stay_on_the_card(monkeypatch: pytest.MonkeyPatch, refused: str) -> None:
    if refused == "handles":  # they go over the host
        monkeypatch.setattr(_shared, "_call", lambda *_: (_ for _ in ()).throw(OSError("no handles")))
    if refused == "opening":
        monkeypatch.setenv("STANDIN_FAULTS", "device refuses opening")
    n = 1 << 18
    x, y = np.arange(n, dtype=np.float32), np.ones(n, np.float32)
    a, b, c = OnCard(x), OnCard(y, 4000), OnCard(np.zeros_like(x), 256)
    source = "// standin: add is add(c, a, b)\n__global__ void add(float *c, const float *a, const float *b, int n) {}"
    after = ndtune.run_kernel("add", source, n, [c, a, b, np.int32(n)], {"block_size_x": 64})
    assert a.fetched + b.fetched + c.fetched == (3 if refused else 0)
    assert isinstance(after[0], OnCard) and after[0] is not c and after[1] is not a and after[3] == n
    for array, want in ((c, x + y), (after[0], x + y), (a, x), (after[1], x), (b, y), (after[2], y)):
        assert (array.get() == want).all()


@pytest.mark.usefixtures("cuda")
def test_a_wrong_answer_on_a_gpu_is_found() -> None:
    task: Any = ("saxpy", SAXPY, 1024, [Y, X, A], {"block_size_x": [32]})
    results, _ = ndtune.tune_kernel(*task, answer=[OnGPU(X), None, None])
    assert isinstance(results[0]["__error__"], util.VerificationFailedConfig)


@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("defines", [None, {}, {"twice": lambda p: 2 * p["block_size_x"]}])
def test_templates(defines: Any) -> None:
    source = """// standin: add is add(c, a, b)
    template <typename T, int threads> __global__ void add(T *c, const T *a, const T *b, int n) {}"""
    task: Any = ("add<float, block_size_x>", source, 1024, [np.zeros_like(X), X, Y, np.int32(1024)])
    params = {"block_size_x": [32, 64]}
    results, _ = ndtune.tune_kernel(*task, params, answer=[X + Y, None, None, None], defines=defines)
    assert len(results) == 2 and all("__error__" not in r for r in results)
    assert np.allclose(ndtune.run_kernel(*task, {"block_size_x": 64}, defines=defines)[0], X + Y)


@pytest.mark.usefixtures("cuda")
def test_an_array_without_elements() -> None:
    source = """// standin: scale is scale(y, x, 2) over n
    __global__ void scale(float *y, const float *x, float *nothing, int n) {}"""
    nothing, n = np.zeros(0, np.float32), np.int32(1024)
    made = ndtune.run_kernel("scale", source, 1024, [Y, X, nothing, n], {"block_size_x": 32})
    assert np.allclose(made[0], 2 * X) and made[2].shape == (0,)


def test_factors_of_unrolled_loops() -> None:
    source = "\n    #pragma unroll loop_unroll_factor_k\n    for (;;);"
    for lang, factor, want in [
        ("CUDA", 8, "constexpr int loop_unroll_factor_k = 8;\n#line 1\n" + source),
        ("CUDA", 0, "\n\n    for (;;);"),
        ("OpenCL", 8, "#define loop_unroll_factor_k 8\n#line 1\n" + source),
    ]:
        params = {"loop_unroll_factor_k": factor}
        assert util.prepare_kernel_string("k", source, params, (), (), (), lang, params)[1] == want


@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("as_files", [True, False])
def test_both_languages(library: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, as_files: bool) -> None:
    monkeypatch.setenv("NDTUNE_OPENCL_LIBRARY", str(library))
    profiles = [str(STANDIN / "profiles" / f"nvidia-h200{kind}.profile") for kind in ("", "-cuda")]
    monkeypatch.setenv("STANDIN_PROFILES", ":".join(profiles))  # the card as a device of both platforms
    opencl = "__kernel void saxpy(__global float *y, __global const float *x, const float a) {}"
    sources: dict[str, Any] = {"OpenCL": opencl, "CUDA": SAXPY}
    for language, text in list(sources.items()) if as_files else ():
        sources[language] = tmp_path / f"saxpy.{language}"
        sources[language].write_text(text)
    task: Any = ("saxpy", sources, 1024, [Y, X, A])
    more: Any = {"tune_params": {"block_size_x": [32, 64]}, "answer": [A * X + Y, None, None]}
    in_opencl, _ = ndtune.tune_kernel(*task, **more)
    in_cuda, env = ndtune.tune_kernel(*task, **more, lang="CUDA")
    assert env["platform_name"] == "CUDA" and in_cuda.correct()
    compared = in_opencl.compare(in_cuda)
    assert "A  NVIDIA H200 (NVIDIA OpenCL)" in repr(compared) and "B  NVIDIA H200 (CUDA C)" in repr(compared)
    assert "NVIDIA H200 (CUDA C) |" in compared._repr_markdown_()
    assert np.allclose(ndtune.run_kernel(*task, {"block_size_x": 64}, lang="CUDA")[0], A * X + Y)
    with pytest.raises(ndtune.NdtuneError, match="NVIDIA H200 of .* takes no kernels in CUDA"):
        ndtune.tune_kernel(*task, **more, lang="CUDA", device="gpu")
    other, _ = ndtune.tune_kernel("saxpy", SAXPY, *task[2:], **more)
    with pytest.raises(RuntimeError, match="different problems"):
        in_opencl.compare(other)


def test_a_dictionary_of_sources_has_both_languages() -> None:
    with pytest.raises(ValueError, match="has the languages OpenCL: it needs OpenCL and CUDA"):
        Kernel("saxpy", {"OpenCL": SAXPY}, None, None)
