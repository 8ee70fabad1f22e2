# SPDX-License-Identifier: Apache-2.0
"""Documents of reports, made by hand, in the form that include/mct/Report/Report.h defines, for tests of the code that
shows them.

Nothing of them is measured; the numbers are seeded, and of the sizes that those of real networks have.
"""

import math
import random

KL = 0.037


def _histogram(rng, low, high, bins=192):
    middle, spread = (low + high) / 2, (high - low) / 7
    width = (high - low) / bins
    centres = [low + (i + 0.5) * width for i in range(bins)]
    counts = [int(2e5 * math.exp(-0.5 * ((x - middle) / spread) ** 2) * rng.uniform(0.8, 1.2)) for x in centres]
    counts[0] = counts[-1] = 2  # the tails
    return {"first": low, "width": width, "counts": counts}


def _statistics(rng, low, high, zeros=0.0, channels=0):
    """Returns statistics of values from low to high, a share of them zeros, with the largest ones of some channels."""
    histogram = _histogram(rng, low, high)
    binned = sum(histogram["counts"])
    count = round(binned / (1 - zeros))
    return {
        "count": count,
        "zeros": count - binned,
        "min": low,
        "max": high,
        "histogram": histogram,
        "channel_min": [low] * channels,
        "channel_max": [high * rng.uniform(0.1, 1) for _ in range(channels)],
    }


def _distance(sqnr):
    return {"sqnr": sqnr, "cosine": 1 - 10 ** (-sqnr / 10) / 2, "largest": 10 ** (-sqnr / 20) * 3}


def _effect(rng, own):
    gain = own * 0.8 - rng.uniform(0, 0.001)
    return {"without": KL - gain, "gain": gain, "share": max(0.0, gain / KL)}


def _curve(rng):
    return [
        {"scale": 2 ** (k / 4), "error": 1e-4 * (1 + (k / 3) ** 2 * (3 if k < 0 else 1) * rng.uniform(0.95, 1.05))}
        for k in range(-8, 9)
    ]


def _activation(rng, name, channels, own, bits=8):
    high = rng.uniform(2, 12)
    threshold = 2.0 ** math.floor(math.log2(high))
    step = threshold / 2**bits
    return {
        "name": name,
        "owner": name,
        "weight": "",
        "group": [name],
        "shape": [1, 16, 16, channels],
        "axes": [],
        "statistics": _statistics(rng, 0.0, high, 0.4, channels),
        "observed": _statistics(rng, 0.0, high * 1.1, 0.4, channels),
        "parameters": {
            "method": "power_of_two",
            "bits": bits,
            "is_signed": False,
            "threshold": [threshold],
            "lowest": [0.0],
            "highest": [threshold - step],
            "step": [step],
            "levels": [],
            "text": f"#tpc.power_of_two<threshold = [{threshold}], bits = {bits}, is_signed = false>",
        },
        "selection": {
            "error_method": "mse",
            "certificate": "bound",
            "error": [1e-4],
            "bound": 0.02,
            "curve": _curve(rng),
        },
        "clipped": 0.0012 if threshold < high else 0.0,
        "used": min(1.0, high / threshold),
        "decisions": [
            {
                "pass": "mct-correct-shift-negative",
                "decision": "declined",
                "reason": "no-negative-values",
                "text": "no value is below zero",
                "numbers": [],
            }
        ],
        "total": _distance(rng.uniform(18, 34)),
        "own": _distance(rng.uniform(24, 48)),
        "inherited": _distance(rng.uniform(20, 40)),
        "effect": _effect(rng, own),
        "integer": {"values": 256 * channels * 128, "differing": 3, "largest": 1.0},
        "channels": [],
    }


def _weight(rng, owner, channels, own, bits=8):
    spans = [rng.lognormvariate(-1, 0.6) for _ in range(channels)]
    steps = [span / 2 ** (bits - 1) for span in spans]
    low, high = -max(spans), max(spans)
    return {
        "name": f"{owner}/kernel_attr",
        "owner": owner,
        "weight": "kernel_attr",
        "group": [],
        "shape": [channels, 3, 3, 16],
        "axes": [0],
        "statistics": _statistics(rng, low, high),
        "parameters": {
            "method": "symmetric",
            "bits": bits,
            "is_signed": True,
            "threshold": spans,
            "lowest": [-span for span in spans],
            "highest": [span - step for span, step in zip(spans, steps, strict=True)],
            "step": steps,
            "levels": [],
            "text": f"#tpc.symmetric<threshold = [{', '.join(map(str, spans))}], bits = {bits}>",
        },
        "selection": {
            "error_method": "mse",
            "certificate": "exact",
            "error": [step**2 / 12 for step in steps],
            "curve": _curve(rng),
        },
        "clipped": 0.0004,
        "used": 0.97,
        "decisions": [
            {
                "pass": "mct-correct-bias",
                "decision": "applied",
                "reason": "mean-error",
                "text": "the bias takes back a mean error of 0.0031",
                "numbers": [{"name": "mean_error", "value": 0.0031}],
            }
        ],
        "total": _distance(rng.uniform(30, 40)),
        "own": _distance(rng.uniform(30, 40)),
        "effect": _effect(rng, own),
        "channels": [
            {
                "min": -span * rng.uniform(0.7, 1),
                "max": span * rng.uniform(0.7, 1),
                "error": step**2 / 12,
                "sqnr": rng.uniform(28, 40),
            }
            for span, step in zip(spans, steps, strict=True)
        ],
    }


def _layer(rng, name, source, points, channels, own, has_low_bits):
    """A convolution with a clamp, whose points are `points`."""
    return {
        "name": name,
        "ops": ["tosa.conv2d", "tosa.clamp"],
        "operator_set": "Conv",
        "matched_by": "Conv2D with ReLU",
        "overridden_by": "",
        "cover": "point",
        "why_float": "",
        "group": name,
        "inputs": [source],
        "points": [point["name"] for point in points],
        "alternatives": [
            {"activation_bits": 8, "weight_bits": 8},
            {"activation_bits": 8, "weight_bits": 4},
        ],
        "chosen": 1 if has_low_bits else 0,
        "is_depthwise": False,
        "sums": {
            "bits": 32,
            "largest": 18233.0,
            "channel": 3,
            "largest_bias": 512.0,
            "bias_channel": 7,
            "bias_error": 0.0021,
        },
        "shape": [1, 16, 16, channels],
        "weight_bytes": 144.0 * channels,
        "float_weight_bytes": 576.0 * channels,
        "activation_bytes": 256.0 * channels,
        "float_activation_bytes": 1024.0 * channels,
        "multiplications": 256 * 144 * channels,
        "bops": 256 * 144 * channels * 64,
        "effect": _effect(rng, own),
        "decisions": [],
    }


def _addition(layer, name, operands):
    """The sum of a layer and another operator; it has no points of its own."""
    added = {
        **layer,
        "name": name,
        "ops": ["tosa.add"],
        "operator_set": "Add",
        "matched_by": "",
        "cover": "preserved",
        "inputs": operands,
        "points": [],
        "alternatives": [],
        "weight_bytes": 0.0,
        "float_weight_bytes": 0.0,
        "multiplications": 0,
        "bops": 0,
    }
    del added["effect"], added["sums"]
    return added


def _network(rng, num_points, channels, name):
    """Operators and points: one weight and one activation for each operator; every third one is added to the one three
    before, as residual blocks do, and stays without points of its own."""
    operators, points, previous, residual = [], [], "input", "input"
    points.append(_activation(rng, "input", 3, 1e-4))
    index = 0
    while len(points) < num_points:
        bits = 4 if index % 5 == 2 else 8
        own = KL * rng.lognormvariate(-3, 1.2) * (4 if bits == 4 else 1)
        operator = name(index)
        is_last = len(points) + 1 == num_points
        mine = [_activation(rng, operator, channels, own)] if is_last else []
        if not is_last:
            mine = [_weight(rng, operator, channels, own * 0.6, bits), _activation(rng, operator, channels, own * 0.4)]
        points += mine
        operators.append(_layer(rng, operator, previous, mine, channels, own, bits == 4))
        previous = operator
        index += 1
        if index % 3 == 0:
            added = operator + "/add"
            operators.append(_addition(operators[-1], added, [operator, residual]))
            previous = residual = added
    return operators, points


def _changed_predictions(rng, classes):
    return [
        {
            "sample": 7 * i + 3,
            "float_class": i % classes,
            "simulated_class": (i + 3) % classes,
            "label": (i + 3 * (i % 2)) % classes,
            "float_margin": rng.uniform(0.01, 1.2),
            "simulated_margin": rng.uniform(0.01, 1.2),
        }
        for i in range(22)
    ]


def _confusion(rng, classes):
    confusion = [[rng.choice([0, 0, 0, 1]) for _ in range(classes)] for _ in range(classes)]
    for i in range(classes):
        confusion[i][i] = 45
    return confusion


def _front(operators):
    """Budgets of weights, and what the best network within each costs."""
    return [
        {
            "weights_bytes": 40e3 + 4e3 * k,
            "sensitivities": 0.4 * 0.7**k,
            "alternatives": [(i + k) % 2 for i in range(sum(1 for o in operators if o["alternatives"]))],
            "is_chosen": k == 6,
        }
        for k in range(15)
    ]


def _pass_times():
    return [
        {"pass": name, "seconds": seconds}
        for name, seconds in [
            ("mct-prepare", 0.021),
            ("mct-insert-quantizers", 0.003),
            ("mct-calibrate", 0.412),
            ("mct-select-parameters", 0.108),
            ("mct-select-weight-parameters", 0.231),
            ("mct-correct", 0.655),
        ]
    ]


def _diagnoses(points, worst):
    return [
        {
            "rule": "low-bits-sensitive-layer",
            "severity": 0.41,
            "subject": worst["name"],
            "cause": f"The kernel of {worst['owner']} has 4 bits and makes 41 % of the distance of the results.",
            "remedy": "Give it 8 bits.",
            "kind": "overrides",
            "paste": f"'{worst['owner']}': weights 8",
            "numbers": [{"name": "bits", "value": 4.0}, {"name": "share", "value": worst["effect"]["share"]}],
        },
        {
            "rule": "clipped-tail",
            "severity": 0.12,
            "subject": points[2]["name"],
            "cause": f"0.12 % of the values of {points[2]['name']} lie beyond the threshold.",
            "remedy": "Take the threshold of the largest value.",
            "kind": "option",
            "paste": "activation-error-method=no-clipping",
            "numbers": [{"name": "clipped", "value": 0.0012}],
        },
        {
            "rule": "too-few-samples",
            "severity": 0.0,
            "subject": "",
            "cause": "The standard error of the distance is 9 % of it with 128 samples.",
            "remedy": "Take more samples.",
            "kind": "data",
            "paste": "",
            "numbers": [],
        },
    ]


def make_document(num_points=22, channels=16, name=lambda index: f"block{index // 3}/conv{index}", seed=1):
    """A document of a network with `num_points` points."""
    rng = random.Random(seed)
    operators, points = _network(rng, num_points, channels, name)
    worst = max((point for point in points if point["weight"]), key=lambda point: point["effect"]["gain"])
    classes = 10
    confusion = _confusion(rng, classes)
    resources = {"weight_bytes": 78e3, "activation_bytes": 32e3, "total_bytes": 110e3, "bops": 8e8}
    return {
        "format": "mct-report",
        "version": 3,
        "mct_version": "0.1.0",
        "llvm_version": "22.1.8",
        "instruction_set": "avx2",
        "model": "resnet8_cifar10.mlirbc",
        "function": "main",
        "target": "imx500",
        "metric": "kl",
        "distance": KL,
        "deviation": 0.061,
        "why_no_effects": "",
        "results": [],
        "corrections": [],
        "rejected_corrections": [],
        "trials": [],
        "samples": 500,
        "effect_samples": 128,
        "has_labels": True,
        "digest": "0123456789abcdef0123456789abcdef",
        "calibration_digest": "fedcba9876543210fedcba9876543210",
        "calibration_samples": 500,
        "floating": {"samples": 500, "top1": 0.874, "agreement": 1.0},
        "simulated": {"samples": 500, "top1": 0.862, "agreement": 0.956, "output": _distance(22.31)},
        "integer": {"samples": 500, "top1": 0.862, "agreement": 0.956, "output": _distance(22.29)},
        "operators": operators,
        "points": points,
        "resources": resources,
        "eight_bit": {**resources, "weight_bytes": 96e3},
        "float_weight_bytes": 315.4e3,
        "num_changed": 22,
        "changed": _changed_predictions(rng, classes),
        "confusion": confusion,
        "front_operators": [operator["name"] for operator in operators if operator["alternatives"]],
        "front": _front(operators),
        "passes": _pass_times(),
        "decisions": [],
        "seconds": 3.18,
        "diagnoses": _diagnoses(points, worst),
        "verdict": "Quantization costs 1.2 points of top-1 accuracy (87.4 % to 86.2 %), 4.4 % of predictions change. "
        f"Most of it is made by the 4-bit kernel of {worst['owner']}: give it 8 bits.",
        "reproduce": "mct-opt resnet8_cifar10.mlirbc --mct-ptq='target=imx500 calibration-data=CALIBRATION' -o q.mlir",
        "placeholders": ["CALIBRATION"],
    }


def make_odd_document():
    """Numbers that are infinite, not defined, zero, or all equal."""
    document = make_document(num_points=30)
    activations = [point for point in document["points"] if not point["weight"]]
    weights = [point for point in document["points"] if point["weight"]]
    activations[0]["statistics"]["histogram"] = {"first": 1.0, "width": 0.0, "counts": [1000]}
    activations[0]["observed"]["histogram"] = {"first": 1.0, "width": 1.0, "counts": []}
    activations[1]["statistics"]["histogram"] = {"first": 1.0, "width": 0.1, "counts": [0, 0]}
    activations[2]["parameters"].update(threshold=[None], lowest=[None], highest=[None], step=[None])
    activations[3]["selection"]["curve"] = [{"scale": scale, "error": 0.0} for scale in (0.5, 1.0, 2.0)]
    activations[4]["statistics"].update(min=None, max=None, count=0)
    for member in ("statistics", "observed"):
        activations[4][member].update(channel_min=[None] * 16, channel_max=[None] * 16)
    activations[5]["own"] = activations[5]["inherited"] = {"sqnr": None, "cosine": None, "largest": 0.0}
    activations[6]["effect"] = {"without": None, "gain": None, "share": None}
    activations[7]["statistics"]["histogram"] = {"first": -1e30, "width": 1e28, "counts": [1] * 192}
    activations[8]["statistics"]["histogram"] = {"first": 0.0, "width": 1e-30, "counts": [1] * 192}
    activations[9]["shift"] = {"by": 0.37, "error_before": 1e-3, "error": 2e-4}
    weights[0]["channels"] = [{"min": None, "max": None, "error": None, "sqnr": None}] * 16
    weights[1]["parameters"].update(bits=2, threshold=[1.0], lowest=[-1.0], highest=[0.5], step=[0.5])
    weights[2]["parameters"].update(
        method="lut_pot_quantizer",
        bits=3,
        threshold=[2.0],
        lowest=[-2.0],
        highest=[1.8],
        step=[],
        levels=[-1, 0.1, 0.9],
    )
    del weights[3]["parameters"], weights[3]["selection"]
    document["distance"] = document["deviation"] = document["seconds"] = None
    document["front"][3]["sensitivities"] = 0.0
    document["confusion"] = [[0] * 10 for _ in range(10)]
    return document


def _change(name, before, after):
    return {"name": name, "before": before, "after": after, "difference": after - before}


def make_comparison(document):
    """Comparison in the form of include/mct/Report/Compare.h: an earlier report of the same network beside
    `document`."""
    points = []
    for index, point in enumerate(document["points"]):
        effect, total = point["effect"]["gain"], point["total"]["sqnr"]
        numbers = [
            _change("parameters.bits", 8.0, float(point["parameters"]["bits"])),
            _change("total.sqnr", total + (3 if index % 3 else -2), total),
            _change("effect.gain", effect * (0.5 if index % 3 else 1.5), effect),
            {"name": "clipped", "after": point["clipped"]},
        ]
        texts = [{"name": "parameters", "before": "#tpc.symmetric<bits = 8>", "after": point["parameters"]["text"]}]
        points.append(
            {"name": point["name"], "name_before": point["name"], "numbers": numbers, "texts": texts[: index % 2]}
        )
    side = {key: document[key] for key in ("model", "target", "metric", "digest", "calibration_digest", "verdict")}
    return {
        "format": "mct-comparison",
        "version": 1,
        "before": {**side, "target": "imx500_v4", "reproduce": ""},
        "after": {**side, "reproduce": document["reproduce"]},
        "same_samples": False,
        "same_calibration": True,
        "numbers": [
            _change("simulated.top1", 0.87, 0.862),
            _change("simulated.output.sqnr", 20.1, 22.31),
            _change("distance", 0.021, KL),
            _change("resources.weight_bytes", 99e3, 79.2e3),
            {"name": "integer.top1", "after": 0.862},
            {"name": "floating.output.sqnr", "before": None, "after": None},
        ],
        "points": points,
        "operators": [],
        "points_only_before": ["block9/gone"],
        "points_only_after": [],
        "operators_only_before": [],
        "operators_only_after": [],
        "diagnoses_that_went": [document["diagnoses"][1]],
        "diagnoses_that_came": [document["diagnoses"][0]],
        "diagnoses_that_stayed": [
            {"rule": "too-few-samples", "subject": "", "severity_before": 0.1, "severity_after": 0.0}
        ],
    }
