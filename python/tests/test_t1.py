"""T1 files against what the reader of the program made of them before it moved here."""

import hashlib
import json
import os
import subprocess
from pathlib import Path

import numpy
import pytest

from ndtune import NdtuneError, _binary, t1

DATA = Path(__file__).parent / "data"
SPACES = json.loads((DATA / "t1_spaces.json").read_text())["spaces"]
KERNEL_TUNER = os.environ.get("KERNEL_TUNER_SOURCE", "")  # a checkout of Kernel Tuner, which has T1 files in its tests


@pytest.fixture(scope="module")
def program():
    try:
        return _binary.find()
    except NdtuneError:
        pytest.skip("there is no program ndtune: build it, and name it in the environment variable NDTUNE")


@pytest.mark.parametrize("name", SPACES)
def test_spaces_are_those_that_were_recorded(name, program, tmp_path):
    path = Path(KERNEL_TUNER, name.removeprefix("kernel_tuner/")) if "/" in name else DATA / "t1" / name
    if "/" in name and not KERNEL_TUNER:
        pytest.skip("the file is Kernel Tuner's: name a checkout in KERNEL_TUNER_SOURCE")
    read = t1.from_t1(path)
    (tmp_path / "k.cl").write_text("kernel void k(global int *a) {}")
    specification = {
        "kernel": {"name": "k", "file": "k.cl"}, "problem_size": 1, "block_size": {"x": "1"},
        "arguments": [{"name": "a", "type": "int32", "size": 1}],
        "parameters": read.parameters, "restrictions": read.restrictions(tmp_path),
    }  # fmt: skip
    (tmp_path / "k.json").write_text(json.dumps(specification))
    arguments = [program, "space", tmp_path / "k.json", "--json"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    names, *lines = done.stdout.splitlines()
    assert json.loads(names) == list(read.parameters)
    lines = [json.dumps(json.loads(line), separators=(",", ":")) for line in lines]
    assert len(lines) == SPACES[name]["count"]
    assert hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest() == SPACES[name]["sha256"]


GOOD = """{
  "ConfigurationSpace": {
    "TuningParameters": [
      {"Name": "block_size_x", "Type": "int", "Values": "[32, 64]"},
      {"Name": "real", "Type": "string", "Values": "['float', 'half']"}
    ],
    "Conditions": [{"Expression": "block_size_x > 1", "Parameters": ["block_size_x"]}]
  },
  "KernelSpecification": {
    "Language": "OpenCL", "KernelName": "scale", "KernelFile": "scale.cl",
    "ProblemSize": [1024], "GridDivX": ["block_size_x"],
    "Arguments": [
      {"Name": "x", "Type": "float", "MemoryType": "Vector", "Size": "ProblemSize[0] + max(block_size_x)",
       "FillType": "Random", "FillValue": 1.0},
      {"Name": "n", "Type": "int32", "MemoryType": "Scalar", "FillValue": 3}
    ]
  }
}"""
WRONG = """block_size_x > 1 => block_size_x > => Conditions[0].Expression: in 'block_size_x >': invalid syntax
block_size_x > 1 => block_size_x is 64 => Conditions[0].Expression: in 'block_size_x is 64', column 1: Is is not
block_size_x > 1 => block_size > 1 => nothing is named block_size; the names are block_size_x, real
block_size_x > 1 => __import__('os') == 1 => the call of __import__ is not known; known are
block_size_x > 1 => real.upper() == 'X' => the call of real.upper is not known
block_size_x > 1 => 5 // (block_size_x - 32) > 1 => by zero ('5 // (block_size_x - 32) > 1' raised this for
[32, 64] => [32, 64 => Values: in '[32, 64': '[' was never closed
[32, 64] => [32, 'a'] => Values: value 2: 'a' is not of the type int
[32, 64] => [n for n in real] => nothing is named real
[32, 64] => list(range(10**7)) => ranges have more than 1000000 items
[32, 64] => 3 ** 10 ** 9 => beyond the integers of 64 bits
[32, 64] => [32, 32] => the value 32 stands twice
"Type": "string" => "Typ": "string" => the key Typ is unknown; did you mean Type?
OpenCL => HIP => Language: the kernel is written in HIP; OpenCL and CUDA can be tuned
scale.cl => scal.cl => KernelFile: there is no file
["block_size_x"], => ["block_sise_x"], => GridDivX[0]: in 'block_sise_x', column 1: nothing is named block_sise_x
"ProblemSize": [1024], => "GlobalSize": {"X": "1024"}, => GridDivX: it divides a ProblemSize, which is missing
ProblemSize[0] + max(block_size_x) => block_size_x => Arguments[0].Size: expected a number; in a size a parameter
ProblemSize[0] + max(block_size_x) => 2.5 => Arguments[0].Size: 2.5 is not a whole number
"FillType": "Random" => "FillType": "Generator" => FillType: expected Constant or Random or BinaryRaw or Uninitialized
"FillType": "Random" => "FillType": "BinaryRaw", "DataSource": "broken.bin" => broken.bin has 7 bytes, which are no
"MemoryType": "Scalar" => "MemoryType": "Symbol" => expected Scalar or Vector or Local, found "Symbol"
"Type": "int32" => "Type": "custom" => Arguments[1].Type: a custom type is not supported
"Language" => "SharedMemory": 1024, "Language" => an OpenCL kernel has no dynamic shared memory
"Language" => "CompilerOptions": ["-std=c++11"], "Language" => -std=c++11 is no option of OpenCL compilers
"[32, 64]" => [32, null] => Values[1]: expected a number, a text, true or false, found null
"[32, 64]" => [32, [64]] => Values[1]: expected a number, a text, true or false, found [64]
"[32, 64]" => null => TuningParameters[0]: the key Values is missing
"[32, 64]" => {"range": [32, 64]} => Values: expected a number, a text, true or false, found {"range": [32, 64]}
"FillValue": 3 => "FillValue": null => Arguments[1]: the scalar has no FillValue
"FillType": "Random" => "Output": [1], "FillType": "Random" => Output: expected true or false, found [1]
"FillType": "Random" => "Output": 2, "FillType": "Random" => Output: expected true or false, found 2
"FillType": "Random" => "FillType": "BinaryRaw", "DataSource": "" => DataSource: expected a text, found ""
"FillValue": 1.0 => "FillValue": [1.0] => FillValue: expected a number, a text, true or false, found [1.0]
""".strip().splitlines()


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_files_are_refused(wrong, tmp_path):
    old, new, message = wrong.split(" => ")
    assert GOOD.count(old) == 1
    (tmp_path / "wrong.json").write_text(GOOD.replace(old, new))
    (tmp_path / "scale.cl").write_text("")
    (tmp_path / "broken.bin").write_bytes(b"seventy")
    with pytest.raises(NdtuneError) as raised:
        t1.from_t1(tmp_path / "wrong.json").specification(tmp_path)
    assert str(raised.value).startswith(f"{tmp_path / 'wrong.json'}: ")
    assert message in str(raised.value)


@pytest.mark.usefixtures("cuda")
def test_kernels_in_cuda_c(tmp_path):
    file = json.loads(GOOD)
    kernel = file["KernelSpecification"]
    kernel |= {"Language": "CUDA", "GlobalSizeType": "CUDA", "KernelFile": "scale.cu", "CompilerOptions": ["-w"]}
    kernel |= {"SharedMemory": "block_size_x * 4", "KernelTypeNames": ["real", "block_size_x"]}
    kernel["Arguments"][0] |= {"MemType": "Constant", "Output": True}
    (tmp_path / "t1.json").write_text(json.dumps(file))
    source = """// standin: scale is nothing()
    __constant__ float x[2048];
    template <typename T, int n> __global__ void scale(float *y, int count) {}"""
    (tmp_path / "scale.cu").write_text(source)
    made = t1.from_t1(tmp_path / "t1.json").specification(tmp_path)
    assert made["kernel"]["name"] == "scale<{real}, {block_size_x}>" and made["kernel"]["language"] == "cuda"
    argument, _, symbol, shared = made["arguments"]
    assert (argument["name"], symbol["name"], symbol["symbol"]) == ("argument 1", "x", True)
    assert shared["local_size"] == "block_size_x * 4"
    results, env = t1.tune_kernel_T1(tmp_path / "t1.json", output_T4=False, device=0, strategy="brute_force")
    assert len(results.correct()) == 4 and env["platform_name"] == "CUDA"


def test_a_specification_that_is_written_is_what_the_program_takes(program, tmp_path):
    for name in ("gemm", "groups", "plain", "raw", "scale"):
        path = tmp_path / f"{name}.yaml"
        assert t1.main([str(DATA / "t1" / f"{name}.json"), "-o", str(path)]) == 0
        counted = subprocess.run([program, "space", path, "--count"], capture_output=True, text=True, check=True)
        assert int(counted.stdout) == SPACES[f"{name}.json"]["count"]
    assert numpy.load(tmp_path / "gemm.3.npy").shape == (4, 4)
    text = (tmp_path / "groups.yaml").read_text()
    assert "grid_div:\n  x: []\n  y: []\n  z: []\n" in text
    assert '# not converted: Budget: [{"Type": "TuningDuration", "BudgetValue": 60}]' in text


def test_the_command_says_what_is_wrong(tmp_path, capsys):
    (tmp_path / "t1.json").write_text("{")
    assert t1.main([str(tmp_path / "t1.json")]) == 2
    assert f"ndtune: {tmp_path / 't1.json'}: this is no JSON file: " in capsys.readouterr().err
