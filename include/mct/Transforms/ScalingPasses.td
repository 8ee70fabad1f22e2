// SPDX-License-Identifier: Apache-2.0
//
// Passes that move a factor from constants before a value to those after it.
// Passes.td includes them.
#ifndef MCT_TRANSFORMS_SCALINGPASSES_TD
#define MCT_TRANSFORMS_SCALINGPASSES_TD

include "mct/Transforms/Options.td"

def RescalePartsPass : Pass<"mct-rescale-parts", "::mlir::ModuleOp"> {
  let summary = "Rescale parts of a concatenation that have very different ranges to one range";
  let description = [{
    A concatenation along the last axis has one grid. If channels of one of its parts are more than 8 times as large as
    those of another, and a layer or a product with a constant uses both, the parts get factors, powers of two that
    scale all of them below the same power of two, and their users get the inverses:

    * kernel and bias of the layers that produce the part, or the constants of a product and of a sum, are multiplied by
      the factor. Ops with f(a * x) = a * f(x) may be in between: movements, pooling, padding with zeros, ReLUs without
      an upper bound, sums, maxima and minima of values that all have the factor, and points. Other users of such values
      take the inverse, in a kernel or a constant;
    * kernels and constants after the concatenation take the inverses along their input channels.

    A part that cannot take a factor, such as the result of a sigmoid, keeps its range, and the others get that range;
    otherwise the part with most channels keeps its range. Parts that share the constants to be scaled take the same
    factor. Parts that slices separate again are left to `mct-split-shared-grids`, which needs no op. No op is added.

    All factors are powers of two, so that the float network computes the same bits; a constant that would be rounded
    prevents its factor. Points whose values change get the suffix `_scaled` and lose statistics and parameters.

    Run it after `mct-insert-quantizers` and `mct-calibrate` with `channel-statistics=true`. `measured-by` is run if
    there is such a concatenation and its statistics are missing. A remark names each one; `remarks` explains why others
    are skipped.

    Before:
    ```mlir
    %0 = tosa.matmul %x, %kernel, %zero, %zero : (…) -> tensor<1x1x1xf32>
    %1 = tpc.quantize %0 as "boxes" activation statistics(…) : tensor<1x1x1xf32>
    %2 = tosa.concat %x, %1 {axis = 2 : i32} : (tensor<1x1x2xf32>, tensor<1x1x1xf32>) -> tensor<1x1x3xf32>
    %3 = tpc.quantize %2 as "joined" activation statistics(…) : tensor<1x1x3xf32>
    %4 = tosa.matmul %3, %kernel2, %zero, %zero : (…) -> tensor<1x1x1xf32>
    ```

    After:
    ```mlir
    %0 = tosa.matmul %x, %kernel_times_f, %zero, %zero : (…) -> tensor<1x1x1xf32>
    %1 = tpc.quantize %0 as "boxes_scaled" activation : tensor<1x1x1xf32>
    %2 = tosa.concat %x, %1 {axis = 2 : i32} : (tensor<1x1x2xf32>, tensor<1x1x1xf32>) -> tensor<1x1x3xf32>
    %3 = tpc.quantize %2 as "joined_scaled" activation : tensor<1x1x3xf32>
    %4 = tosa.matmul %3, %kernel2_with_a_row_over_f, %zero, %zero : (…) -> tensor<1x1x1xf32>
    ```
  }];
  let options = [
    ListOption<"measuredBy", "measured-by", "::mlir::OpPassManager",
               "Passes that measure the channels if there is something to rescale: builtin.module(PASSES)">,
    Mct_RemarksOption,
  ];
  let dependentDialects = ["::mct::tpc::TpcDialect", "::mlir::tosa::TosaDialect"];
}

def ScaleInputPass : Pass<"mct-scale-input", "::mlir::ModuleOp"> {
  let summary = "Scale the network's input so that it fills its threshold";
  let description = [{
    If the threshold T of an input's point is above the largest calibrated magnitude m, as with a power-of-two
    quantizer, codes are wasted. The input is multiplied by T / m before its point, and the kernels of all layers that
    read it by m / T; the multiplication can be merged with the scale that the network's user applies anyway. Reshapes,
    transposes, padding with zeros, pooling and ReLUs may be in between. Either all users take the factor, or none does.
    Exact in real numbers; in f32 the result differs by rounding (<= 1e-5 relative).

    Needs statistics and parameters: run `mct-calibrate` and `mct-select-parameters` before. The input's point keeps its
    parameters, which fit now, and gets the suffix `_scaled` to its name; of its statistics the histogram is dropped and
    the rest scaled. Parameters of the kernels are dropped: run `mct-select-weight-parameters` afterwards. Inputs with another quantizer have no threshold to fill.

    Source: MCT `InputScaling` (`input_scaling`), which does not multiply but gives the user one number for all inputs.

    Before:
    ```mlir
    %0 = tpc.quantize %arg0 as "arg0" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = -3.0, max = 2.0>)
           parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x2x2x1xf32>
    %1 = tosa.conv2d %0, %kernel, %bias, %zero, %zero {…} : (…) -> tensor<1x2x2x1xf32>
    ```

    After:
    ```mlir
    %x = tosa.mul %arg0, %four_thirds, %shift : (…) -> tensor<1x2x2x1xf32>
    %0 = tpc.quantize %x as "arg0_scaled" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = -4.0, max = 2.66666675>)
           parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x2x2x1xf32>
    %1 = tosa.conv2d %0, %kernel_times_3_4, %bias, %zero, %zero {…} : (…) -> tensor<1x2x2x1xf32>
    ```
  }];
  let options = [Mct_RemarksOption];
  let dependentDialects = ["::mct::tpc::TpcDialect", "::mlir::tosa::TosaDialect"];
}

#endif // MCT_TRANSFORMS_SCALINGPASSES_TD
