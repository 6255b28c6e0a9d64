"""`python -m ndtune …` and the command ndtune run the program; `python -m ndtune t1 …` reads T1 files."""

import os
import subprocess
import sys

from ndtune import _binary


def main() -> int:
    """Run the program with the arguments of the command line, in this process's place where the system can."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["t1"]:
        from ndtune import t1

        return t1.main(arguments[1:]) or 0
    try:
        program = _binary.find()
        if os.name == "nt":
            return subprocess.run([program, *arguments], env=_binary.environment(), check=False).returncode
        os.execve(program, [program, *arguments], _binary.environment())
    except (_binary.NdtuneError, OSError) as error:
        print(f"ndtune: {error}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
