# SPDX-License-Identifier: Apache-2.0
"""Samples in shards: workers of Dask in processes of their own, and processes that only have files in common."""

from __future__ import annotations

import dataclasses
import itertools
import logging
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import measure
import numpy as np
import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")
pytest.importorskip("distributed", reason="the extra dask is not installed")

DATA = measure.REPOSITORY / "test" / "data"
DIGITS, CALIBRATION = DATA / "digits.mlirbc", DATA / "digits_calib.npy"
SCALE = mct.Preprocessing.of(0.0625)
BUDGET = {"budget": ["weights:50%"]}


@pytest.fixture(scope="module")
def samples() -> Any:
    return np.load(CALIBRATION)


def start(workers: int) -> Any:
    from distributed import LocalCluster

    return LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    from distributed import Client

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with start(2) as cluster, Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def model() -> Any:
    return mct.load(DIGITS)


def quantize(model: Any, data: Any, **options: Any) -> bytes:
    options = {"preprocessing": SCALE, "progress": False} | options
    return bytes(mct.quantize(model, "imx500", data, **options).module.bytecode())


@pytest.fixture(scope="module")
def whole(model: Any) -> bytes:
    return quantize(model, CALIBRATION)


@pytest.mark.alternating
def test_any_split_and_order_gives_the_bytes_of_one_process(
    model: Any, whole: bytes, client: Any, samples: Any, tmp_path: Path
) -> None:
    from dask import array, bag

    shuffled = samples[np.random.default_rng(0).permutation(len(samples))]
    borders = [0, 1, 120, 300]
    for number, (begin, end) in enumerate(itertools.pairwise(borders)):
        np.save(tmp_path / f"{number}.npy", shuffled[begin:end])
    files = [tmp_path / f"{number}.npy" for number in range(3)]
    assert quantize(model, {"input": shuffled}, client=client) == whole
    # The rounds after calibration are the same for all of these.
    fast = quantize(model, CALIBRATION, effort="fast")
    for data in (
        [f"file://{path}" for path in files],
        array.from_array(shuffled, chunks=(70, 8, 8, 1)),
        bag.from_sequence(list(shuffled), npartitions=3),
    ):
        assert quantize(model, data, client=client, effort="fast") == fast


@pytest.mark.alternating
def test_budgets_and_few_bits_give_the_bytes_of_one_process(model: Any, client: Any, samples: Any) -> None:
    # Every stage that reads samples: calibration, sensitivities, assignments, rounding and biases.
    shuffled = samples[np.random.default_rng(1).permutation(len(samples))]
    assert quantize(model, shuffled, client=client, **BUDGET) == quantize(model, CALIBRATION, **BUDGET)


@pytest.mark.thorough
def test_seven_workers_give_the_bytes_of_one_process(model: Any, samples: Any) -> None:
    from distributed import Client

    expected = quantize(model, CALIBRATION, effort="fast")
    with start(7) as cluster, Client(cluster) as client:
        assert quantize(model, samples[::-1], client=client, effort="fast") == expected


def _die_once(marker: str, samples: Any) -> Any:
    if Path(marker).exists():
        return samples
    Path(marker).write_text(str(os.getpid()))
    os._exit(1)


@pytest.mark.alternating
def test_a_shard_is_repeated_when_its_worker_dies(
    model: Any, whole: bytes, client: Any, samples: Any, tmp_path: Path
) -> None:
    from dask import array, delayed

    dying = delayed(_die_once, pure=False)(str(tmp_path / "died"), samples[:100])
    first = array.from_delayed(dying, (100, 8, 8, 1), samples.dtype)
    data = array.concatenate([first, array.from_array(samples[100:], chunks=(100, 8, 8, 1))])
    assert quantize(model, data, client=client) == whole
    assert not Path(f"/proc/{(tmp_path / 'died').read_text()}").exists()


def _infos(client: Any) -> dict[str, dict[str, Any]]:
    return dict(client.scheduler_info(n_workers=-1)["workers"])


@pytest.mark.alternating
def test_workers_with_other_instructions_are_noted(model: Any, samples: Any, caplog: pytest.LogCaptureFixture) -> None:
    from distributed import Client

    def forget_instructions() -> None:
        os.environ["DNNL_MAX_CPU_ISA"] = "SSE41"

    with start(2) as cluster, Client(cluster) as client, caplog.at_level(logging.WARNING, "mct"):
        client.run(forget_instructions, workers=[next(iter(_infos(client)))])
        quantize(model, samples, client=client, effort="fast")
    if "different instruction sets" not in caplog.text:
        assert "avx" not in Path("/proc/cpuinfo").read_text()


@pytest.mark.alternating
def test_progress_counts_shards_and_workers_send_little(model: Any, client: Any, samples: Any) -> None:
    from mct import distributed

    reports = []
    received = []
    request_shards = distributed.Distribution.request_shards

    def record(self: Any, *arguments: Any) -> None:
        request_shards(self, *arguments)
        received.append(self.received[-1])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distributed.Distribution, "request_shards", record)
        quantize(model, samples, client=client, progress=lambda report: reports.append(report))
    stages = [report.stage for report in reports if report.stage.endswith(" of shards")]
    assert list(dict.fromkeys(stages)) == ["calibration of shards", "samples of shards"]
    last = [report for report in reports if report.stage == stages[0]][-1]
    # Each worker that is alive has two; the scheduler may still miss one that has died.
    assert last.done == last.total and last.total in (2, 4)
    # The second round has 300 samples of 256 bytes in f32.
    assert received[0] < last.total * 100_000
    assert received[1] < 300 * 256


@pytest.mark.alternating
def test_the_command_takes_the_address_of_a_scheduler(whole: bytes, client: Any, tmp_path: Path) -> None:
    output = tmp_path / "q.mlirbc"
    address = client.scheduler.address
    words = ["quantize", DIGITS, "--target", "imx500", "--data", CALIBRATION, "--scale=0.0625", "-o", output]
    subprocess.run([sys.executable, "-m", "mct", *map(str, words), "--dask", address], check=True, capture_output=True)
    assert mct.load(output).module.bytecode() == mct.Model(mct._native.Module.parse(whole, "q")).module.bytecode()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"data": None}, "client: its workers read the samples of `data`; give data=…"),
        ({"calibration_samples": 3}, "calibration_samples: with a client, all samples of `data` are read"),
        ({"checkpoint": "run"}, "checkpoint: with a client, the workers measure; leave it out"),
        ({"statistics_in": ["a.json"]}, "statistics_in: with a client, the workers calibrate; leave it out"),
        ({"shard": "0/2"}, "shard: with a client, shards are divided by it; leave it out"),
        ({"data": iter([])}, "data: with a client, expected .npy files, URLs of such, an array"),
        ({"data": {"other": "a.npy"}}, "data: expected samples for input, found other"),
        ({"data": "file:///no/such.npy"}, "'file:///no/such.npy': cannot be read: "),
        ({"client": "tcp://127.0.0.1:1"}, "client: no scheduler answers at 'tcp://127.0.0.1:1'"),
        ({"client": 3}, "client: expected a dask.distributed.Client, or an address, found 3"),
    ],
)
def test_what_cannot_be_distributed_is_refused(
    model: Any, client: Any, options: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mct.distributed.CONNECT_SECONDS", 1)
    options = {"data": CALIBRATION, "client": client} | options
    with pytest.raises(mct.Error) as raised:
        quantize(model, options.pop("data"), **options)
    assert message in str(raised.value)


def test_a_scheduler_that_is_lost_is_refused(model: Any, samples: Any) -> None:
    class Lost:
        def submit(self) -> None:
            raise AssertionError

        def scheduler_info(self, **_: Any) -> None:
            raise OSError("Timed out trying to connect")

    with pytest.raises(mct.Error, match="client: the scheduler, or a worker, does not answer or fails: Timed out"):
        quantize(model, samples, client=Lost())


@pytest.fixture(scope="module")
def quantized(model: Any) -> Any:
    return mct.quantize(model, "imx500", CALIBRATION, preprocessing=SCALE, effort="fast", progress=False)


@pytest.fixture(scope="module")
def tested() -> tuple[Any, Any]:
    return np.load(DATA / "digits_test.npy"), np.load(DATA / "digits_test_labels.npy")


def _without_seconds(value: Any) -> Any:
    return dataclasses.replace(value, seconds=0)


@pytest.mark.alternating
def test_evaluations_of_shards_are_those_of_one_process(
    quantized: Any, client: Any, tested: tuple[Any, Any], tmp_path: Path
) -> None:
    from dask import array

    images, labels = tested
    order = np.random.default_rng(2).permutation(len(images))
    whole = quantized.evaluate(images, labels, metric="top1")
    for data, right in (
        (images[order], labels[order]),
        (array.from_array(images, chunks=(300, 8, 8, 1)), array.from_array(labels, chunks=300)),
        (DATA / "digits_test.npy", DATA / "digits_test_labels.npy"),
    ):
        found = quantized.evaluate(data, right, metric="top1", client=client)
        assert _without_seconds(found) == _without_seconds(whole)
    compared = quantized.compare(images[order], client=client)
    assert _without_seconds(compared) == _without_seconds(quantized.compare(images))


@pytest.mark.alternating
def test_the_report_of_shards_is_that_of_one_process(quantized: Any, client: Any, tested: tuple[Any, Any]) -> None:
    images, labels = tested
    whole = quantized.report(data=images, labels=labels, effect_samples=32).document
    found = quantized.report(data=images, labels=labels, effect_samples=32, client=client).document
    assert whole.pop("seconds") > 0 and found.pop("seconds") > 0
    assert found == whole


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        ("evaluate", {"samples": 3}, "samples: with a client, workers read all samples"),
        ("run", {"samples": 3}, "outputs: with a client, workers read all samples, and write no outputs; leave it out"),
        ("evaluate", {"metric": lambda outputs, labels: 1.0}, "metric: with a client, expected a name"),
        ("evaluate", {"labels": [1, 2, 3]}, "data: with a client, expected .npy files, URLs of such, an array"),
        ("evaluate", {"labels": np.zeros(7, int)}, "labels: expected 300 labels, found 7"),
        ("report", {"samples": 3}, "samples: with a client, workers read all samples; leave it out"),
        ("report", {"metric": lambda outputs, labels: 1.0}, "metric: with a client, expected a name"),
    ],
)
def test_runs_that_cannot_be_distributed_are_refused(
    quantized: Any, client: Any, method: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(mct.Error) as raised:
        getattr(quantized, method)(data=CALIBRATION, client=client, **options)
    assert message in str(raised.value)


def test_labels_lie_in_as_many_shards_as_samples(model: Any) -> None:
    from dask import array
    from mct import distributed
    from mct.samples import read_signature

    inputs = read_signature(model.module, "")
    files = ["file:///0.npy", "file:///1.npy"]
    with pytest.raises(mct.Error, match=r"labels: with a client, and samples that workers fetch or compute, expected"):
        distributed.shards_of(files, inputs, 2, np.zeros(300, int))
    with pytest.raises(mct.Error, match="labels: expected as many shards as of the samples, 2, found 3"):
        distributed.shards_of(files, inputs, 2, array.zeros(300, chunks=100))


def test_a_missing_extra_is_named(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ImportError, match="distributing samples needs dask, distributed: "):
        quantize(model, CALIBRATION, client="tcp://127.0.0.1:1")


@pytest.mark.alternating
def test_functions_write_what_a_shard_says(model: Any, whole: bytes, tmp_path: Path, samples: Any) -> None:
    from mct.errors import ShardEnd

    files: list[Path] = []
    for round_ in range(2):
        added = []
        for number, part in enumerate(np.array_split(samples, 2)):
            added.append(tmp_path / f"{round_}.{number}.json")
            with pytest.raises(ShardEnd, match="there is no model yet"):
                quantize(model, part, shards_in=files, shards_out=added[-1], shard=f"{number}/2")
        files += added
    assert quantize(model, None, shards_in=files) == whole


STUB = """#!/bin/sh
# Runs the tasks of an array one after the other, as `sbatch --wait` does on a cluster.
test "$1" = --wait || exit 2
last=${2#--array=0-}
for task in $(seq 0 "$last"); do
  SLURM_ARRAY_TASK_ID=$task sh -c "exec bash $3" || exit 1
done
echo "$last" >> rounds
"""


@pytest.mark.alternating
def test_the_script_for_slurm_makes_the_bytes_of_one_process(tools: Path, tmp_path: Path, samples: Any) -> None:
    page = (measure.REPOSITORY / "docs" / "guide" / "many-machines.md").read_text()
    script = re.search(r"^```text\n(#!/bin/bash\n.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert script
    (tmp_path / "quantize.sh").write_text(script[1])
    (tmp_path / "model.mlirbc").symlink_to(DIGITS)
    for number, part in enumerate(np.array_split(samples[::-1], 4)):
        np.save(tmp_path / f"images.{number}.npy", part)
    stub = tmp_path / "bin" / "sbatch"
    stub.parent.mkdir()
    stub.write_text(STUB)
    stub.chmod(0o755)
    environment = os.environ | {"PATH": f"{stub.parent}:{tools}:{os.environ['PATH']}"}
    environment.pop("SLURM_ARRAY_TASK_ID", None)
    subprocess.run(["bash", "quantize.sh"], cwd=tmp_path, env=environment, check=True, capture_output=True)
    expected = tmp_path / "expected.mlirbc"
    measure.run_ok(measure.ptq_command(DIGITS, CALIBRATION, expected, target="imx500", input_scale=0.0625))
    assert (tmp_path / "q.mlirbc").read_bytes() == expected.read_bytes()
    assert (tmp_path / "rounds").read_text() == "3\n3\n"


def test_simulated_shards_are_repeated_until_all_are_done() -> None:
    import shards

    costs = shards.Costs()
    calm = shards.simulate(shards.Cluster(workers=10, samples=10**6, slow=0, spread=0, hours_to_failure=1e9), costs, 0)
    assert calm.failures == 0
    # Ten workers that are alike, and what they wait for at the start and while files are merged.
    assert calm.ideal < calm.seconds < 1.2 * calm.ideal
    harsh = shards.Cluster(workers=10, samples=10**6, hours_to_failure=0.02)
    outcome = shards.simulate(harsh, costs, 0)
    assert outcome.failures > 0 and outcome.seconds > calm.seconds
    assert outcome == shards.simulate(harsh, costs, 0)
    assert outcome.received == 80 * costs.compressed_bytes
