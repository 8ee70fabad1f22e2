# SPDX-License-Identifier: Apache-2.0
"""PyTorch: the trained networks of shapes that the repository holds are what their weights become by an import."""

import sys

import measure
import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")
for module in ("torch", "executorch", "tosa_tools_cli"):
    pytest.importorskip(module, reason='the extra "torch" is not installed (tools/dev/importers)')

sys.path.insert(0, str(measure.REPOSITORY / "tools" / "dev" / "shapes"))

import importer_networks as networks  # noqa: E402
import scenes  # noqa: E402
import torch  # noqa: E402
import train  # noqa: E402

# Relative to the range of the outputs, as in test_package_importers_torch.py.
TOLERANCE = 1e-4


@pytest.mark.alternating
@pytest.mark.parametrize("name", train.NETWORKS)
def test_imported_weights_are_the_stored_module(name):
    network = train.stored(name)
    images = scenes.scenes(4, scenes.TEST).images
    with torch.no_grad():
        expected = network(torch.from_numpy(images)).numpy()
    stored = mct.load(train.FOLDER / f"{name}.mlirbc")
    imported = mct.load(network, torch.from_numpy(images[:1]))
    for model in (stored, imported):
        assert networks.relative_error(model.run(images), expected) < TOLERANCE
