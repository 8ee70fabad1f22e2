# SPDX-License-Identifier: Apache-2.0
"""Random networks of every op that has a gradient, as TOSA and in torch."""

import functools

import numpy as np
import torch_networks as tn

# More than what roundings move a number by: closer to a kink, both sides may be on different ones of its.
MARGIN = 1e-3


def between(net, first, last):
    return int(net.random.integers(first, last + 1))


def one_of(net, values):
    return values[between(net, 0, len(values) - 1)]


def of_rank(net, x, rank):
    """The same numbers in a shape of that rank."""
    if len(x.shape) == rank:
        return x
    shape, rest = [], x.tensor.numel()
    for _ in range(rank - 1):
        shape.append(one_of(net, [size for size in range(1, rest + 1) if rest % size == 0 and size <= 8]))
        rest //= shape[-1]
    return tn.reshape(net, x, [*shape, rest])


def positive(net, x):
    return tn.binary(net, "add", tn.unary(net, "sigmoid", x), net.argument(*[1] * len(x.shape), low=0.3, high=0.8))


def axis_of(net, x):
    return between(net, 0, len(x.shape) - 1)


def random_window(net, size, dilations=2):
    """Kernel, padding before and after, stride and dilation that fit a size; without dilation, those of pools."""
    while True:
        kernel, stride, dilation = between(net, 1, 3), between(net, 1, 3), between(net, 1, dilations)
        # The padding of a convolution may be more than what the window reaches.
        most = kernel - 1 if dilations == 1 else (kernel - 1) * dilation + 1
        before, after = between(net, 0, most), between(net, 0, most)
        rest = size - 1 + before + after - (kernel - 1) * dilation
        if rest >= 0 and rest % stride == 0:
            return kernel, (before, after), stride, dilation


def random_convolution(net, x, op):
    space = 3 if op == "conv3d" else 2
    x = of_rank(net, x, space + 2)
    kernel, pads, stride, dilation = zip(*(random_window(net, size) for size in x.shape[1:-1]), strict=True)
    channels, outputs = x.shape[-1], between(net, 1, 3)
    window = (*kernel, channels, min(outputs, 2)) if op == "depthwise_conv2d" else (outputs, *kernel, channels)
    bias = channels * window[-1] if op == "depthwise_conv2d" else outputs
    w, b = net.argument(*window), net.argument(one_of(net, [bias, 1]))
    return tn.convolution(net, op, x, w, b, [side for sides in pads for side in sides], stride, dilation)


def random_transposed_convolution(net, x):
    x = of_rank(net, x, 4)
    kernel, stride, outputs = (between(net, 2, 3), between(net, 1, 3)), (between(net, 1, 2), between(net, 1, 3)), 2
    out_pad = [between(net, 1 - kernel[side // 2], 1) for side in range(4)]
    if any((x.shape[d + 1] - 1) * stride[d] + kernel[d] + out_pad[2 * d] + out_pad[2 * d + 1] < 1 for d in range(2)):
        out_pad = [0] * 4
    w, b = net.argument(outputs, *kernel, x.shape[-1]), net.argument(one_of(net, [outputs, 1]))
    return tn.transposed_convolution(net, x, w, b, out_pad, stride)


def random_pool(net, x, op):
    x = of_rank(net, x, 4)
    kernel, pads, stride, _ = zip(*(random_window(net, size, 1) for size in x.shape[1:-1]), strict=True)
    return tn.pool(net, op, x, kernel, [side for sides in pads for side in sides], stride)


def random_resize(net, x):
    x = of_rank(net, x, 4)
    kind = one_of(net, [tn.resize_between_corners, tn.resize_areas, tn.resize_to_lower_neighbor])
    less = 1 if kind is tn.resize_between_corners else 0
    # One row stays one row between corners.
    factors = [
        one_of(net, [(n, d) for n, d in [(1, 1), (2, 1), (3, 1), (1, 2)] if (size - less) % d == 0])
        for size in x.shape[1:3]
    ]
    if kind is tn.resize_areas:
        return kind(net, x, factors, one_of(net, ["BILINEAR", "NEAREST_NEIGHBOR"]))
    return kind(net, x, factors)


def random_binary(net, x, op):
    if op == "pow":
        x = positive(net, x)
    others = [value for value in net.values if value.type == x.type]
    if op == "pow" or between(net, 0, 2):
        other = net.argument(*(one_of(net, [size, 1]) for size in x.shape), low=-2, high=2)
    else:
        other = one_of(net, others)
    return tn.binary(net, op, x, other) if op == "pow" or between(net, 0, 1) else tn.binary(net, op, other, x)


def random_select(net, x):
    bounds = net.argument(*(one_of(net, [size, 1]) for size in x.shape))
    chosen = tn.compare(net, one_of(net, list(tn.COMPARISONS)), x, bounds)
    other = net.argument(*(one_of(net, [size, 1]) for size in x.shape))
    return tn.select(net, chosen, x, other) if between(net, 0, 1) else tn.select(net, chosen, other, x)


def random_step(net, x, op):
    # Beside what it rounds, which has a gradient.
    return tn.binary(net, one_of(net, ["add", "mul"]), x, tn.step(net, op, x))


def random_clamp(net, x):
    low = float(np.float32(net.random.uniform(-1.5, 0)))
    return tn.clamp(net, x, *one_of(net, [(0.0, tn.LARGEST), (0.0, 6.0), (low, low + 1.5)]))


def random_matmul(net, x):
    x = of_rank(net, x, 3)
    batches, rows, inner = x.shape
    if between(net, 0, 1):
        return tn.matmul(net, x, net.argument(batches, inner, between(net, 1, 4)))
    return tn.matmul(net, net.argument(batches, between(net, 1, 4), rows), x)


def random_concat(net, x):
    axis = axis_of(net, x)
    values = [x, net.argument(*(between(net, 1, 3) if d == axis else size for d, size in enumerate(x.shape)))]
    if between(net, 0, 1):
        values.append(x)
    net.random.shuffle(values)
    return tn.concat(net, values, axis)


def random_slice(net, x):
    start = [between(net, 0, size - 1) for size in x.shape]
    return tn.cut(net, x, start, [between(net, 1, size - first) for first, size in zip(start, x.shape, strict=True)])


def random_gather(net, x):
    x = of_rank(net, x, 3)
    return tn.gather(net, x, net.random.integers(0, x.shape[1], (x.shape[0], between(net, 1, 5))))


def random_scatter(net, x):
    x = of_rank(net, x, 3)
    batches, rows, columns = x.shape
    count = between(net, 1, rows)
    places = np.stack([net.random.permutation(rows)[:count] for _ in range(batches)])
    return tn.scatter(net, x, places, net.argument(batches, count, columns))


RANDOM_OPS = (
    {op: lambda net, x, op=op: random_convolution(net, x, op) for op in ("conv2d", "conv3d", "depthwise_conv2d")}
    | {op: lambda net, x, op=op: random_pool(net, x, op) for op in ("avg_pool2d", "max_pool2d")}
    | {op: lambda net, x, op=op: random_binary(net, x, op) for op in tn.BINARY}
    | {op: lambda net, x, op=op: tn.unary(net, op, positive(net, x)) for op in tn.OF_POSITIVE}
    | {op: lambda net, x, op=op: tn.unary(net, op, x) for op in tn.UNARY if op not in tn.STEPS}
    | {op: lambda net, x, op=op: random_step(net, x, op) for op in tn.STEPS}
    | {op: lambda net, x, op=op: tn.reduce(net, op, x, axis_of(net, x)) for op in tn.REDUCTIONS}
    | {
        "transpose_conv2d": random_transposed_convolution,
        "resize": random_resize,
        "select": random_select,
        "clamp": random_clamp,
        "matmul": random_matmul,
        "reshape": lambda net, x: of_rank(net, x, one_of(net, [r for r in (1, 2, 3, 4) if r != len(x.shape)])),
        "transpose": lambda net, x: tn.transpose(net, x, net.random.permutation(len(x.shape))),
        "reverse": lambda net, x: tn.reverse(net, x, axis_of(net, x)),
        "concat": random_concat,
        "slice": random_slice,
        "pad": lambda net, x: tn.pad(net, x, net.random.integers(0, 3, 2 * len(x.shape)), net.argument(1)),
        "tile": lambda net, x: tn.tile(net, x, net.random.integers(1, 4, len(x.shape))),
        "gather": random_gather,
        "scatter": random_scatter,
    }
)


@functools.cache
def random_network(seed):
    """Three to six ops, not counting those that make an operand fit, on values with any number of readers."""
    net = tn.Network(seed, f"n{seed}_")
    shape = [between(net, 1, 4) for _ in range(between(net, 2, 4))]
    chosen = [net.argument(*shape)]
    count = between(net, 3, 6)
    while len(chosen) <= count:
        # The last value most often.
        x = chosen[-1] if between(net, 0, 2) else one_of(net, chosen)
        draft = net.draft()
        y = one_of(net, list(RANDOM_OPS.values()))(draft, x)
        # Where numbers are large, so are the roundings.
        is_small = y.tensor.numel() <= 300 and y.tensor.detach().abs().max() <= 8
        if is_small and draft.margin >= MARGIN:
            net = draft
            chosen.append(y)
    read = set(name for line in net.lines for name in line.replace(",", " ").split()[1:])
    for value in chosen[1:]:
        if value.name not in read:
            net.result(value)
    return net
