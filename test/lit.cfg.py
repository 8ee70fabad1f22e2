"""lit configuration: IR tests of the dialect, the passes and the tools."""

import os

import lit.formats
from lit.llvm import llvm_config
from lit.llvm.subst import ToolSubst

config.name = "MCT"
config.test_format = lit.formats.ShTest(not llvm_config.use_lit_shell)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "data", "unit", "python", "lit.cfg.py"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.mct_obj_root, "test")

# A capture must not leak from one function of a test into the next.
config.environment["FILECHECK_OPTS"] = "--enable-var-scope --dump-input-filter=all"

tools_dir = os.path.join(config.mct_obj_root, "bin")
llvm_config.with_environment("PATH", tools_dir, append_path=True)
llvm_config.with_environment("PATH", config.llvm_tools_dir, append_path=True)
tools = ["mct-opt", "mct-run", "mct-translate"]
# MctRoundTripTests reads back what the tools write.
if "MCT_ROUND_TRIP_DIR" in os.environ:
    config.environment["MCT_ROUND_TRIP_DIR"] = os.environ["MCT_ROUND_TRIP_DIR"]
    wrapper = os.path.join(config.test_source_root, "round-trip")
    tools = [
        tool if tool == "mct-run" else ToolSubst(tool, command=wrapper, extra_args=[os.path.join(tools_dir, tool)])
        for tool in tools
    ]
llvm_config.add_tool_substitutions(tools, [tools_dir])
llvm_config.add_tool_substitutions(["mlir-opt", "FileCheck", "not", "count", "split-file"], [config.llvm_tools_dir])

config.substitutions.append(("%mct_obj", config.mct_obj_root))
config.substitutions.append(("%mct_src", config.mct_src_root))
config.substitutions.append(("%mct_data", os.path.join(config.mct_src_root, "test", "data")))
config.substitutions.append(("%mct_cmake", config.mct_cmake))
config.substitutions.append(("%mct_cc", config.mct_c_compiler))
config.substitutions.append(("%mct_cxx", config.mct_cxx_compiler))
config.substitutions.append(("%llvm_prefix", os.path.dirname(config.llvm_tools_dir)))

# The models, images and golden numbers that are not part of the repository.
shared = os.environ.get("MCT_SHARED_DIR", os.path.join(config.mct_src_root, "..", "shared"))
config.substitutions.append(("%mct_shared", shared))
if os.path.isdir(os.path.join(shared, "data", "models")):
    config.available_features.add("shared")
else:
    lit_config.note(f"no shared models in {shared}: tests that need them are unsupported")
