# SPDX-License-Identifier: Apache-2.0
"""Quantization-aware training in torch, beside that of mct-qat: the same network, start, order of samples, quantizers
and schedule, written from their definitions and with no code of the tools.

    PYTHONPATH=FOLDER_WITH_TORCH build/venv/bin/python tools/dev/qat_torch.py [epochs,...] [seed,...]

prints what both make of ResNet8 with weights of 2 and activations of 4 bits: top-1, seconds, memory, and the time of a
step; at the end the table of docs/results/accuracy.md. Needs built tools, ../shared (see measure.py) and torch.

Images are channels-first here, as torch is fastest with them, and channels-last in TOSA.
"""

from __future__ import annotations

import math
import re
import sys
import tempfile
import time
from pathlib import Path

import corrections
import measure
import numpy as np
import torch

MIN_THRESHOLD = 2.0**-16
# Where axes of channels-last tensors lie here.
AXES = (0, 2, 3, 1)


class Round(torch.autograd.Function):
    """To the nearest, halves to even; straight through."""

    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return g


class Ceil(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.ceil()

    @staticmethod
    def backward(ctx, g):
        return g


class ScaleGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.scale = scale
        return x

    @staticmethod
    def backward(ctx, g):
        return g * ctx.scale, None


class ClipStraight(torch.autograd.Function):
    """Cut off, and the gradient as if it were not."""

    @staticmethod
    def forward(ctx, x, low, high):
        return x.clamp(low, high)

    @staticmethod
    def backward(ctx, g):
        return g, None, None


class MaskGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, mask):
        ctx.save_for_backward(mask)
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return torch.where(ctx.saved_tensors[0], g, torch.zeros_like(g)), None


def power_of_two(t):
    return torch.exp2(Ceil.apply(torch.log2(t)))


class Point(torch.nn.Module):
    """A tpc.quantize with parameters, trained by `method`: "lsq", "ste" or None, for one that stays. A threshold that
    is a power of two counts as the next one, and starts in the middle.

    `axis`: that of the channels here; `size`: of the last axis in TOSA, of an activation.
    """

    def __init__(self, method, kind, values, bits, signed, axis, rank, size, is_weight):
        super().__init__()
        self.method, self.kind, self.bits, self.signed = method, kind, bits, signed
        shape = [1] * rank
        count = len(values[0])
        if count != 1:
            shape[axis] = count
        tensors = [torch.tensor(v, dtype=torch.float32).reshape(shape) for v in values]
        if kind == "power_of_two" and method is not None:
            tensors = [tensor * np.float32(math.sqrt(0.5)) for tensor in tensors]
        for name, tensor in zip(self.names(), tensors, strict=True):
            setattr(self, name, torch.nn.Parameter(tensor, requires_grad=method is not None))
        levels = (1 << bits) - 1 if kind == "uniform" else (1 << (bits - signed)) - 1
        self.scale = 1 / math.sqrt(max(levels, 1) * (count if is_weight else size)) if method == "lsq" else 1.0

    def names(self):
        return ("low", "high") if self.kind == "uniform" else ("threshold",)

    def keep_valid(self):
        with torch.no_grad():
            if self.kind != "uniform":
                self.threshold.clamp_(min=MIN_THRESHOLD)

    def forward(self, x):
        if self.kind == "uniform":
            levels = (1 << self.bits) - 1
            width = self.high - self.low
            zero = (self.low * levels / width).detach().round()
            inside = (self.low <= 0) & (self.high >= 0)
            zeros = torch.zeros_like(self.low)
            offset = torch.where(inside, width / levels * zero, torch.where(self.low > 0, zeros, self.low))
            top = torch.where(inside, width + offset, torch.where(self.high < 0, zeros, self.high))
            step, first, last = (top - offset) / levels, 0, levels
        else:
            threshold = power_of_two(self.threshold) if self.kind == "power_of_two" else self.threshold
            n = 1 << (self.bits - self.signed)
            step, offset = threshold / n, None
            first, last = -n if self.signed else 0, n - 1
        if self.method == "ste":
            with torch.no_grad():
                r = ((x if offset is None else x - offset) / step).round()
                inside = (r >= first) & (r <= last)
            x = MaskGradient.apply(x, inside)
        else:
            step = ScaleGradient.apply(step, self.scale)
        u = (x if offset is None else x - offset) / step
        r = Round.apply(u)
        # torch.clamp passes the gradient at its bounds: the mask is about what was rounded.
        r = ClipStraight.apply(r, first, last) if self.method == "ste" else r.clamp(first, last)
        q = step * r
        return q if offset is None else q + offset


def numbers(text):
    return [float(v) for v in text.split(",")]


class Network(torch.nn.Module):
    """`text`: a module as mct-opt prints it, with one function. `stop`: name of the point that is the result, or the
    whole network."""

    def __init__(self, text, weights="lsq", activations="lsq", stop=None, unrounds=True):
        super().__init__()
        self.unrounds = unrounds
        blobs = self.blobs = dict(re.findall(r'^\s+"?([\w./]+)"?: "0x([0-9A-F]*)"', text, re.MULTILINE))
        self.steps, self.constants, self.points = [], {}, {}
        self.kernels, self.biases = {}, {}
        self.ranks = {}
        self.types = {}
        body = text[text.index("func.func") :]
        lines = re.findall(r"^\s+(?:(%\w+) = )?(.*)$", body[: body.index("return ")], re.MULTILINE)
        argument = re.search(r"\((%\w+): tensor<([\dx]+)xf32>", body)
        self.argument = argument[1]
        self.types[self.argument] = [int(v) for v in argument[2].split("x")]
        for result, line in lines:
            if not result:
                continue
            self.types[result] = self.result_shape(line)
            op = re.match(r'"?([\w.]+)"?', line)[1]
            operands = re.findall(r"%\w+", line.split("{")[0].split(" : ")[0])
            if op in ("tosa.const", "tosa.const_shape"):
                self.constants[result] = self.constant(line, blobs, self.types[result])
                continue
            self.steps.append(self.step(op, result, operands, line, weights, activations))
            if stop is not None and f'as "{stop}" activation' in line:
                break
        self.result = self.steps[-1][0]

    @staticmethod
    def result_shape(line):
        sizes = re.findall(r"tensor<([\dx]*)x?(?:f32|i8|index)>", line)
        return [int(v) for v in sizes[-1].split("x") if v] if sizes else []

    @staticmethod
    def constant(line, blobs, shape):
        dtype = np.int8 if "xi8>" in line else np.int64 if "index>" in line else np.float32
        blob = re.search(r'dense_resource<"?([\w./]+)"?>', line)
        if blob:
            return np.frombuffer(bytes.fromhex(blobs[blob[1]])[4:], np.float32).reshape(shape).copy()
        dense = re.search(r"dense<(.*?)> : tensor", line)[1]
        if dense.startswith('"0x'):
            return np.frombuffer(bytes.fromhex(dense[3:-1]), np.float32).reshape(shape).copy()
        values = np.array([float(v) for v in re.findall(r"[-+.\w]+", dense)], dtype=dtype)
        return np.broadcast_to(values.reshape(shape if values.size > 1 else [1] * len(shape)), shape).copy()

    def add(self, kind, name, module):
        self.add_module(f"{kind}_{name}", module)
        return module

    def parameter(self, kind, name, values):
        parameter = torch.nn.Parameter(torch.from_numpy(np.ascontiguousarray(values)))
        self.register_parameter(f"{kind}_{name}", parameter)
        return parameter

    def step(self, op, result, operands, line, weights, activations):
        def attribute(name):
            return [int(v) for v in re.search(name + r" = array<i64: ([^>]*)>", line)[1].split(",")]

        if op == "tpc.quantize":
            return self.point(result, operands[0], line, weights, activations)
        if op in ("tosa.conv2d", "tosa.depthwise_conv2d"):
            bias = self.constants[operands[2]]
            self.biases[result] = self.parameter("bias", str(len(self.biases)), bias)
            pad, stride, dilation = attribute("pad"), attribute("stride"), attribute("dilation")
            depthwise = "depthwise" in op
            symmetric = pad[0] == pad[1] and pad[2] == pad[3]

            def convolve(x, kernel, bias=self.biases[result]):
                if not symmetric:
                    x = torch.nn.functional.pad(x, (pad[2], pad[3], pad[0], pad[1]))
                inner = (pad[0], pad[2]) if symmetric else 0
                groups = x.shape[1] if depthwise else 1
                return torch.nn.functional.conv2d(x, kernel, bias, stride, inner, dilation, groups)

            return result, convolve, operands[:2]
        if op == "tosa.clamp":
            low, high = (float(re.search(name + r" = ([-+.\dE]+)", line)[1]) for name in ("min_val", "max_val"))
            if low == 0 and high > 3e38:
                return result, torch.relu, operands[:1]
            return result, lambda x: x.clamp(low, high), operands[:1]
        if op == "tosa.add":
            return result, torch.add, operands[:2]
        if op == "tosa.slice":
            start, size = (self.constants[v] for v in operands[1:3])

            def cut(x):
                for axis in range(1, 4):
                    x = x.narrow(AXES[axis], int(start[axis]), int(size[axis]))
                return x

            return result, cut, operands[:1]
        if op in ("tosa.avg_pool2d", "tosa.max_pool2d"):
            kernel, stride, pad = attribute("kernel"), attribute("stride"), attribute("pad")
            assert not any(pad), line
            pool = torch.nn.functional.avg_pool2d if "avg" in op else torch.nn.functional.max_pool2d
            return result, lambda x: pool(x, kernel, stride), operands[:1]
        if op == "tosa.reshape":
            shape = self.types[result]
            assert shape[0] == 1 and len(shape) == 2, line
            return result, lambda x: (x.permute(0, 2, 3, 1) if x.dim() == 4 else x).flatten(1), operands[:1]
        raise NotImplementedError(line)

    def point(self, result, operand, line, weights, activations):
        name, is_weight = re.search(r'as "([^"]*)"', line)[1], " weight " in line
        kind, inside = re.search(r"parameters\(#tpc\.(\w+)<(.*?)>\)", line).groups()
        bits = int(re.search(r"bits = (\d+)", inside)[1])
        signed = "is_signed = false" not in inside
        keys = ("range_min", "range_max") if kind == "uniform" else ("threshold",)
        values = [numbers(re.search(key + r" = \[([^\]]*)\]", inside)[1]) for key in keys]
        shape = self.types[result]
        axes = [int(v) for v in re.search(r"axes \[([\d, ]+)\]", line)[1].split(",")] if "axes [" in line else [0]
        method = weights if is_weight else activations
        if is_weight:
            # OHWI becomes OIHW; of a depthwise kernel, HWCM, (C * M) x 1 x H x W.
            kernel = self.start(line, operand, values[0], bits, signed, axes)
            if axes == [0]:
                values_here = kernel.transpose(0, 3, 1, 2)
            else:
                values_here = kernel.reshape(*kernel.shape[:2], -1, 1).transpose(2, 3, 0, 1)
            self.kernels[name] = self.parameter("kernel", name, values_here)
            point = Point(method, kind, values, bits, signed, 0, 4, 0, True)
        else:
            point = Point(method, kind, values, bits, signed, 1, len(shape), shape[-1], False)
        self.points[name, is_weight] = self.add("weight" if is_weight else "activation", name, point)
        if is_weight:
            return result, lambda x=None, kernel=self.kernels[name]: point(kernel), []
        return result, point, [operand]

    def start(self, line, operand, thresholds, bits, signed, axes):
        """Weights that were rounded together: where they were before, at most 0.4 levels from those that they have."""
        kernel = self.constants[operand]
        record = re.search(r"corrections\(.*kernel = (dense\w*<.*> : tensor<[\dx]*xf32>)", line)
        if not record or not self.unrounds:
            return kernel
        exact = self.constant(record[1], self.blobs, kernel.shape).astype(np.float64)
        shape = [kernel.shape[axis] if axis in axes else 1 for axis in range(kernel.ndim)]
        step = np.array(thresholds).reshape(shape if len(thresholds) > 1 else [1] * kernel.ndim) / 2 ** (bits - signed)
        level = np.rint(kernel / step)
        return (step * (level + np.clip(exact / step - level, -0.4, 0.4))).astype(np.float32)

    def forward(self, x):
        values = {self.argument: x}
        for result, function, operands in self.steps:
            values[result] = function(*(values[v] for v in operands))
        return values[self.result]

    def learned(self):
        """Returns the trained values, as TOSA has them: kernels, biases, thresholds of weights by their points."""
        found = {}
        for name, kernel in self.kernels.items():
            found[f"{name} kernel"] = kernel.detach().permute(0, 2, 3, 1).numpy()
            point = self.points[name, True]
            for part in point.names():
                found[f"{name} {part}"] = getattr(point, part).detach().numpy().ravel()
        for number, bias in enumerate(self.biases.values()):
            found[f"bias {number}"] = bias.detach().numpy()
        return found


#
# Training
#


def shuffled(count, seed, epoch):
    """The order of an epoch: Fisher and Yates, from the last place on, with numbers of SplitMix64."""
    mask = (1 << 64) - 1

    def mix(z):
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return z ^ (z >> 31)

    state = mix((mix(seed) + epoch) & mask)
    order = list(range(count))
    for last in range(count, 1, -1):
        while True:
            state = (state + 0x9E3779B97F4A7C15) & mask
            number = mix(state)
            if number >= (1 << 64) % last:
                break
        other = number % last
        order[last - 1], order[other] = order[other], order[last - 1]
    return order


def cosine(steps):
    """Factors of the rates: half a period, from 1 to 0."""
    return lambda step: 0.5 * (1 + math.cos(math.pi * step / steps))


class Training:
    """Adam, with rates in units of the root mean square of what each tensor starts from."""

    def __init__(self, network, rate, steps, schedule=None):
        self.network = network
        groups = []
        for parameter in network.parameters():
            if parameter.requires_grad:
                unit = float(parameter.detach().double().square().mean().sqrt()) or 1.0
                groups.append({"params": [parameter], "lr": rate * unit})
        self.optimizer = torch.optim.Adam(groups)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimizer, schedule or cosine(steps))

    def step(self, images, labels):
        self.optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(self.network(images), labels)
        loss.backward()
        self.optimizer.step()
        self.schedule.step()
        for point in self.network.points.values():
            point.keep_valid()
        return loss


def to_torch(images):
    return torch.from_numpy(np.ascontiguousarray(images.transpose(0, 3, 1, 2), dtype=np.float32))


def train(network, images, labels, epochs, seed=0, batch=32, rate=0.003):
    """Trains the network; returns the losses of all steps."""
    per_epoch = -(-len(images) // batch)
    training = Training(network, rate, epochs * per_epoch)
    images, labels = to_torch(images), torch.from_numpy(labels.ravel().astype(np.int64))
    losses = []
    for epoch in range(epochs):
        order = torch.tensor(shuffled(len(images), seed, epoch))
        for first in range(0, len(images), batch):
            chosen = order[first : first + batch]
            losses.append(training.step(images[chosen], labels[chosen]).item())
    return losses


def top1(network, images, labels):
    with torch.no_grad():
        answers = torch.cat([network(part) for part in to_torch(images).split(200)]).argmax(1)
    return float((answers.numpy() == labels.ravel()).mean())


#
# Both beside each other
#

TRAIN = {
    "images": measure.SHARED / "data" / "cifar10" / "train_images.npy",
    "labels": measure.SHARED / "data" / "cifar10" / "train_labels.npy",
}


def qat_command(module, output, **options):
    """The `mct-opt` command line; `options` are those of mct-qat with underscores for hyphens."""
    given = {"calibration-data": TRAIN["images"], "labels": TRAIN["labels"]}
    given |= {key.replace("_", "-"): value for key, value in options.items()}
    text = " ".join(f"{key}={value}" for key, value in given.items())
    return [measure.BIN / "mct-opt", module, f"--mct-qat={text}", "-o", output]


def quantized(folder, bits=2, activation_bits=4):
    """ResNet8 with so many bits, as mct-ptq makes it: the path of its text."""
    corrections.TARGETS["qat"] = (bits, "symmetric", activation_bits)
    output = folder / "quantized.mlir"
    corrections.quantize(corrections.RESNET8, corrections.target_for("qat", folder), {}, output)
    return output


def time_step(module, folder, rounds=5, threads=2):
    """Seconds of a step of 32 samples, ours and torch's, measured in turns: the medians."""
    torch.set_num_threads(threads)
    images, labels = (np.load(TRAIN[what])[:640] for what in ("images", "labels"))
    network = Network(module.read_text(), stop=LOGITS)
    training = Training(network, 0.0, 1, lambda step: 1)
    labels = torch.from_numpy(labels.ravel().astype(np.int64))
    batches = list(zip(to_torch(images).split(32), labels.split(32), strict=True))
    options = {"calibration_samples": 640, "threads": threads}
    ours, theirs = [], []
    for _ in range(rounds):
        # The part that both runs have in common does not belong to the steps.
        once, more = (
            measure.run_ok(qat_command(module, folder / "step.mlirbc", epochs=epochs, **options)).seconds
            for epochs in (1, 4)
        )
        ours.append((more - once) / 60)
        start = time.perf_counter()
        for batch in batches:
            training.step(*batch)
        theirs.append((time.perf_counter() - start) / len(batches))
    return float(np.median(ours)), float(np.median(theirs))


LOGITS = "conv2d_9"


def summarize(epochs, start, measured, steps):
    """Prints a table with a row for each program and number of epochs; top-1 and seconds are those of all seeds."""
    print("\n| | top-1, mean | lowest, highest | step of 32 images, 2 threads | seconds |\n|---|---|---|---|---|")
    print(f"| before training | {100 * start:.2f} % | | | |")
    for count in epochs:
        for name in ("mct-qat", "PyTorch, eager"):
            accuracies, seconds = zip(*measured[name, count], strict=True)
            print(
                f"| {name}, {count} epoch{'s' if count > 1 else ''} | {100 * np.mean(accuracies):.2f} % "
                f"| {100 * min(accuracies):.2f}, {100 * max(accuracies):.2f} | {1e3 * steps[name]:.1f} ms "
                f"| {np.mean(seconds):.1f} |"
            )


def main():
    epochs = [int(v) for v in sys.argv[1].split(",")] if len(sys.argv) > 1 else [1, 3, 10]
    seeds = [int(v) for v in sys.argv[2].split(",")] if len(sys.argv) > 2 else [0]
    images, labels = (np.load(TRAIN[what]) for what in ("images", "labels"))
    test_images, test_labels = (np.load(corrections.RESNET8[what]) for what in ("inputs", "labels"))
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        module = quantized(folder)
        ours, theirs = time_step(module, folder)
        print(f"a step of 32 samples, 2 threads: {1e3 * ours:.1f} ms, torch {1e3 * theirs:.1f} ms")
        print("| epochs | seed | top-1 % | seconds | MB | torch top-1 % | torch seconds |")
        print("|---|---|---|---|---|---|---|")
        untrained = corrections.judge(corrections.RESNET8, module)["top1"]
        print(f"| 0 | | {100 * untrained:.2f} | | | | |", flush=True)
        measured = {}
        for count in epochs:
            for seed in seeds:
                trained = folder / "trained.mlirbc"
                finished = measure.run_ok(qat_command(module, trained, epochs=count, seed=seed))
                result = corrections.judge(corrections.RESNET8, trained)["top1"]
                network = Network(module.read_text(), stop=LOGITS)
                start = time.perf_counter()
                train(network, images, labels, count, seed)
                seconds = time.perf_counter() - start
                other = top1(network, test_images, test_labels)
                measured.setdefault(("mct-qat", count), []).append((result, finished.seconds))
                measured.setdefault(("PyTorch, eager", count), []).append((other, seconds))
                print(
                    f"| {count} | {seed} | {100 * result:.2f} | {finished.seconds:.1f} | {finished.peak_mb:.0f} "
                    f"| {100 * other:.2f} | {seconds:.1f} |",
                    flush=True,
                )
    summarize(epochs, untrained, measured, {"mct-qat": ours, "PyTorch, eager": theirs})


if __name__ == "__main__":
    main()
