# SPDX-License-Identifier: Apache-2.0
"""The options of the pipelines are those of their passes: the same words, the same defaults."""

import re
import subprocess

import pytest

# Where several passes of a pipeline have an option of one name, the pipeline's has another.
RENAMED = {
    "activation-error-method": ("mct-select-parameters", "error-method"),
    "weights-error-method": ("mct-select-weight-parameters", "error-method"),
    "weights-error-tolerance": ("mct-select-weight-parameters", "error-tolerance"),
    "round-weights-max-bits": ("mct-round-weights", "max-bits"),
    "round-weights-max-samples": ("mct-round-weights", "max-samples"),
    "second-moment-max-bits": ("mct-correct-second-moment", "max-bits"),
    "shift-negative-ratio": ("mct-correct-shift-negative", "ratio"),
    "shift-negative-threshold-recalculation": ("mct-correct-shift-negative", "threshold-recalculation"),
    "shift-negative-params-search": ("mct-correct-shift-negative", "parameter-search"),
    "refine-thresholds-max-samples": ("mct-refine-thresholds", "max-samples"),
    "bias-estimate": ("mct-correct-bias", "estimate"),
    "bias-max-samples": ("mct-correct-bias", "max-samples"),
    "judge-corrections": ("mct-correct-bias", "judge"),
    "sensitivity-metric": ("mct-measure-sensitivity", "metric"),
    "sensitivity-max-samples": ("mct-measure-sensitivity", "max-samples"),
    "sensitivity-compare-points": ("mct-measure-sensitivity", "compare-points"),
    "sensitivity-distance": ("mct-measure-sensitivity", "distance"),
    "sensitivity-weighting": ("mct-measure-sensitivity", "weighting"),
    "activation-bias-correction-threshold": ("mct-correct-activation-bias", "threshold"),
}
SWITCHES = [
    "effort",
    "gptq-epochs",
    "linear-collapsing",
    "residual-collapsing",
    "relu-bound-to-power-of-2",
    "activation-channel-equalization",
    "residual-equalization",
    "rescale-parts",
    "split-shared-grids",
    "softmax-shift",
    "input-scaling",
    "concat-threshold-update",
    "shift-negative-activation-correction",
    "refine-thresholds",
    "weights-second-moment-correction",
    "round-weights",
    "weights-bias-correction",
    "activation-bias-correction",
]
# Options that pipelines have for all their passes; those of training have one for a file of their own.
SHARED_BY_PASSES = ["checkpoint"]
PIPELINES = ("mct-prepare", "mct-correct", "mct-ptq")
# Options that a pipeline decides by itself.
DECIDED = {
    ("mct-insert-quantizers", "function"),  # one function, where the pass alone takes all
    ("mct-calibrate", "channel-statistics"),
    ("mct-calibrate", "only-missing"),
    ("mct-correct-shift-negative", "bias-correction-follows"),
    ("mct-round-weights", "correct-bias"),
    ("mct-judge-correction", "correction"),
}
# Options of the same name that mean something else: the kind of trainable quantizers, and the classes to train for.
OTHER_MEANING = {
    (name, option)
    for name in ("mct-make-trainable", "mct-make-training-function", "mct-qat")
    for option in ("weights", "activations")
} | {
    ("mct-qat", "labels"),
    ("mct-report-costs", "device"),
    ("mct-merge-shards", "shards-in"),
    ("mct-merge-shards", "shards-out"),
}
MODULE = "module {}"


@pytest.fixture(scope="module")
def described(tools):
    """Descriptions of the options in the help, by pass or pipeline and option."""
    text = subprocess.run([tools / "mct-opt", "--help"], capture_output=True, text=True, check=True).stdout
    found, options = {}, {}
    for line in text.splitlines():
        if match := re.match(r"^ {6}--([\w-]+) +- ", line):
            options = found.setdefault(match[1], {})
        elif match := re.match(r"^ {8}--([\w-]+)(?:=<\w+>)? +- (.*)$", line):
            options[match[1]] = match[2]
        elif re.match(r"^ {2,5}--", line):  # an option of mct-opt itself
            options = {}
    return found


def dump(tools, flag):
    """Name and options of every pass that a flag adds."""
    command = [tools / "mct-opt", "-", f"--{flag}", "--dump-pass-pipeline", "-o", "/dev/null"]
    # An empty module is an error to many passes; what is printed comes before.
    text = subprocess.run(command, input=MODULE, capture_output=True, text=True, check=False).stderr
    passes = []
    for match in re.finditer(r"^ *((?:mct|tpc)-[\w-]+)(?:\{(.*)\})?,?$", text, re.MULTILINE):
        options, nested = split_pipelines(match[2] or "")
        passes.append((match[1], dict(re.findall(r"([\w-]+)=(\{.*?\}|\S*)", options))))
        passes += nested
    return passes


def find_end(text, begin):
    """Behind the bracket that closes the one before `begin`."""
    depth, end = 1, begin
    while depth:
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(text[end], 0)
        end += 1
    return end


def split_pipelines(options):
    """Options without those that are pipelines, and the passes of the pipeline that makes what is judged."""
    nested = []
    while match := re.search(r"(made-by|then|measured-by|completed-by)=\{builtin\.module\(", options):
        end = find_end(options, match.end())
        passes = options[match.end() : end - 1] if match[1] == "made-by" else ""
        while step := re.match(r",?((?:mct|tpc)-[\w-]+)\{", passes):
            after = find_end(passes, step.end())
            inner, deeper = split_pipelines(passes[step.end() : after - 1])
            nested.append((step[1], dict(re.findall(r"([\w-]+)=(\{.*?\}|\S*)", inner))))
            nested += deeper
            passes = passes[after:]
        options = options[: match.start()] + options[end + 1 :]
    return options, nested


def test_option_is_described_once(described):
    for pipeline in PIPELINES:
        for option, text in described[pipeline].items():
            if option in RENAMED:
                name, renamed = RENAMED[option]
                assert text == described[name][renamed], f"{pipeline}: {option}"
                continue
            if option in SWITCHES + SHARED_BY_PASSES:
                continue
            owners = [
                name
                for name, options in described.items()
                if name not in PIPELINES and option in options and (name, option) not in DECIDED | OTHER_MEANING
            ]
            assert owners, f"{pipeline} has an option '{option}' that no pass has"
            for name in owners:
                assert text == described[name][option], f"{option} of {pipeline} and of {name}"


def test_pipelines_describe_an_option_with_the_same_words(described):
    for pipeline in ("mct-prepare", "mct-correct"):
        assert described[pipeline].items() <= described["mct-ptq"].items()


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_defaults_are_those_of_the_passes(tools, described, pipeline):
    values = {"gptq-epochs": 20, "effort": "default"}  # as of the pass, and what changes nothing
    switched_on = " ".join(f"{name}={values.get(name, 'true')}" for name in SWITCHES if name in described[pipeline])
    samples = " calibration-data=a.npy" if pipeline != "mct-prepare" else ""
    added = dump(tools, f"{pipeline}={switched_on}{samples}")
    assert len(added) > 7
    for name, options in added:
        alone = dict(dump(tools, name))[name]
        for option, value in options.items():
            if (name, option) not in DECIDED and option != "calibration-data":
                assert value == alone[option], f"{option} of {name} in {pipeline} and alone"


def test_correct_runs_the_corrections_of_ptq(tools):
    def corrections(pipeline, options):
        steps = dump(tools, f"{pipeline}=calibration-data=a.npy{options}")
        return [step for step in steps if "mct-correct-" in step[0] or step[0] == "mct-round-weights"]

    for options, expected in {
        "": ["mct-correct-shift-negative", "mct-round-weights", "mct-correct-bias"],
        " round-weights=false": ["mct-correct-second-moment", "mct-correct-shift-negative", "mct-correct-bias"],
    }.items():
        assert corrections("mct-correct", options) == corrections("mct-ptq", options)
        assert [name for name, _ in corrections("mct-ptq", options)] == expected
