#!/usr/bin/env python3
"""Puts the faults of faults.txt into a tree, one at a time, and notes which tests notice them.

    scripts/faults/run.py [--only 07,12] [--env K=V]... [--test-command-extra=WORDS] [--list FILE] [--vet] TREE OUT.tsv

TREE is a clean clone, in which this program works: it changes one file for each fault, and restores it, also when it
is interrupted. For each fault it runs the tests of the fault's package:

    go test -failfast -count=1 -timeout 20m ./ROOM

If they pass, it runs those of ./cmd/ndtune. It appends a line to OUT.tsv: id, room, name, noticed by (package,
cmd/ndtune or none), the first test that failed, seconds. Faults whose id is in OUT.tsv are left out, so that the same
command goes on after an interrupt.

The environment is that of this program, with what --env adds. The words of --test-command-extra that begin with - are
added to each go test, such as «-short -run=TestLog»; the others are packages whose tests run between the two, such as
./tune/record. With --vet, nothing is tested: go vet only shows that each faulty tree compiles.

    scripts/faults/run.py --only 36 --test-command-extra=-skip=TestDigests /tmp/clone /tmp/faults.tsv
"""
import argparse
import os
import re
import shlex
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def read_faults(path):
    """Returns the faults of a list: dictionaries of id, room, name, file, old and new."""
    with open(path, encoding="utf-8", newline="") as f:
        text = f.read()
    faults = []
    for block in re.split(r"^== ", text, flags=re.M)[1:]:
        m = re.fullmatch(r"(\d+) (\S+) (\S+)\n(?:#[^\n]*\n)+file (\S+)\n--- old\n(.+?\n)--- new\n(.*?)\n*", block, flags=re.S)
        if not m:
            sys.exit(f"{path}: this block cannot be read:\n== {block}")
        fault = dict(zip(["id", "room", "name", "file", "old", "new"], m.groups()))
        fault["new"] += "\n" if fault["new"] else ""
        if any(fault["id"] == other["id"] for other in faults):
            sys.exit(f"{path}: the id {fault['id']} stands twice")
        faults.append(fault)
    return faults


def faulty(fault, content):
    """Returns the content of a file with a fault. The old text consists of whole lines and stands there once."""
    old, new = "\n" + fault["old"], "\n" + fault["new"]
    n = ("\n" + content).count(old)
    if n != 1:
        sys.exit(f"fault {fault['id']}: the old text stands {n} times in {fault['file']}, not once")
    return ("\n" + content).replace(old, new)[1:]


def run(command, tree, env):
    """Runs a command to its end, and returns its status and what it printed. An interrupt kills all that it has started."""
    p = subprocess.Popen(command, cwd=tree, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
    try:
        text = p.communicate()[0]
        return p.returncode, text
    except BaseException:
        os.killpg(p.pid, signal.SIGKILL)
        p.wait()
        raise


def first_failure(text):
    """Returns the name of the first test that failed, or of the one that ran when the process ended."""
    names = re.findall(r"^\s*--- FAIL: (\S+)", text, flags=re.M)
    if names:
        name = names[0]
        for deeper in names[1:]:
            name = deeper if deeper.startswith(name + "/") else name
        return name
    running = re.search(r"running tests:\s+(Test\S+)", text) or re.search(r"\.(Test\w+)\(", text)
    return running.group(1) + " (crash)" if running else "-"


def notice(fault, args, env):
    """Runs tests until one notices the fault. Returns who did, and the test."""
    flags = [w for w in args.extra if w.startswith("-")]
    stages = [("package", "./" + fault["room"])]
    stages += [(w.removeprefix("./"), w) for w in args.extra if not w.startswith("-")]
    stages += [("cmd/ndtune", "./cmd/ndtune/...")]
    seen = set()
    for who, package in stages:
        if package in seen:
            continue
        seen.add(package)
        if args.vet:
            status, text = run(["go", "vet", package], args.tree, env)
            if status != 0:
                sys.exit(f"fault {fault['id']}: go vet {package}:\n{text}")
            return "vet", "-"
        status, text = run(["go", "test", "-failfast", "-count=1", "-timeout", "20m", *flags, package], args.tree, env)
        if "[build failed]" in text or "[setup failed]" in text or "no required module" in text:
            sys.exit(f"fault {fault['id']}: {package} cannot be built:\n{text}")
        if status != 0:
            return who, first_failure(text)
    return "none", "-"


def one(fault, args, env):
    """Puts a fault into the tree, runs the tests, and restores the file. Returns the line of the table."""
    path = os.path.join(args.tree, fault["file"])
    with open(path, encoding="utf-8", newline="") as f:
        content = f.read()
    wrong = faulty(fault, content)
    began = time.monotonic()
    try:
        with open(path, "w", encoding="utf-8", newline="") as f:
            f.write(wrong)
        who, test = notice(fault, args, env)
    finally:
        with open(path, "w", encoding="utf-8", newline="") as f:
            f.write(content)
    return "\t".join([fault["id"], fault["room"], fault["name"], who, test, f"{time.monotonic() - began:.0f}"])


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--only", default="", help="ids, with commas")
    p.add_argument("--env", action="append", default=[], metavar="K=V")
    p.add_argument("--test-command-extra", dest="extra", type=shlex.split, default=[], metavar="WORDS")
    p.add_argument("--list", default=os.path.join(HERE, "faults.txt"), metavar="FILE")
    p.add_argument("--vet", action="store_true")
    p.add_argument("tree")
    p.add_argument("out")
    args = p.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))

    faults, wanted = read_faults(args.list), [i for i in args.only.split(",") if i]
    unknown = set(wanted) - {f["id"] for f in faults}
    if unknown:
        sys.exit(f"no fault has the id {', '.join(sorted(unknown))}")
    status, text = run(["git", "status", "--porcelain", "--untracked-files=no"], args.tree, None)
    if status != 0 or text:
        sys.exit(f"{args.tree} is no clean clone:\n{text}")
    for fault in faults:  # all of them, before the first test
        with open(os.path.join(args.tree, fault["file"]), encoding="utf-8", newline="") as f:
            faulty(fault, f.read())
    done = set()
    if os.path.exists(args.out):
        with open(args.out, encoding="utf-8") as f:
            done = {line.split("\t")[0] for line in f}
    env = {**os.environ, **dict(e.split("=", 1) for e in args.env)}
    for fault in faults:
        if fault["id"] in done or wanted and fault["id"] not in wanted:
            continue
        line = one(fault, args, env)
        with open(args.out, "a", encoding="utf-8") as f:
            f.write(line + "\n")
        print(line, flush=True)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("interrupted; the file is restored")
