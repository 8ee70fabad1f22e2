# SPDX-License-Identifier: Apache-2.0
"""A copy of the sources beside an existing build: what is changed in it is compiled and linked, and nothing else."""

from __future__ import annotations

import filecmp
import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import measure

REPOSITORY = measure.REPOSITORY
BUILD = measure.BIN.parent
COPIED = ("docs", "include", "lib", "test", "tools", "tpc_dialect")
LIT = Path("/usr/lib/llvm-22/bin/lit")


def run(command: list[str | Path], work: Path) -> str:
    finished = subprocess.run(list(map(str, command)), cwd=work, capture_output=True, text=True, check=False)
    shown = " ".join(map(str, command))
    assert finished.returncode == 0, f"{shown}\n{finished.stdout[-2000:]}{finished.stderr[-4000:]}"
    return finished.stdout


class ScratchTree:
    """`root` has the sources, and in `root/build` the tools, at first those of the real build."""

    def __init__(self, root: Path) -> None:
        self.root, self.build = root, root / "build"
        for name in COPIED:
            ignored = shutil.ignore_patterns("data", "__pycache__")
            shutil.copytree(REPOSITORY / name, root / name, ignore=ignored, symlinks=True)
        (root / "test" / "data").symlink_to(REPOSITORY / "test" / "data")
        (self.build / "bin").mkdir(parents=True)
        for tool in (BUILD / "bin").iterdir():
            (self.build / "bin" / tool.name).symlink_to(tool)
        (self.build / "lib").symlink_to(BUILD / "lib")
        site = self.build / "test" / "lit.site.cfg.py"
        site.parent.mkdir()
        site.write_text(self.moved((BUILD / "test" / "lit.site.cfg.py").read_text()))
        commands = json.loads((BUILD / "compile_commands.json").read_text())
        self.commands = {Path(entry["file"]): entry["command"] for entry in commands}
        # Files of a unity build by the sources that they include; those in the tree come first on the path of includes.
        self.batches = {
            Path(source): file
            for file in self.commands
            if BUILD in file.parents and "Unity" in file.name
            for source in re.findall(r'^#include "(.+)"$', file.read_text(), re.MULTILINE)
        }
        self.objects: dict[Path, Path] = {}

    def moved(self, text: str) -> str:
        """Returns the text with the paths of this tree instead of those of the repository."""
        return text.replace(str(BUILD), str(self.build)).replace(str(REPOSITORY), str(self.root))

    def changed(self) -> list[Path]:
        """Returns the sources and headers that are new, or not those of the repository, relative to the root."""
        found = []
        for folder in ("include", "lib", "test/unit"):
            for path in sorted((self.root / folder).rglob("*")):
                relative = path.relative_to(self.root)
                if path.is_file() and not (
                    (REPOSITORY / relative).exists() and filecmp.cmp(path, REPOSITORY / relative, shallow=False)
                ):
                    found.append(relative)
        return found

    def generate(self, declarations: Path) -> None:
        """Makes Passes.h.inc of a Passes.td."""
        output = self.build / declarations.parent / "Passes.h.inc"
        output.parent.mkdir(parents=True, exist_ok=True)
        folders = [self.root / declarations.parent, "/usr/lib/llvm-22/include", self.root, self.root / "include"]
        includes = [f"-I{folder}" for folder in folders]
        tool = "/usr/lib/llvm-22/bin/mlir-tblgen"
        name = f"Mct{declarations.parent.name}"
        run([tool, "-gen-pass-decls", "-name", name, *includes, self.root / declarations, "-o", output], self.root)

    def compile(self, source: Path, file: Path | None = None) -> Path:
        """Compiles a source, or a file that includes it, with the flags of its folder."""
        listed = (self.root / source.parent / "CMakeLists.txt").read_text()
        assert re.search(rf"\b{re.escape(source.name)}\b", listed), f"{source} is not in its CMakeLists.txt"
        folders = (REPOSITORY / source.parent, BUILD / source.parent)
        command = self.commands.get(REPOSITORY / source) or next(
            command for file, command in self.commands.items() if file.parent in folders
        )
        words = shlex.split(command)
        output = self.build / "objects" / source.parent / f"{(file or source).stem}.o"
        output.parent.mkdir(parents=True, exist_ok=True)
        words = [*words[: words.index("-o")], "-Werror", "-o", str(output), "-c", str(file or self.root / source)]
        # In front of those of the repository, which has what is generated and did not change.
        own = [f"-I{path}" for path in (self.root, self.root / "include", self.build, self.build / "include")]
        run([words[0], *own, *words[1:]], BUILD)
        return output

    def link(self, target: str, command: str, objects: list[Path]) -> None:
        """Links a tool of the build again, with these objects before those of its libraries."""
        words = shlex.split(command.partition("&&")[2].rpartition("&&")[0])
        at = words.index("-o")
        output = self.build / ("unit" if "Tests" in target else "bin") / target
        output.parent.mkdir(exist_ok=True)
        output.unlink(missing_ok=True)
        words = [word for word in words[:at] if "dependency-file" not in word and word != "-Xlinker"] + [
            *map(str, objects),
            "-o",
            str(output),
            *words[at + 2 :],
        ]
        run(words, BUILD)

    def make(self, *targets: str) -> None:
        """Does what `tools/dev/build TARGET...` does, for tools and binaries of unit tests."""
        changed = self.changed()
        sources = [path for path in changed if path.suffix == ".cpp" and path.parts[0] == "lib"]
        for path in changed:
            if path.name == "Passes.td":
                self.generate(path)
                # It registers the passes.
                sources.append(Path("lib/Pipelines/Pipelines.cpp"))
        # The file that is linked in place of an object has all that is in it.
        files = {self.batches.get(source, source): source for source in sources}
        objects = [self.compile(source, self.batches.get(source)) for source in files.values()]
        for target in targets:
            listing = run(["ninja", "-C", BUILD, "-t", "commands", "mct-opt" if "Tests" in target else target], BUILD)
            command = listing.splitlines()[-1]
            own = list(objects)
            if "Tests" in target:
                tests = [path for path in changed if path.match("test/unit/*/*.cpp")]
                own += [self.compile(test) for test in tests]
                command = command.replace("tools/mct-opt/CMakeFiles/mct-opt.dir/mct-opt.cpp.o", "").replace(
                    "lib/libMctPipelines.a", "lib/libMctPipelines.a -lgtest_main -lgtest", 1
                )
            self.link(target, command, own)

    def lit(self, folder: str) -> None:
        run([LIT, "-sv", self.build / "test" / folder], self.root)
