// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_INSPECTION_PASSES_TD
#define MCT_INSPECTION_PASSES_TD

include "mct/Support/Options.td"

def ExplainPass : Pass<"tpc-explain", "::mlir::ModuleOp"> {
  let summary = "Print the target's requirements for every op, with reasons";
  let description = [{
    Prints to the standard output, for each operator of each function: the operator set and the rule that matched, its
    options, with the one that is taken and the reasons against the others, the fused chain, and the points of its
    result and its weights, or the reasons why there are none. Ops that stay float are explained as well, and ops of
    linalg that are not raised to TOSA. The module is not changed; names are those that `mct-insert-quantizers` gives to
    points. In a module that has points, the base of an operator is the alternative of its points
    (`mct-choose-candidates`).

    The module is printed as usual; with `-o /dev/null`, the standard output has only the explanation.

    `format=json` prints one object:

    * `functions`: objects with `name`, `inputs`, `nodes` and `groups`.
    * input: `name`, `point` (true if it gets one), then `bits` and `method`, or `why_float`.
    * node: `name`, `ops` (names, in program order), `location`; `operator_set` and `pattern`, null if nothing matched
      and the default applies (`pattern` also if the op names its set by `tpc.set`); `options`, `group` (index into
      `groups`, or null), `contested_by` (a node that a longer chain would need, but that belongs to another chain, or
      null), `result`, `weights`; `why_not_raised` for an op of linalg that `mct-raise-linalg` does not raise.
    * option, in the target's order: `state` (`base`, `candidate` or `dropped`), `bits`, `method` and `signedness` of
      the result, `act_enabled`, `preserving`, `input_bits`, `weights` (by name: `bits`, `method`, `per_channel`,
      `enabled`); a dropped one has `why`, and `users` (their names; also as `readers`, until version 0.3) if those are
      the reason.
    * result: `cover` is `point` (with `bits`, `method`, `signedness`), `fused` (it never leaves its chain),
      `preserved` (with `covered_by`, the name of the point whose values it moves or selects), or `none` (with
      `why_float`).
    * weight: `name`, `operand`, `point`, then `bits`, `method` and `axes` (empty: per tensor), or `why_float`.
    * group: `nodes` (names), `pattern`.

    Before:
    ```mlir
    %0 = tosa.exp %arg0 : (tensor<4xf32>) -> tensor<4xf32>
    ```

    After: the same, and on the standard output
    ```mlir
    exp (tosa.exp)
      operator set: none matches, the default applies
      option 0 (base): 8-bit power_of_two result, reads 8-bit inputs
      result: point, 8-bit power_of_two
    ```
  }];
  let options = [
    Option<"format", "format", "::mct::ExplainFormat", /*default=*/"::mct::ExplainFormat::Text", "Format of the output",
           [{::llvm::cl::values(
             clEnumValN(::mct::ExplainFormat::Text, "text", "text"),
             clEnumValN(::mct::ExplainFormat::JSON, "json", "one JSON object"))}]>,
    Mct_OverridesOption,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tosa::TosaDialect", "::mct::tpc::TpcDialect"];
}

def VerifyShapesPass : Pass<"mct-verify-shapes"> {
  let summary = "Reject shapes that contradict each other, and sizes below zero";
  let description = [{
    Fails, with an error at the first op at fault, for properties that no verifier of MLIR checks and that all
    computations with shapes rely on:

    * an op of `tosa`, `linalg` or `tensor` whose shapes contradict each other (2 channels with a kernel for 3);
    * an op whose result follows from attributes or constant shapes (windows, strides, dilations and pads of
      convolutions and pools, `pad`, `tile`, `slice`, `reshape`, `resize`) but has another type, computed without
      overflow; a size of -1 that only upstream takes for an unknown one;
    * a type with more elements than any memory holds;
    * a type with a size below zero, and a constant with fewer elements than its type (the text format has neither,
      bytecode may hold both).

    A dynamic size agrees with all. `mct-opt` puts this pass before all others, and `mct-run` does the same; run it
    first where a stock `mlir-opt` with the plugin reads files that may be damaged. The module is not changed.

    Before:
    ```mlir
    %0 = tosa.exp %arg0 : (tensor<4xf32>) -> tensor<4xf32>
    ```

    After: the same
    ```mlir
    %0 = tosa.exp %arg0 : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
}

def ReportMemoryPass : Pass<"mct-report-memory", "::mlir::ModuleOp"> {
  let summary = "Print the memory that weights and activations need";
  let description = [{
    Prints to the standard output, for each function, what each op stores: the constants that it is the first to read
    and its results, with the number of elements, the bits of each (those of the point's parameters, before the
    selection those that the target requires, without a point those of the type), the bytes, and the bytes in float;
    then the sums of kernels, biases, other constants and activations. The module is not changed; with `-o /dev/null`,
    the standard output has only the report.

    A dynamic size counts as 1. Constants of one element are numbers in formulas and are ignored. Results inside a fused
    chain need no bytes. If the target pads (`simd_padding`) and its options have a `simd_size`, the last axis of
    activations and the output channels of the kernel that produces them are rounded up to a multiple of it.

    `format=json` prints one object: `functions`, each with `name`, `ops` and `totals`; an op has `name`, `op` and
    `tensors`, each with `kind` (`kernel`, `bias`, `constant`, `activation`), `name`, `elements`, `padded_elements`,
    `bits`, `float_bits` (of an element), `fused`, `bytes` and `float_bytes`; `totals` has `bits` and `float_bits` by
    kind.

    Before:
    ```mlir
    %c = "tosa.const"() <{values = dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<6xf32>}> : () -> tensor<6xf32>
    %w = tpc.quantize %c as "add" weight "bias_attr" parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<6xf32>
    %0 = tosa.add %x, %w : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32> loc("add")
    %1 = tpc.quantize %0 as "add" activation parameters(#tpc.power_of_two<threshold = [8.0], bits = 16>) : tensor<6xf32>
    ```

    After: the same, and on the standard output
    ```mlir
    function main
      kind           elements  bits        bytes  float bytes  name
      activation            6    32           24           24  x
      constant              6     8            6           24  add/bias_attr
      activation            6    16           12           24  add
      total kernel                             0            0
      total bias                               0            0
      total constant                           6           24
      total activation                        36           48
    ```
  }];
  let options = [
    Option<"format", "format", "::mct::ExplainFormat", /*default=*/"::mct::ExplainFormat::Text", "Format of the output",
           [{::llvm::cl::values(
             clEnumValN(::mct::ExplainFormat::Text, "text", "a table"),
             clEnumValN(::mct::ExplainFormat::JSON, "json", "one JSON object"))}]>,
  ];
  let dependentDialects = ["::mct::tpc::TpcDialect"];
}

def ReportResourcesPass : Pass<"mct-report-resources", "::mlir::ModuleOp"> {
  let summary = "Print the resources of its target that a quantized network uses";
  let description = [{
    Prints to the standard output, for each function and each op in program order (a fused chain by its last op): the
    bytes of the quantized weights that it is the first to read, those of its quantized results, those of its cut, and
    its bit operations; then the totals: weights, the largest cut (`activations`), both, and all bit operations, now and
    if every point had 8 bits, to which budgets refer. The bits are those of the parameters, before the selection those
    that the target requires. The module is not changed.

    The cut of an op consists of the activations that are alive while it runs: produced by it or before, and read by it
    or later. A value that only moves another one has its bits. Values that are not quantized do not count: biases in
    float, values inside fused chains, results that stay float. A dynamic size, of a batch, counts as 1; nothing is
    padded (`mct-report-memory` has tensors of floats and padding, too).

    Bit operations of a layer: multiplications of one sample * bits of the kernel * bits of the input, 32 for an input
    that nothing quantizes.

    `format=json` prints one object: `functions`, each with `name`, `ops`, `totals` and `totals_at_8_bits`; an op has
    `name`, `op`, `weights_bytes`, `result_bytes`, `cut_bytes`, `cut` (names) and `bops`; totals have `weights_bytes`,
    `activations_bytes`, `total_bytes` and `bops`.

    Source: MCT `ResourceUtilization`, for the schedule of the program order.

    Before:
    ```mlir
    %xq = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x2x2x4xf32>
    %wq = tpc.quantize %w as "conv" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [1.0], bits = 4>) : tensor<2x1x1x4xf32>
    %0 = tosa.conv2d %xq, %wq, %bias, %zero, %zero {…} : (…) -> tensor<1x2x2x2xf32> loc("conv")
    %1 = tpc.quantize %0 as "conv" activation parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x2x2x2xf32>
    ```

    After: the same, and on the standard output
    ```mlir
    function main
           weights      results          cut             bops  name
                 0           16           16                0  x
                 4            8           24             1024  conv
      in total: weights 4 B, activations 24 B, total 28 B, 1024 BOPS
      at 8 bits: weights 8 B, activations 24 B, total 32 B, 2048 BOPS
    ```
  }];
  let options = [
    Option<"format", "format", "::mct::ExplainFormat", /*default=*/"::mct::ExplainFormat::Text", "Format of the output",
           [{::llvm::cl::values(
             clEnumValN(::mct::ExplainFormat::Text, "text", "a table"),
             clEnumValN(::mct::ExplainFormat::JSON, "json", "one JSON object"))}]>,
  ];
  let dependentDialects = ["::mct::tpc::TpcDialect"];
}

def ReportCostsPass : Pass<"mct-report-costs", "::mlir::ModuleOp"> {
  let summary = "Print the costs of the layers of a quantized network on a device";
  let description = [{
    Prints to the standard output, for each function and each op in program order (a fused chain by its last op): its
    cycles, and the bytes of the device's memory that it needs, by a table of measured costs, and the estimated bytes of
    its weights in the compressed form of Arm's Ethos-U; then the total cycles. The module is not changed.

    `cost-table` is a JSON document `mct-costs`, as written by `mct.cost.write_table`; without one, the `tpc.cost_table`
    of `device`. The table identifies a layer by its content: kinds of the ops, shapes and widths of their operands and
    results, shapes of constants, strides and other attributes, and the width of the kernel if the device computes
    narrow ones faster. Numbers that are added to the values of a chain, or multiply them, do not count. Its cycles are
    measured for some sizes of the compressed kernel; between these they are interpolated linearly. A layer that the
    table does not have is an error.

    `format=json` prints one object: `functions`, each with `name`, `layers` and `cycles`; a layer has `name`, `form`
    (its key in the table), `kernel_bits`, `compressed_bytes`, `cycles` and `memory_bytes`. Without a table it has no
    cycles, as needed to start a new table.

    Before:
    ```mlir
    %xq = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x2x2x4xf32>
    %wq = tpc.quantize %w as "conv" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [1.0], bits = 4>) : tensor<2x1x1x4xf32>
    %0 = tosa.conv2d %xq, %wq, %bias, %zero, %zero {…} : (…) -> tensor<1x2x2x2xf32> loc("conv")
    %1 = tpc.quantize %0 as "conv" activation parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x2x2x2xf32>
    ```

    After: the same, and on the standard output
    ```mlir
    function main, on my-npu
            cycles       memory   compressed  name
               120           24           16  conv
      in total: 120 cycles
    ```
  }];
  let options = [
    Option<"format", "format", "::mct::ExplainFormat", /*default=*/"::mct::ExplainFormat::Text", "Format of the output",
           [{::llvm::cl::values(
             clEnumValN(::mct::ExplainFormat::Text, "text", "a table"),
             clEnumValN(::mct::ExplainFormat::JSON, "json", "one JSON object"))}]>,
    Option<"costTable", "cost-table", "std::string", /*default=*/"",
           "Table of the cycles of layers on the device, as written by mct.cost.write_table; empty: that of the device">,
    Option<"device", "device", "std::string", /*default=*/"", "The `tpc.device` whose `tpc.cost_table` is used; "
                                                              "empty: that of the platform">,
  ];
  let dependentDialects = ["::mct::tpc::TpcDialect"];
}

def CheckIntegerPass : Pass<"mct-check-integer", "::mlir::ModuleOp"> {
  let summary = "Reject integer TOSA that validators accept but executors do not";
  let description = [{
    Fails, with one error for each finding, for properties that `tosa-validate` accepts but executors of integer TOSA do
    not:

    * shapes: a dynamic size; a negative number in the shape of a `reshape`, `slice`, `tile` or `pad`; a `pad` of more
      than 3 axes, which `tosa-validate` of LLVM 22 rejects at level 8k;
    * constants: -8 in 4 bits;
    * `rescale`: a shift outside 2 to 62, a negative multiplier, scales that are not constant, `INEXACT_ROUND`, and
      values for which its shift is not defined (-2^(shift-1) <= value < 2^(shift-1));
    * sums and other results that may leave their type: convolutions, `matmul`, `reduce_sum`, `avg_pool2d`, `add`,
      `sub`, `mul`, `abs`, `negate`, `resize`; `cast` to a type that cannot hold the values; `intdiv` by zero; shifts by
      the width or more;
    * a bilinear `resize` of integers whose offset is negative, which the lowering of LLVM 22 computes wrongly;
    * modules that cannot be serialized: several functions, ops of other dialects, a `tosa.target_env` without
      extensions (no parser accepts it).

    Ranges of values are those of `IntegerRanges` (interval arithmetic through the whole function, for each channel, on
    the actual weights and biases): an error means that nothing excludes the values that it names.

    `profile` adds checks for a device (`tpc.device`): floating-point ops if it is `integer_only`, and the forms that it
    refuses.

    With `simulation=true` there is a remark for each accumulator on whether f32 computes it exactly, which a simulation
    on float tensors needs to equal the integer network: the magnitudes of the products and of the bias of each output
    channel, and half a step of the rescale after it, sum up to less than 2^24, and the steps of its operands are powers
    of two, as far as `tpc.points`, `tpc.quantized` and the rescale after it show. With `remarks=true` there is a remark
    for each op that stays float.

    The module is not changed.

    Before:
    ```mlir
    %0 = tosa.add %x, %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    ```

    After: the same, and
    ```mlir
    error: 'tosa.add' op may have results from -4294967296 to 4294967294, which i32 does not hold
    note: let it read values of a coarser scale, or a smaller range
    %0 = tosa.add %x, %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    ```
  }];
  let options = [
    Option<"device", "profile", "std::string", /*default=*/"\"none\"",
           "Device that runs the network: none, ethos-u55, ethos-u85, imx500, pro_int, or a file with a `tpc.device`">,
    Option<"simulation", "simulation", "bool", /*default=*/"false",
           "Report for each accumulator whether f32 computes it exactly">,
    Mct_RemarksOption,
  ];
}

#endif // MCT_INSPECTION_PASSES_TD
