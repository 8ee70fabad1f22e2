# SPDX-License-Identifier: Apache-2.0
"""Hooks into gradient PTQ: a loss of their own, and a function that looks at each step."""

from __future__ import annotations

import os
import signal
import time

import measure
import numpy as np
import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")
gptq = pytest.importorskip("mct.gptq")
tp = pytest.importorskip("mct.target_platform")

# More than what the compiler computes at once by itself: a loss of Python sees the batch as a whole all the same.
BATCH, STEPS = 16, 2
IMAGES = np.load(measure.DIGITS / "digits_calib.npy")[:40] * np.float32(0.0625)
PLAIN = {
    "optimizer": gptq.SGD(0.5),
    "optimizer_rest": gptq.SGD(0.125),
    "regularization_factor": 0,
    "gradual_activation_quantization_config": None,
}


def batches():
    for begin in range(0, len(IMAGES), BATCH):
        yield [IMAGES[begin : begin + BATCH]]


@pytest.fixture(scope="module")
def quantized():
    """The digits, with kernels of two bits."""
    digits = mct.load(measure.DIGITS / "digits.mlirbc")
    return mct.quantize(digits, data=IMAGES, overrides=["op tosa.conv2d weights=2"])


class Steps:
    """Keeps what it is called with."""

    def __init__(self, most=1 << 20):
        self.calls, self.most = [], most

    def __call__(self, *recorded):
        self.calls.append(recorded)
        if len(self.calls) == self.most:
            raise InterruptedError("enough")

    @property
    def losses(self):
        return [recorded[0] for recorded in self.calls]


def train(quantized, **options):
    steps = Steps()
    config = gptq.GradientPTQConfig(1, log_function=steps, **(PLAIN | options))
    return gptq.train(quantized, batches, config), steps


# By gradient descent, the records of two steps give the change made by one of them.
def test_each_step_is_told_with_gradients_and_what_they_moved(quantized):
    _, steps = train(quantized)
    assert len(steps.calls) == STEPS
    names = {point.name for point in quantized.points if point.weight == "kernel_attr"}
    moved = 0
    for before, (loss, gradients, values, compared) in zip(steps.calls, steps.calls[1:], strict=False):
        assert loss > 0 and {name.partition("/")[0] for name in compared} <= {name.partition("/")[0] for name in names}
        for old, gradient, new in zip(before[2], gradients, values, strict=True):
            rate = 0.5 if new.ndim == 4 else 0.125
            # Each is rounded to f32.
            np.testing.assert_allclose(new, old - np.float32(rate) * gradient, rtol=0, atol=1e-6)
            moved += np.count_nonzero(new != old)
    assert moved > 100


def mean_squared_errors(quantized, floats, weights):
    """The compiler's default among layers."""
    loss, gradients = 0.0, []
    for values, expected, weight in zip(quantized, floats, weights, strict=True):
        difference = values.astype(np.float64) - expected
        unit = np.sum(expected.astype(np.float64) ** 2)
        loss += weight * np.sum(difference**2) / unit / len(quantized)
        gradients.append(2 * weight * difference / unit / len(quantized))
    return loss, gradients


@pytest.mark.alternating
@pytest.mark.parametrize("scores", [None, gptq.GPTQHessianScoresConfig(False, 8)], ids=["alike", "scores"])
def test_a_loss_of_python_trains_as_the_same_one_of_the_compiler(quantized, scores):
    options = {"hessian_weights_config": scores}
    ours, recorded = train(quantized, loss=gptq.multiple_tensors_mse_loss, **options)
    own, own_recorded = train(quantized, loss=mean_squared_errors, **options)
    # The order of sums differs.
    np.testing.assert_allclose(own_recorded.losses, recorded.losses, rtol=1e-5)
    for mine, theirs in zip(own_recorded.calls[-1][2], recorded.calls[-1][2], strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5)
    assert isinstance(own, mct.QuantizedModel) and isinstance(ours, mct.QuantizedModel)


def test_a_loss_of_torch_is_differentiated_by_torch(quantized):
    torch = pytest.importorskip("torch")

    def loss(values, floats, weights):
        parts = [((one - other) ** 2).mean() / (other**2).mean() for one, other in zip(values, floats, strict=True)]
        return (weights * torch.stack(parts)).mean()

    _, recorded = train(quantized, loss=mean_squared_errors)
    _, own = train(quantized, loss=gptq.torch_loss(loss))
    np.testing.assert_allclose(own.losses, recorded.losses, rtol=1e-4)


def raising(*_):
    raise ZeroDivisionError("mine")


@pytest.mark.alternating
@pytest.mark.parametrize(
    ("loss", "raised", "message"),
    [
        (raising, ZeroDivisionError, "mine"),
        (lambda *_: 3.0, tp.TargetError, "must return the loss and the list of its gradients .* but returns float"),
        (lambda *_: (3.0, []), tp.TargetError, r"must return \d gradients, one of each layer, not 0"),
        (lambda *_: (3.0, None), tp.TargetError, "must return a list of gradients, one of each layer, not None"),
        (
            lambda values, *_: (3.0, [0.0] * len(values)),
            tp.TargetError,
            r"gradient 0 must have the shape \(16, .*\) of the values, not \(\)",
        ),
    ],
    ids=["raises", "no gradients", "too few", "no list", "another shape"],
)
def test_what_a_loss_does_wrong_is_raised_as_it_is(quantized, loss, raised, message):
    with pytest.raises(raised, match=message):
        train(quantized, loss=loss)
    # The next call is not troubled.
    train(quantized)


def test_what_the_function_of_steps_raises_ends_the_training(quantized):
    steps = Steps(most=2)
    with pytest.raises(InterruptedError, match="enough"):
        gptq.train(quantized, batches, gptq.GradientPTQConfig(1, log_function=steps, **PLAIN))
    assert len(steps.calls) == 2


def test_a_loss_that_is_not_finite_is_an_error(quantized):
    def loss(values, *_):
        return float("nan"), [np.zeros_like(value) for value in values]

    with pytest.raises(mct.Error, match="the loss of step 0 of 2 is nan; train with a smaller learning rate"):
        train(quantized, loss=loss)


def test_what_is_trained_is_known_with_its_float_network(quantized):
    config = gptq.GradientPTQConfig(1, **PLAIN)
    with pytest.raises(tp.TargetError, match=r"begins with what mct\.quantize returns, not with Model; mct\.train"):
        gptq.train(mct.Model.parse(quantized.text, "quantized.mlir"), batches, config)


# A stage by itself has no loss of the caller, whatever was trained before.
def test_nobody_is_asked_outside(quantized):
    train(quantized, loss=mean_squared_errors)
    with pytest.raises(mct.Error, match="loss=program needs a loss of the caller"):
        mct.train_rounding(quantized, data=IMAGES, loss="program")


def test_ctrl_c_ends_training_with_its_steps_undone(quantized):
    """Counts: of 3 steps in each of 100000 epochs few are done; and no minute passes for those that are left."""
    steps: list[float] = []

    def log(loss, *recorded):
        steps.append(loss)
        if len(steps) == 3:
            os.kill(os.getpid(), signal.SIGINT)

    config = gptq.GradientPTQConfig(100_000, log_function=log, **PLAIN)
    begin = time.monotonic()
    # Shells start what runs in the background with SIGINT ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            gptq.train(quantized, batches, config)
    finally:
        signal.signal(signal.SIGINT, before)
    assert 3 <= len(steps) < 30_000
    # A step takes milliseconds; all of them would take a quarter of an hour.
    assert time.monotonic() - begin < 60


@pytest.mark.alternating
def test_training_in_vain_is_a_warning(caplog):
    flat = mct.quantize(mct.load(measure.DIGITS / "digits.mlirbc"), data=IMAGES, overrides=['name "*" weights=float'])
    trained = mct.train_rounding(flat, data=IMAGES, epochs=1)
    assert trained.text == flat.text
    (recorded,) = (record for record in caplog.records if "is not trained" in record.getMessage())
    assert recorded.levelname == "WARNING"
    assert "no layer has a kernel of its own on evenly spaced levels" in recorded.getMessage()
    # Where it trains and does not gain, too: steps of this length lead anywhere.
    caplog.clear()
    kept = mct.quantize(mct.load(measure.DIGITS / "digits.mlirbc"), data=IMAGES)
    trained = mct.train_rounding(kept, data=IMAGES, epochs=1, rate=50.0, train_bias=False, optimizer="sgd")
    recorded = [record for record in caplog.records if "training does not lower" in record.getMessage()]
    assert (trained.text == kept.text) == (len(recorded) == 1)
    assert all(record.levelname == "WARNING" and "it stays as it is" in record.getMessage() for record in recorded)
