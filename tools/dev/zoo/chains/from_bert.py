# SPDX-License-Identifier: Apache-2.0
"""A sentence encoder of BERT's kind from its weights alone, as exporters write it in ONNX, and from there as ONNX.

    python from_bert.py MODEL.safetensors FOLDER [SPECS]

Packages carry such networks as weights only. The graph has the mask that exporters compute at run time,
(1 - mask) * least float, and layer norms behind the residual sums. SPECS has one object:
{"kind": "sentence", "tokens": length, "heads": number of heads}. Samples are random words in sentences of different
lengths.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import chain
import numpy as np
import onnx
from from_onnx import Reference, importers
from onnx import helper, numpy_helper
from safetensors.numpy import load_file

# Words of BERT's vocabulary, from the most frequent on, and the marks around a sentence.
FIRST_WORD, LAST_WORD, BEGIN, END = 1996, 12000, 101, 102


class Graph:
    def __init__(self, weights: dict[str, np.ndarray], tokens: int, heads: int):
        self.weights, self.tokens, self.heads = weights, tokens, heads
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.width = weights["embeddings.LayerNorm.weight"].shape[0]

    def constant(self, name: str, values) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def add(self, kind: str, inputs: list[str], name: str, **attributes) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [f"{name}_out"], name=name, **attributes))
        return f"{name}_out"

    def norm(self, x: str, weight: str, name: str) -> str:
        gain, offset = (
            self.constant(f"{name}.{part}", self.weights[f"{weight}.{part}"]) for part in ("weight", "bias")
        )
        return self.add("LayerNormalization", [x, gain, offset], name, axis=-1, epsilon=1e-12)

    def linear(self, x: str, weight: str, name: str) -> str:
        kernel = self.constant(f"{name}.kernel", self.weights[f"{weight}.weight"].T)
        product = self.add("MatMul", [x, kernel], f"{name}/MatMul")
        return self.add("Add", [product, self.constant(f"{name}.bias", self.weights[f"{weight}.bias"])], f"{name}/Add")

    def split(self, x: str, weight: str, name: str, order: list[int]) -> str:
        """The linear layer `weight`, with a dimension for the heads."""
        shape = self.constant(f"{name}.shape", np.array([1, self.tokens, self.heads, self.width // self.heads]))
        return self.add(
            "Transpose",
            [self.add("Reshape", [self.linear(x, weight, name), shape], f"{name}/Reshape")],
            f"{name}/Transpose",
            perm=order,
        )

    def attention(self, x: str, mask: str, weight: str, name: str) -> str:
        query, key, value = (
            self.split(x, f"{weight}.self.{part}", f"{name}/{part}", order)
            for part, order in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3]))
        )
        root = self.constant(f"{name}.root", np.float32(np.sqrt(self.width // self.heads)))
        scores = self.add("Div", [self.add("MatMul", [query, key], f"{name}/scores"), root], f"{name}/scaled")
        shares = self.add("Softmax", [self.add("Add", [scores, mask], f"{name}/masked")], f"{name}/softmax", axis=-1)
        mixed = self.add(
            "Transpose", [self.add("MatMul", [shares, value], f"{name}/mixed")], f"{name}/joined", perm=[0, 2, 1, 3]
        )
        shape = self.constant(f"{name}.joined", np.array([1, self.tokens, self.width]))
        return self.linear(
            self.add("Reshape", [mixed, shape], f"{name}/flat"), f"{weight}.output.dense", f"{name}/output"
        )

    def gelu(self, x: str, name: str) -> str:
        root = self.constant(f"{name}.root", np.float32(np.sqrt(2)))
        error = self.add("Erf", [self.add("Div", [x, root], f"{name}/Div")], f"{name}/Erf")
        shifted = self.add("Add", [error, self.constant(f"{name}.one", np.float32(1))], f"{name}/Add")
        return self.add(
            "Mul", [self.add("Mul", [x, shifted], f"{name}/Mul"), self.constant(f"{name}.half", np.float32(0.5))], name
        )

    def build(self) -> onnx.ModelProto:
        words = self.add(
            "Gather",
            [self.constant("words", self.weights["embeddings.word_embeddings.weight"]), "input_ids"],
            "embeddings/words",
        )
        positions = self.weights["embeddings.position_embeddings.weight"][: self.tokens]
        positions = self.constant(
            "positions", (positions + self.weights["embeddings.token_type_embeddings.weight"][0])[None]
        )
        x = self.norm(self.add("Add", [words, positions], "embeddings/sum"), "embeddings.LayerNorm", "embeddings/norm")
        wide = self.add("Unsqueeze", ["attention_mask", self.constant("axes", np.array([1, 2]))], "mask/Unsqueeze")
        inverse = self.add(
            "Sub",
            [self.constant("one", np.float32(1)), self.add("Cast", [wide], "mask/Cast", to=onnx.TensorProto.FLOAT)],
            "mask/Sub",
        )
        mask = self.add("Mul", [inverse, self.constant("least", np.finfo(np.float32).min)], "mask/Mul")
        layers = 1 + max(int(name.split(".")[2]) for name in self.weights if name.startswith("encoder.layer."))
        for layer in range(layers):
            weight, name = f"encoder.layer.{layer}", f"layer{layer}"
            attention = self.attention(x, mask, f"{weight}.attention", f"{name}/attention")
            x = self.norm(
                self.add("Add", [attention, x], f"{name}/sum1"), f"{weight}.attention.output.LayerNorm", f"{name}/norm1"
            )
            inner = self.gelu(self.linear(x, f"{weight}.intermediate.dense", f"{name}/inner"), f"{name}/gelu")
            outer = self.linear(inner, f"{weight}.output.dense", f"{name}/outer")
            x = self.norm(self.add("Add", [outer, x], f"{name}/sum2"), f"{weight}.output.LayerNorm", f"{name}/norm2")
        inputs = [
            helper.make_tensor_value_info(name, onnx.TensorProto.INT64, [1, self.tokens])
            for name in ("input_ids", "attention_mask")
        ]
        result = helper.make_tensor_value_info(x, onnx.TensorProto.FLOAT, [1, self.tokens, self.width])
        graph = helper.make_graph(self.nodes, "bert", inputs, [result], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 9
        return model


def sentence(generator: np.random.Generator, tokens: int) -> list[np.ndarray]:
    length = int(generator.integers(6, tokens + 1))
    words = np.zeros((1, tokens), np.int64)
    words[0, :length] = [BEGIN, *generator.integers(FIRST_WORD, LAST_WORD, length - 2), END]
    return [words, (words != 0).astype(np.int64)]


def main(weights: str, folder: str, specs: str) -> None:
    (spec,) = json.loads(specs)
    model = Path(folder) / "module.onnx"
    onnx.save(Graph(load_file(weights), spec["tokens"], spec["heads"]).build(), model)
    generator = chain.random(Path(folder).name)
    samples = [sentence(generator, spec["tokens"]) for _ in range(chain.SAMPLES)]
    (Path(folder) / "module.mlir").write_bytes(importers.import_model(str(model), samples[0]))
    chain.record(Path(folder), samples, Reference(model))


if __name__ == "__main__":
    main(*sys.argv[1:])
