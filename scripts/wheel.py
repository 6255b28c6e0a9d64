"""Writes wheels of the package for Python, each with the program for one platform inside.

    python3 scripts/wheel.py [--go GO] [--version DESCRIBED] [--out FOLDER] [PLATFORM ...]

A wheel is a zip archive with a list of hashes; what it says of itself stands in python/pyproject.toml. Two runs on one commit
give the same bytes: files are sorted, their dates are fixed, and the program is built without paths.
"""

import argparse
import base64
import csv
import hashlib
import io
import os
import runpy
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# The tags of wheels. The program names glibc's loader and functions that glibc 2.17 has, without versions of symbols; Go asks for
# Linux 3.2 and macOS 12. On musl it must name musl's loader: MUSL. That runs on x86-64 with musl 1.2; elsewhere nobody has tried.
TAGS = {
    "linux/amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64",
    "linux/arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64",
    "musl/amd64": "musllinux_1_2_x86_64",
    "darwin/amd64": "macosx_12_0_x86_64",
    "darwin/arm64": "macosx_12_0_arm64",
    "windows/amd64": "win_amd64",
}
MUSL = "/lib/ld-musl-x86_64.so.1"


def build(go: str, platform: str, described: str) -> bytes:
    """Build the program, stripped, and return it."""
    system, machine = platform.split("/")
    flags = "-s -w" + (f" -X github.com/ndtune/ndtune/cmd/ndtune/internal/ui.Version={described}" if described else "")
    if system == "musl":
        system, flags = "linux", flags + f" -I {MUSL}"
    environment = {**os.environ, "CGO_ENABLED": "0", "GOOS": system, "GOARCH": machine}
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "ndtune"
        command = [go, "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", str(program), "./cmd/ndtune"]
        subprocess.run(command, cwd=ROOT, env=environment, check=True)
        return program.read_bytes()


def licenses(go: str) -> dict[str, bytes]:
    """Return the licenses of the program and of the modules that are linked into it, by path below licenses/."""
    found = {name: (ROOT / name).read_bytes() for name in ("LICENSE", "NOTICE")}
    root = subprocess.run([go, "env", "GOROOT"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    found["modules/go/LICENSE"] = (Path(root) / "LICENSE").read_bytes()
    command = [go, "list", "-deps", "-f", "{{with .Module}}{{.Path}}\t{{.Dir}}{{end}}", "./cmd/ndtune"]
    listed = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    for line in sorted(set(filter(None, listed.splitlines()))):
        path, folder = line.split("\t")
        for file in sorted(Path(folder).iterdir()) if Path(folder) != ROOT else []:
            if file.is_file() and file.name.upper().startswith(("LICENSE", "COPYING", "NOTICE")):
                found[f"modules/{path}/{file.name}"] = file.read_bytes()
    return found


def metadata(project: dict, version: str, license_files: list[str]) -> str:
    """Return METADATA, from the table [project] of pyproject.toml."""
    lines = ["Metadata-Version: 2.4", f"Name: {project['name']}", f"Version: {version}"]
    lines += [f"Summary: {project['description']}", f"License-Expression: {project['license']}"]
    lines += [f"License-File: {path}" for path in license_files]
    lines += [f"Classifier: {classifier}" for classifier in project["classifiers"]]
    lines += [f"Project-URL: {name}, {url}" for name, url in project["urls"].items()]
    lines += [f"Requires-Python: {project['requires-python']}"]
    lines += [f"Requires-Dist: {requirement}" for requirement in project["dependencies"]]
    for extra, requirements in project["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}"]
        lines += [f'Requires-Dist: {requirement}; extra == "{extra}"' for requirement in requirements]
    readme = (ROOT / "python" / project["readme"]).read_text(encoding="utf-8")
    return "\n".join(lines) + "\nDescription-Content-Type: text/markdown\n\n" + readme


def write(path: Path, files: dict[str, tuple[bytes, int]], info: str) -> None:
    """Write a wheel: files by path, each with its contents and mode, and the list of their hashes."""
    record = io.StringIO()
    rows = csv.writer(record, lineterminator="\n")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:

        def add(name: str, contents: bytes, mode: int) -> None:
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3  # Unix, so that modes count
            entry.external_attr = (0o100000 | mode) << 16
            archive.writestr(entry, contents)

        for name, (contents, mode) in sorted(files.items(), key=lambda item: (item[0].startswith(info), item[0])):
            digest = base64.urlsafe_b64encode(hashlib.sha256(contents).digest()).rstrip(b"=").decode()
            rows.writerow([name, f"sha256={digest}", len(contents)])
            add(name, contents, mode)
        rows.writerow([f"{info}RECORD", "", ""])
        add(f"{info}RECORD", record.getvalue().encode(), 0o644)


def main() -> None:
    """Build the program for each platform and write its wheel."""
    if sys.version_info < (3, 11):
        sys.exit("wheel.py needs Python 3.11 or newer, which reads pyproject.toml")
    import tomllib

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--go", default="go")
    parser.add_argument("--version", default="", help="of git describe; the program says it, the wheel has it in PEP 440's form")
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument("platforms", nargs="*", metavar="PLATFORM", help=f"default: all ({', '.join(TAGS)})")
    given = parser.parse_args()
    if unknown := set(given.platforms) - TAGS.keys():
        parser.error(f"no wheels for {', '.join(sorted(unknown))}; there are {', '.join(TAGS)}")

    package = ROOT / "python" / "ndtune"
    version = runpy.run_path(str(package / "_binary.py"))["release"](given.version)
    settings = tomllib.loads((package.parent / "pyproject.toml").read_text(encoding="utf-8"))
    project = settings["project"]
    info = f"ndtune-{version}.dist-info/"
    files = {}
    for file in package.rglob("*"):
        if file.is_file() and file.suffix != ".pyc":
            files[file.relative_to(package.parent).as_posix()] = (file.read_bytes(), 0o644)
    texts = licenses(given.go)
    files |= {f"{info}licenses/{path}": (text, 0o644) for path, text in texts.items()}
    files[f"{info}METADATA"] = (metadata(project, version, sorted(texts)).encode(), 0o644)
    scripts = "".join(f"{name} = {function}\n" for name, function in project["scripts"].items())
    files[f"{info}entry_points.txt"] = (f"[console_scripts]\n{scripts}".encode(), 0o644)

    given.out.mkdir(exist_ok=True)
    for platform in given.platforms or TAGS:
        tag = TAGS[platform]
        program = "ndtune/bin/ndtune" + (".exe" if platform.startswith("windows") else "")
        tags = "".join(f"Tag: py3-none-{part}\n" for part in tag.split("."))
        about = f"Wheel-Version: 1.0\nGenerator: ndtune scripts/wheel.py\nRoot-Is-Purelib: false\n{tags}"
        path = given.out / f"ndtune-{version}-py3-none-{tag}.whl"
        own = {program: (build(given.go, platform, given.version), 0o755), f"{info}WHEEL": (about.encode(), 0o644)}
        write(path, files | own, info)
        print(f"{path.stat().st_size / 1e6:6.1f} MB  {path.name}", flush=True)


if __name__ == "__main__":
    main()
