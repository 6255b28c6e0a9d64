"""CUDA C: on the stand-in for ndtune, and with CUDA_TESTS=device on the card, where Kernel Tuner's cases run, too."""

import os
from typing import Any

import numpy as np
import pytest

OURS, ON_DEVICE = os.environ.get("PACKAGE", "ndtune") == "ndtune", os.environ.get("CUDA_TESTS") == "device"
ADD = """// standin: vector_add is add(c, a, b) over n
extern "C" __global__ void vector_add(float *c, float *a, float *b, int n) {
    int i = blockIdx.x * block_size_x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
"""
only_on_a_card = pytest.mark.skipif(not ON_DEVICE, reason="CUDA_TESTS=device runs this on the card")


@pytest.fixture(autouse=True)
def place(request: pytest.FixtureRequest) -> None:
    if not ON_DEVICE and not OURS:
        pytest.skip("Kernel Tuner needs a card: CUDA_TESTS=device")
    if not ON_DEVICE:
        request.getfixturevalue("cuda")


@pytest.fixture
def task() -> list[Any]:
    """The first five arguments of tune_kernel."""
    a, b = np.random.default_rng(7).standard_normal((2, 100)).astype(np.float32)
    return ["vector_add", ADD, 100, [np.zeros_like(a), a, b, np.int32(100)], {"block_size_x": [128, 192, 256]}]


@pytest.fixture
def expected(task: list[Any]) -> list[Any]:
    return [task[3][1] + task[3][2], None, None, None]


@pytest.mark.parametrize("lang", [None, "CUDA", "cupy"])
def test_languages_are_backends(package: Any, task: list[Any], expected: list[Any], lang: Any) -> None:
    results, env = package.tune_kernel(*task, answer=expected, lang=lang)
    assert [r["block_size_x"] for r in results] == [128, 192, 256] and all(r["time"] > 0 for r in results)
    for key in ("device_name", "cuda_version", "compute_capability", "iterations", "device_properties"):
        assert env[key]
    assert env["uuid"] and env["pci_bus_id"] and "compiler_options" in env


def test_names_of_block_sizes(package: Any, task: list[Any], expected: list[Any]) -> None:
    task[1] = ADD.replace("block_size_x", "block_dim_x")
    task[4] = {"block_dim_x": [128, 192], "block_size_y": [1], "block_size_z": [1]}
    names: Any = {"grid_div_x": ["block_dim_x"], "block_size_names": ["block_dim_x"]}
    results, _ = package.tune_kernel(*task, **names, answer=expected)
    assert len(results) == 2


@pytest.mark.parametrize("size", [1024, "block_size_x*4", lambda p: p["block_size_x"] * 4])
def test_dynamic_shared_memory(package: Any, task: list[Any], expected: list[Any], size: Any) -> None:
    head, body = ADD.split("    int i")
    task[1] = f"{head}    extern __shared__ float stage[];\n    stage[threadIdx.x] = a[0];\n    int i{body}"
    results, _ = package.tune_kernel(*task, answer=expected, smem_args={"size": size})
    assert len(results) == 3 and all("__error__" not in r for r in results)


def test_constant_memory(package: Any) -> None:
    source = """// standin: get is copy(out, content) over 100
    __constant__ float content[100];
    __global__ void get(float *out) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < 100) out[i] = content[i]; }
    """
    out, content = np.zeros(100, np.float32), np.full(100, 23, np.float32)
    made = package.run_kernel("get", source, 100, [out], {"block_size_x": 128}, cmem_args={"content": content})
    assert (made[0] == content).all() and (out == 0).all()


@pytest.mark.parametrize("defines", [None, {}])
def test_templates(package: Any, task: list[Any], expected: list[Any], defines: Any) -> None:
    task[0] = "vector_add<float, block_size_x>"
    task[1] = """// standin: vector_add is add(c, a, b) over n
    template <typename T, int threads> __global__ void vector_add(T *c, T *a, T *b, int n) {
        int i = blockIdx.x * threads + threadIdx.x;
        if (i < n) c[i] = a[i] + b[i];
    }"""
    results, _ = package.tune_kernel(*task, answer=expected, defines=defines)
    assert len(results) == 3 and all("__error__" not in r for r in results)


@only_on_a_card
def test_templates_in_namespaces(package: Any, task: list[Any]) -> None:
    source = """namespace outer::inner { template <typename T, int N> __global__ void add(T *c, T *a, T *b) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < N) c[i] = a[i] + b[i];
    } }"""
    name, options = "outer::inner::add<float,100>", ["-std=c++17"]
    made = package.run_kernel(name, source, 100, task[3][:3], {"block_size_x": 64}, compiler_options=options)
    assert np.allclose(made[0], task[3][1] + task[3][2])


@only_on_a_card
def test_headers_of_the_toolkit(package: Any, task: list[Any]) -> None:
    source = """#include <cuda_fp16.h>
    __global__ void add(__half *c, __half *a, __half *b, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) c[i] = __hadd(a[i], b[i]);
    }"""
    halves = [array.astype(np.float16) for array in task[3][:3]]
    made = package.run_kernel("add", source, 100, [*halves, np.int32(100)], {"block_size_x": 64})
    assert np.allclose(made[0], halves[1] + halves[2], atol=1e-2)


@pytest.mark.parametrize("factor", [0, 4])
def test_unrolled_loops(package: Any, task: list[Any], factor: int) -> None:
    task[1] = ADD.replace("    if (i", "#pragma unroll loop_unroll_factor_k\n    for (int k = 0; k < 1; k++) if (i")
    made = package.run_kernel(*task[:4], {"block_size_x": 64, "loop_unroll_factor_k": factor})
    assert np.allclose(made[0], task[3][1] + task[3][2])


def test_sources_from_functions(package: Any, task: list[Any], expected: list[Any]) -> None:
    task[1] = lambda p: ADD.replace("block_size_x", str(p["block_size_x"]))
    results, _ = package.tune_kernel(*task, answer=expected, lang="CUDA")
    assert len(results) == 3 and all("__error__" not in r for r in results)


def test_a_wrong_output_is_found(package: Any, task: list[Any], expected: list[Any], strict: dict[str, Any]) -> None:
    with pytest.raises(RuntimeError, match="verification failed"):
        package.tune_kernel(*task, answer=[expected[0] + 1, None, None, None], **strict)


def test_a_block_that_is_too_large(package: Any, task: list[Any]) -> None:
    with pytest.raises(RuntimeError):
        package.run_kernel(*task[:4], {"block_size_x": 2048})


@only_on_a_card
def test_registers(package: Any, module: Any, task: list[Any]) -> None:
    observer = module("observers.register").RegisterObserver()
    results, _ = package.tune_kernel(*task, observers=[observer], lang="cupy")
    assert all(r["num_regs"] > 0 for r in results)


def test_observers_see_the_device(package: Any, module: Any, task: list[Any]) -> None:
    class Named(module("observers").BenchmarkObserver):
        def get_results(self) -> dict[str, Any]:
            return {"name": self.dev.name}

    results, env = package.tune_kernel(*task, observers=[Named()])
    assert results[0]["name"] == env["device_name"]


@pytest.mark.parametrize("lang", ["cuda", "cupy"])
def test_python_kernels(package: Any, module: Any, task: list[Any], lang: str) -> None:
    kernel = module("kernelbuilder").PythonKernel(*task[:4], {"block_size_x": 384}, lang=lang)
    assert np.allclose(kernel(*task[3])[0], task[3][1] + task[3][2])


def test_python_kernels_of_tuned_results(package: Any, module: Any, task: list[Any]) -> None:
    results = [{"block_size_x": 384, "time": 1.0}, {"block_size_x": 128, "time": 2.0}]
    params = {"block_size_x": [128, 384]}
    package.store_results("results.json", *task[:2], params, task[2], results, {"device_name": "another"})
    kernel = module("kernelbuilder").PythonKernel(*task[:4], results_file="results.json", lang="cuda")
    assert kernel.params["block_size_x"] == 384
    assert np.allclose(kernel(*task[3])[0], task[3][1] + task[3][2])


@only_on_a_card
def test_arrays_of_cupy(package: Any, module: Any, task: list[Any]) -> None:
    cupy = pytest.importorskip("cupy")
    c, a, b = (cupy.asarray(array) for array in task[3][:3])
    arguments, more = [c, a, b, task[3][3]], {"lang": "cupy"}
    results, _ = package.tune_kernel(*task[:3], arguments, task[4], answer=[a + b, None, None, None], **more)
    assert len(results) == 3
    c[:] = 0
    made = package.run_kernel(*task[:3], arguments, {"block_size_x": 64}, **more)
    assert isinstance(made[0], cupy.ndarray) and cupy.allclose(made[0], a + b) and cupy.allclose(c, a + b)
    c[:] = 0
    assert module("kernelbuilder").PythonKernel(*task[:3], arguments, {"block_size_x": 64}, **more)(*arguments) == []
    assert cupy.allclose(c, a + b)
