# SPDX-License-Identifier: Apache-2.0
"""Training that is killed again and again."""

import subprocess
import time
from collections.abc import Sequence
from pathlib import Path


def run_killed(command: Sequence[str | Path], checkpoint: Path, output: Path) -> None:
    """Kills a run as soon as it has written a checkpoint, the next one after two more, one after three more; the last
    one comes to its end. There must be more checkpoints to write than these."""

    def written() -> int:
        return checkpoint.stat().st_mtime_ns if checkpoint.exists() else 0

    command = list(map(str, command))
    for checkpoints in (1, 2, 3):
        process = subprocess.Popen(command)
        for _ in range(checkpoints):
            before = written()
            while process.poll() is None and written() == before:
                time.sleep(0.0005)
        process.kill()
        process.wait()
        assert checkpoint.exists()
        assert not output.exists()
    subprocess.run(command, check=True)
