# SPDX-License-Identifier: Apache-2.0
"""MCT's module paths over `mct.compat`, in processes of their own: the aliases are those of a whole process."""

import importlib.util
import json
import re
import subprocess
import sys

import measure
import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")

HEAD = "import json\nimport mct.compat as model_compression_toolkit\n"


def run(script):
    """Returns the JSON that a script prints after the line that it begins with."""
    done = subprocess.run([sys.executable, "-c", HEAD + script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def names():
    """For each path of a public name, its replacement, its message, and the results of importing and using it."""
    return run("""
import importlib
from mct.compat import NAMES, Unavailable
found = {}
for path, name in NAMES.items():
    package, _, last = path.rpartition(".")
    module = importlib.import_module("model_compression_toolkit" + ("." + package if package else ""))
    value = getattr(module, last)
    entry = {"here": name.here, "does": name.does, "is_none": isinstance(value, Unavailable), "error": ""}
    if entry["is_none"]:
        try:
            value(1, two=2)
        except Exception as error:
            entry["error"] = [type(error).__name__, str(error)]
    elif ":" in name.here:
        module, _, last = name.here.partition(":")
        entry["is_ours"] = value == getattr(importlib.import_module(module), last)
    found[path] = entry
print(json.dumps(found))
""")


def test_all_public_names_of_mct_are_found_at_their_paths(names):
    # 113 that its packages export, and those of the network editor.
    editor = [path for path in names if path.startswith("core.network_editor.")]
    assert (len(names) - len(editor), len(editor)) == (113, 12)
    for path, name in names.items():
        assert name["is_none"] == (not name["here"]), path
        assert name.get("is_ours", True), path


def test_a_name_without_meaning_is_one_error_that_names_what_does_the_same(names):
    none = {path: name for path, name in names.items() if name["is_none"]}
    assert {path.rpartition(".")[0] for path in none} == {"pruning", "data_generation", "trainable_infrastructure"}
    assert len(none) == 20
    for path, name in none.items():
        assert name["error"] == ["TargetError", f"{path} has no meaning here: {name['does']}"]
        # The words name something that is there.
        assert re.search(r"mct\.|QuantizedModel", name["does"]), path


def test_the_page_lists_every_name(names):
    page = run(f"""
import sys
sys.path.insert(0, {str(measure.REPOSITORY / "docs")!r})
import generate
print(json.dumps(generate.mct_names(None)))
""")
    rows = dict(re.findall(r"^\| `([\w.]+)` \| (.*) \|$", page, re.MULTILINE))
    assert list(rows) == list(names)
    for path, name in names.items():
        assert name["does"] in rows[path]


def test_module_paths_of_mct_and_its_companions():
    assert (
        run("""
from model_compression_toolkit.core.common.quantization.quantization_config import QuantizationErrorMethod
import model_compression_toolkit.core.common.mixed_precision.resource_utilization_tools.resource_utilization as used
RUTarget = used.RUTarget
from model_compression_toolkit.target_platform_capabilities.schema.mct_current_schema import OperatorsSet
from model_compression_toolkit.target_platform_capabilities.target_platform import TargetPlatformModel
from model_compression_toolkit.target_platform_capabilities.constants import KERNEL_ATTR
from model_compression_toolkit.constants import FLOAT_BITWIDTH
from model_compression_toolkit.verify_packages import FOUND_TF
from mct_quantizers import QuantizationMethod, PytorchActivationQuantizationHolder, pytorch_quantizers
from mct_quantizers.pytorch.quantizers import WeightsPOTInferableQuantizer
import model_compression_toolkit as again, tensorflow_model_optimization as tfmot, mct
keras = tfmot.quantization.keras
print(json.dumps([
    QuantizationErrorMethod is mct.core.QuantizationErrorMethod,
    RUTarget is mct.core.RUTarget,
    OperatorsSet is mct.target_platform.OperatorsSet,
    TargetPlatformModel is mct.target_platform.TargetPlatformModel,
    again.target_platform.OperatorsSet is OperatorsSet,
    QuantizationMethod is mct.QuantizationMethod,
    WeightsPOTInferableQuantizer is pytorch_quantizers.WeightsPOTInferableQuantizer,
    WeightsPOTInferableQuantizer is mct.quantizers.WeightsPOTInferableQuantizer,
    keras.quantize_annotate_layer is mct.quantize_config.quantize_annotate_layer,
    keras.quantizers.LastValueQuantizer is mct.quantize_config.LastValueQuantizer,
    model_compression_toolkit.core.CoreConfig is again.core.CoreConfig is mct.core.CoreConfig,
    (KERNEL_ATTR, FLOAT_BITWIDTH, FOUND_TF) == ("kernel_attr", 32, False),
    again.__version__ == model_compression_toolkit.__version__ == "2.6.1",
]))
""")
        == [True] * 13
    )


def test_what_is_not_known_is_an_error():
    assert run("""
errors = []
def refused(what):
    try:
        exec(what)
    except Exception as error:
        errors.append([type(error).__name__, str(error)])
refused("import model_compression_toolkit.nonsense")
refused("from model_compression_toolkit.core import coreconfig")
refused("import model_compression_toolkit as mct; mct.core.coreconfig")
refused("from mct_quantizers import Nonsense")
refused("from mct_quantizers import KerasQuantizationWrapper; KerasQuantizationWrapper(None)")
refused("from model_compression_toolkit.core.common import BaseNode; BaseNode.name")
print(json.dumps(errors))
""") == [
        [
            "ModuleNotFoundError",
            "mct has no counterpart of the module 'model_compression_toolkit.nonsense'; the page "
            "'Names of MCT' has those it knows",
        ],
        ["ImportError", "cannot import name 'coreconfig' from 'model_compression_toolkit.core' (unknown location)"],
        [
            "AttributeError",
            "module 'model_compression_toolkit.core' has no 'coreconfig' that mct knows; the page "
            "'Names of MCT' has them",
        ],
        ["ImportError", "cannot import name 'Nonsense' from 'mct_quantizers' (unknown location)"],
        [
            "TargetError",
            "mct_quantizers.KerasQuantizationWrapper has no meaning here: a quantized network is a module of the "
            "compiler, without layers of a framework: QuantizedModel.points has bits and parameters, "
            "mct.exporters.export_parameters the integers, and ActivationQuantizationHolder calls one quantizer",
        ],
        [
            "TargetError",
            "model_compression_toolkit.core.common.BaseNode has no meaning here: it is a part of MCT's own graphs; "
            "the page 'Names of MCT' has those that scripts use",
        ],
    ]


def test_wrappers_of_torch_ask_for_it():
    if importlib.util.find_spec("torch") is not None:
        pytest.skip("PyTorch is installed; test_package_importers_torch_layers.py has its modules")
    assert run("""
from mct_quantizers import PytorchActivationQuantizationHolder, PytorchQuantizationWrapper
import mct
try:
    PytorchQuantizationWrapper(None)
except mct.Error as error:
    print(json.dumps([str(error), PytorchActivationQuantizationHolder.__name__]))
""") == [
        "mct_quantizers.PytorchQuantizationWrapper has no meaning here: it is a module of PyTorch, which is not "
        "installed; install PyTorch (pip install torch)",
        "ActivationQuantizationHolder",
    ]


def test_a_package_that_has_been_imported_is_not_replaced():
    script = 'import sys, types\nsys.modules["mct_quantizers"] = types.ModuleType("mct_quantizers")\nimport mct.compat'
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 1
    assert "mct_quantizers has been imported from None; import mct.compat before it" in done.stderr


def test_errors_have_the_sentence_of_mct_and_ours_below_it():
    script = """
import model_compression_toolkit as mct
tp = mct.target_platform
config, _, default = __import__("mct._compat.stock", fromlist=["x"]).get_op_quantization_configs()
one = tp.QuantizationConfigOptions([config])
two = tp.QuantizationConfigOptions([config, config], base_config=config)
def fixed():
    target = mct.get_target_platform_capabilities()
    target.name = "x"
def frozen():
    with tp.TargetPlatformModel(one) as model:
        pass
    model.name = "x"
def twice():
    with tp.TargetPlatformModel(one):
        tp.OperatorsSet("a")
        tp.OperatorsSet("a")
a = tp.OperatorsSet(name="a")
texts = []
for call in (
    fixed, frozen, twice,
    lambda: tp.get_default_quantization_config_options(),
    lambda: tp.get_current_tpc(),
    lambda: tp.TargetPlatformModel(two),
    lambda: tp.TargetPlatformCapabilities(default_qco=two),
    lambda: tp.QuantizationConfigOptions([]),
    lambda: tp.QuantizationConfigOptions(quantization_configurations=()),
    lambda: tp.QuantizationConfigOptions([config, 3]),
    lambda: tp.QuantizationConfigOptions(quantization_configurations=[config, 3]),
    lambda: tp.QuantizationConfigOptions([config, config]),
    lambda: tp.Fusing([a]),
    lambda: tp.Fusing(operator_groups=[a]),
    lambda: tp.OperationsToLayers([_entry("A", "Conv2D"), _entry("B", "Conv2D")]),
    lambda: tp.load_target_platform_capabilities("nothing.json"),
    lambda: tp.load_target_platform_capabilities(__file__),
    lambda: tp.load_target_platform_capabilities(3),
    lambda: tp.export_target_platform_capabilities(3, "x.json"),
):
    try:
        call()
    except mct.core.common.TargetError as error:
        texts.append([type(error).__name__, str(error), list(error.__notes__)])
print(json.dumps(texts))
"""
    script = script.replace("mct.core.common.TargetError", "tp.TargetError").replace(
        "a = tp.OperatorsSet",
        "__file__ = json.__file__\n"
        "def _entry(name, layer):\n"
        "    model = tp.TargetPlatformModel(one)\n"
        "    with model:\n"
        "        tp.OperatorsSet(name)\n"
        "    with tp.TargetPlatformCapabilities(model):\n"
        "        return tp.OperationsSetToLayers(name, [layer])\n"
        "a = tp.OperatorsSet",
        1,
    )
    found = run(script)
    sentences = [
        "Instance is frozen",
        "Immutable class. Can't edit attributes.",
        "Operator Sets must have unique names.",
        "Target platform model is not initialized.",
        "'FrameworkQuantizationCapabilities' (TPC) instance is not initialized.",
        "Default QuantizationConfigOptions must contain only one option",
        "Default QuantizationConfigOptions must contain exactly one option.",
        "requires at least one 'OpQuantizationConfig'. The provided list is empty.",
        "requires at least one 'OpQuantizationConfig'. The provided configurations are empty.",
        "Each option must be an instance of 'OpQuantizationConfig', but found an object of type: <class 'int'>.",
        "Input should be a valid dictionary",
        "For multiple configurations, a 'base_config' is required for non-mixed-precision optimization.",
        "Fusing can not be created for a single operators group",
        "Fusing cannot be created for a single operator.",
        "Found layer Conv2D in more than one OperatorsSet",
        "The path 'nothing.json' is not a valid file.",
        "does not have a '.json' extension.",
        "instance or a string path to a JSON file, but received type 'int'.",
        "The provided model is not a valid TargetPlatformCapabilities instance.",
    ]
    assert len(found) == len(sentences)
    for (_, text, notes), sentence in zip(found, sentences, strict=True):
        assert text.endswith(sentence) and len(notes) == 1, (text, notes)
    kinds = [kind for kind, _, _ in found]
    assert kinds[-4:] == ["NoTargetFileError", "TargetError", "TargetTypeError", "TargetError"]
    assert found[2][2] == ["TargetPlatformModel: operator set 'a' is defined more than once"]


def test_tests_of_mct_need_a_checkout(tmp_path):
    program = measure.REPOSITORY / "tools/dev/mct_tests"
    done = subprocess.run([sys.executable, program, tmp_path], capture_output=True, text=True)
    assert done.returncode == 2
    assert f"'{tmp_path}' has no folder 'tests'; give a checkout of sony/model_optimization" in done.stderr


@pytest.mark.alternating
def test_a_test_over_the_aliases_is_counted_with_its_reason(tmp_path):
    folder = tmp_path / "tests/common_tests/function_tests"
    folder.mkdir(parents=True)
    (folder / "test_resource_utilization_object.py").write_text(
        "from model_compression_toolkit.core import ResourceUtilization\n"
        "from model_compression_toolkit.core.common import BaseNode\n"
        "def test_limits():\n    assert ResourceUtilization(1).weight_restricted()\n"
        "def test_wrong():\n    assert ResourceUtilization(1).bops_restricted()\n"
        "def test_node():\n    BaseNode()\n"
    )
    program = measure.REPOSITORY / "tools/dev/mct_tests"
    printed = subprocess.run([sys.executable, program, tmp_path], capture_output=True, text=True, check=True).stdout
    assert "resources: 1 of 2 pass, 1 not applicable\n" in printed
    assert "not applicable: reads a node of MCT's graph of torch or Keras: test_node" in printed
    chosen = subprocess.run(
        [sys.executable, program, tmp_path, "-k", "wrong", "--text"], capture_output=True, text=True
    )
    assert "resources: 0 of 1 pass" in chosen.stdout and "--- tests/common_tests" in chosen.stdout
