# SPDX-License-Identifier: Apache-2.0
"""Every builtin operator of TensorFlow Lite that is imported, on values at the edges, beside LiteRT: they differ
exactly as the table in test/README.md lists. `test/python/tflite_operators.py` prints the table."""

import re
from pathlib import Path

import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")
for module in ("tosa_converter_for_tflite", "ai_edge_litert"):
    pytest.importorskip(module, reason='the extra "tflite" is not installed (tools/dev/importers)')

import numpy as np  # noqa: E402
import tflite_operators as operators  # noqa: E402
from tflite_cases import F32, I8, I16, U8, Case, Result, Tensor, all_cases, fixed, row  # noqa: E402
from tflite_operators import Kind  # noqa: E402

README = (Path(__file__).resolve().parents[1] / "README.md").read_text()
# The table has two digits.
PRINTED = 1.06


@pytest.fixture(scope="module")
def table():
    return {one.key: one for one in operators.read_table(README)}


@pytest.fixture(scope="module")
def measured(table):
    refused = {case for kind, _, case in table if kind is Kind.REFUSED}
    return operators.measure(all_cases(), refused)


@pytest.mark.alternating
def test_operators_differ_from_litert_as_the_table_tells(table, measured):
    # LiteRT has other kernels for processors without AVX-512 than those that the table is of: zeros, NaN and XNNPACK.
    cpu = Path("/proc/cpuinfo")
    is_alike = cpu.exists() and "avx512f" in cpu.read_text()
    judged = [one for one in measured if is_alike or (one.kernels != "xnnpack" and one.kind is not Kind.ZERO)]
    new = [one for one in judged if one.key not in table]
    assert not new, operators.table(new)
    larger = [one for one in judged if one.largest > PRINTED * table[one.key].largest]
    assert not larger, operators.table(larger)


def test_the_table_tells_nothing_else(table, measured):
    """Rows about XNNPACK and codes of NaN may be stale: some of these depend on the machine."""
    found = {one.key for one in measured}
    stale = [
        one for key, one in table.items() if key not in found and one.kernels != "xnnpack" and one.kind is not Kind.NAN
    ]
    assert not stale, operators.table(stale)


def test_the_table_tells_how_many_operators_were_compared():
    cases = all_cases()
    assert len({case.name for case in cases}) == len(cases)
    count = re.search(r"(\d+) cases of (\d+) operators", README)
    assert count and count.groups() == (str(len(cases)), str(len({case.kind for case in cases})))


def test_operators_have_the_names_of_the_schema():
    from ai_edge_litert import schema_py_generated as schema
    from mct.importers import _flatbuffer

    assert all(getattr(schema.BuiltinOperator, name) == code for code, name in enumerate(_flatbuffer.BUILTIN))


def both(*cases: Case):
    """Returns the results of the reference kernels and of the import for the cases as one network."""
    shapes = [operators.result_shapes(case) for case in cases]
    alone = [
        operators.reference(*operators.network([case], [shape])) for case, shape in zip(cases, shapes, strict=True)
    ]
    return [values for results in alone for values in results], operators.ours(*operators.network(cases, shapes))


@pytest.mark.parametrize(
    "dtype, scale, zero_point", [(I8, 0.9294, -128), (I8, 0.5, 3), (U8, 0.9, 0), (U8, 0.5, 131), (I16, 0.01, 0)]
)
def test_quantize_saturates(dtype, scale, zero_point):
    """No ties and nothing beyond 32 bits, where kernels of LiteRT differ."""
    samples = row(np.concatenate([np.linspace(-400, 400, 1001), [1e6, -1e6]]) + 0.01)
    case = Case("QUANTIZE", "", [Tensor(samples)], [Result(dtype, scale, zero_point)], "QuantizeOptions")
    (expected,), (found,) = both(case)
    limits = np.iinfo(dtype)
    assert expected.min() == limits.min and expected.max() == limits.max
    assert np.array_equal(found, expected)


def test_sums_of_the_network_itself_wrap_as_before():
    """A chain of CAST, ADD and CAST is not a QUANTIZE, with or without one beside it."""
    file = operators.networks.Tflite()
    source = file.tensor("source", (1, 4))
    words, more = file.tensor("words", (1, 4), "INT32"), file.tensor("more", (1, 4), "INT32")
    codes, quantized = file.tensor("codes", (1, 4), "INT8"), file.tensor("quantized", (1, 4), "INT8")
    file.quantize(quantized, 1.0, 100)
    file.operator("CAST", [source], [words], "CastOptions")
    file.operator("ADD", [words, file.constant("hundred", np.array([[100]], np.int32))], [more], "AddOptions")
    file.operator("CAST", [more], [codes], "CastOptions")
    file.operator("QUANTIZE", [source], [quantized], "QuantizeOptions")
    data = file.finish([source], [codes, quantized])
    samples = np.array([[1, 27, 28, 200]], np.float32)
    found = mct.load(data, quantized="integer").run(samples)
    assert found[0].tolist() == [[101, 127, -128, 44]]
    assert found[1].tolist() == [[101, 127, 127, 127]]


def test_casts_cut_off_what_is_behind_the_point():
    values = row([0.5, -0.5, 1.5, -1.5, 2.9, -2.9, 126.7, -0.0])
    cases = [Case("CAST", str(one), [Tensor(values)], [Result(one)], "CastOptions") for one in (np.int32, I8)]
    cases += [Case("CAST", "", [Tensor(np.abs(values))], [Result(U8)], "CastOptions")]
    expected, found = both(*cases)
    for a, b in zip(expected, found, strict=True):
        assert np.array_equal(a, b)


def test_remainders_and_logarithms_of_moderate_numbers():
    generator = np.random.default_rng(0)
    a, b = (generator.normal(size=(1, 500)).astype(F32) * 20 for _ in range(2))
    scores = np.concatenate([generator.normal(0, 60, (1, 20, 8)), np.full((1, 1, 8), 300.0)], 1).astype(F32)
    cases = [
        Case("FLOOR_MOD", "", [Tensor(a), Tensor(b)], [Result(F32)], "FloorModOptions"),
        Case("LOG_SOFTMAX", "", [Tensor(scores)], [Result(F32)], "LogSoftmaxOptions"),
        Case("GELU", "", [Tensor(a / 10)], [Result(F32)], "GeluOptions"),
        Case("ROUND", "", [Tensor(np.round(a * 2) / 2)], [Result(F32)]),
    ]
    expected, found = both(*cases)
    for case, one, other in zip(cases, expected, found, strict=True):
        # Rounding of the quotient times the divisor, of exp and log, of erf; ties are exact.
        tolerance = {"FLOOR_MOD": 1e-4, "LOG_SOFTMAX": 1e-4, "GELU": 1e-6, "ROUND": 0}[case.kind]
        assert np.abs(one - other).max() <= tolerance, case.kind


@pytest.mark.parametrize(
    "printed",
    [
        'loc(fused["stft/spectrum", "model.tflite":0:0]): error: no such width',
        "error: failed to legalize operation 'tfl.rfft2d' that was explicitly marked illegal",
        "[ERROR] Conversion failed: Could not legalize the TFLite model to TOSA.",
    ],
)
def test_the_layer_that_the_converter_fails_on_is_named_wherever_it_says_so(printed, monkeypatch):
    from mct.importers import _process

    def fail(converter, source, *arguments, **options):
        raise mct.Error(f"{converter} failed: {printed}", source, [], printed)

    monkeypatch.setattr(_process, "run", fail)
    file = operators.networks.Tflite()
    signal, result = file.tensor("signal", (1, 1, 6)), file.tensor("stft/spectrum", (1, 1, 4), "COMPLEX64")
    length = file.constant("length", np.array([1, 6], np.int32))
    file.operator("RFFT2D", [signal, length], [result], "Rfft2dOptions")
    with pytest.raises(mct.Error, match="stft/spectrum") as raised:
        mct.load(file.finish([signal], [result]))
    assert "RFFT2D" in str(raised.value)


def test_two_layers_of_one_operator_and_what_they_share():
    """The logarithm of one softmax and a second one of the same scores: converters compute once what is equal."""
    file = operators.networks.Tflite()
    scores = file.tensor("scores", (1, 6))
    results = [file.tensor(name, (1, 6)) for name in ("power", "first", "second")]
    file.operator("EXP", [scores], results[:1], "ExpOptions")
    for result in results[1:]:
        file.operator("LOG_SOFTMAX", [scores], [result], "LogSoftmaxOptions")
    data = file.finish([scores], results)
    samples = {"scores": row([1, 2, -3, 0.5, 88, -1])}
    expected = operators.litert(data, samples, "BUILTIN_REF")
    for a, b in zip(expected, operators.ours(data, samples), strict=True):
        assert np.allclose(a, b, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "case, shapes, message",
    [
        (Case("RANK", "", [Tensor(row([1, 2]))], [Result(np.int32)], "RankOptions"), [[]], "no TOSA for RANK"),
        (
            Case("RFFT2D", "", [Tensor(np.ones((1, 8, 8), F32)), fixed([8, 8])], [Result(F32)], "Rfft2dOptions"),
            [[1, 8, 5]],
            r"no TOSA for RFFT2D \(builtin.unrealized_conversion_cast\)",
        ),
        (
            Case("ABS", "", [Tensor(np.ones((1, 4), I8), 0.5, 3)], [Result(I8, 0.4, 3)]),
            [[1, 4]],
            "cannot convert ABS: 'tosa.abs' op",
        ),
        (
            Case("FILL", "", [fixed([1, 6]), fixed(np.float32(2), F32)], [Result(F32)], "FillOptions"),
            [[1, 6]],
            "crashed",
        ),
        (
            Case("CAST", "", [Tensor(row([1, 2]))], [Result(np.float64)], "CastOptions"),
            [[1, 2]],
            r"the network cannot be run: .*result 0 of type 'tensor<1x2xf64>', which the executor cannot write",
        ),
        (
            Case(
                "FLOOR_MOD",
                "",
                [Tensor(row([7, 8], np.int32)), Tensor(row([2, 3], np.int32))],
                [Result(np.int32)],
                "FloorModOptions",
            ),
            [[1, 2]],
            "the network cannot be run: 'tosa.reciprocal' op",
        ),
    ],
    ids=lambda value: value.kind if isinstance(value, Case) else "",
)
def test_what_cannot_be_run_is_refused_with_operator_and_layer(case, shapes, message):
    with pytest.raises(mct.Error, match=message) as caught:
        mct.load(operators.network([case], [shapes])[0], quantized="integer")
    assert '"result0_0' in caught.value.location
    assert "cut it in front of them" in caught.value.notes[-1]
