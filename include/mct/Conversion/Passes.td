// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_CONVERSION_PASSES_TD
#define MCT_CONVERSION_PASSES_TD

include "mct/Support/Options.td"

def LowerToQuantPass : Pass<"mct-lower-to-quant", "::mlir::ModuleOp"> {
  let summary = "Turn points into casts of the quant dialect";
  let description = [{
    For compilers that know `!quant.uniform` types and not our points. In every function:

    * A point with parameters becomes `quant.qcast` to the type of its grid and `quant.dcast` back: per tensor, or per
      axis where its channels run over one axis (others of size 1 do not count: a depthwise kernel [KH, KW, C, 1]). The
      storage is as wide as the point has bits, `u` in front where it is unsigned.
    * A point without parameters disappears: its values are float.
    * `tpc.bias` becomes `tosa.const`; tags `tpc.…` on ops, the target and what belongs to it go. Where nothing stays
      behind (below), the module needs no dialect of ours.

    What upstream has no type for stays a `tpc.quantize`, with a remark if asked for: levels that are not evenly spaced
    (lookup tables), channels over several axes, and a step that f32 cannot hold.

    The type does not say where halves go; the consumer rounds. What stays float between two points, biases among it, is
    float: `mct-lower-to-integer` makes an integer network.

    Folding takes a `quant.qcast` together with its `quant.dcast` for nothing and removes both (`--canonicalize`,
    `--lower-quant-ops` and whatever else folds): run what reads the casts first.

    Before:
    ```mlir
    %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0]
           parameters(#tpc.symmetric<threshold = [1.0, 2.0], bits = 8>) : tensor<2x1x1x1xf32>
    %0 = tosa.conv2d %x, %w, %bias, %zero, %zero {…} : (…) -> tensor<1x1x1x2xf32>
    %1 = tpc.quantize %0 as "conv" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, is_signed = false>)
           : tensor<1x1x1x2xf32>
    ```

    After:
    ```mlir
    %q = quant.qcast %kernel : tensor<2x1x1x1xf32> to tensor<2x1x1x1x!quant.uniform<i8:f32:0, {7.812500e-03,1.562500e-02}>>
    %w = quant.dcast %q : tensor<2x1x1x1x!quant.uniform<i8:f32:0, {…}>> to tensor<2x1x1x1xf32>
    %0 = tosa.conv2d %x, %w, %bias, %zero, %zero {…} : (…) -> tensor<1x1x1x2xf32>
    %r = quant.qcast %0 : tensor<1x1x1x2xf32> to tensor<1x1x1x2x!quant.uniform<u8:f32, 1.562500e-02>>
    %1 = quant.dcast %r : tensor<1x1x1x2x!quant.uniform<u8:f32, 1.562500e-02>> to tensor<1x1x1x2xf32>
    ```
  }];
  let options = [Mct_RemarksOption];
  let dependentDialects = ["::mlir::quant::QuantDialect", "::mlir::tosa::TosaDialect", "::mct::tpc::TpcDialect"];
}

#endif // MCT_CONVERSION_PASSES_TD
