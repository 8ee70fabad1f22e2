# SPDX-License-Identifier: Apache-2.0
"""Python environments with pinned packages, which all checkouts of a user share.

An environment is installed once, into `$XDG_CACHE_HOME/mct-environments` (default: `~/.cache/mct-environments`), in a
folder that is named after its packages and the interpreter; a checkout has a link to it. Other packages make another
folder, so that checkouts of different versions do not disturb each other. The folder may be deleted at any time.

    python_environments.py build/docs-venv docs/requirements.txt    # the link, and a file with a package on each line
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

STAMP = "installed.txt"


def cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "mct-environments"


def stamp_text(packages: Sequence[str]) -> str:
    return "\n".join(packages) + "\n"


def is_installed(folder: Path, packages: Sequence[str] | None = None) -> bool:
    """Returns whether `folder` is a finished environment; with `packages`, whether it has exactly these."""
    stamp = folder / STAMP
    return stamp.exists() and packages in (None, stamp.read_text().splitlines())


def install(folder: Path, packages: Sequence[str], program: str) -> None:
    """Makes `folder` a link to an environment with `packages`, each as pip takes it; installs it where it is missing.

    The line that announces the installation begins with `program`. Throws RuntimeError with pip's message.
    """
    packages = list(packages)
    if is_installed(folder, packages):
        return
    interpreter = Path(sys.executable).resolve()
    key = hashlib.sha256("\n".join([sys.version, str(interpreter), *packages]).encode()).hexdigest()[:16]
    shared = cache() / f"{folder.name}-{key}"
    shared.parent.mkdir(parents=True, exist_ok=True)
    with (cache() / f"{shared.name}.lock").open("w") as lock:
        # Another checkout may be installing the same environment.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_installed(shared, packages):
            print(f"{program}: installing {' '.join(packages)} into {shared}", file=sys.stderr, flush=True)
            create(shared, interpreter, packages)
    if folder.is_dir() and not folder.is_symlink():
        shutil.rmtree(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    # A rename replaces a link to another environment at once.
    link = folder.with_name(f"{folder.name}.link")
    link.unlink(missing_ok=True)
    link.symlink_to(shared)
    link.replace(folder)


def create(folder: Path, interpreter: Path, packages: Sequence[str]) -> None:
    subprocess.run([interpreter, "-m", "venv", "--clear", folder], check=True)
    pip = [folder / "bin" / "python", "-m", "pip", "--quiet", "--disable-pip-version-check"]
    finished = subprocess.run(
        [*pip, "install", "--no-compile", *packages],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if finished.returncode != 0:
        raise RuntimeError(f"pip cannot install {' '.join(packages)}:\n{finished.stderr}")
    # Written last: an interrupted installation starts again.
    (folder / STAMP).write_text(stamp_text(packages))


def main(folder: str, requirements: str) -> int:
    try:
        install(Path(folder), Path(requirements).read_text().splitlines(), "setup")
    except RuntimeError as problem:
        print(f"setup: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
