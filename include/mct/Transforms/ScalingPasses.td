// SPDX-License-Identifier: Apache-2.0
//
// Passes that move a factor from constants in front of a value to those behind it.
// Passes.td includes them.
#ifndef MCT_TRANSFORMS_SCALINGPASSES_TD
#define MCT_TRANSFORMS_SCALINGPASSES_TD

include "mct/Transforms/Options.td"

def RescalePartsPass : Pass<"mct-rescale-parts", "::mlir::ModuleOp"> {
  let summary = "Bring parts of a concatenation that have very different ranges to one range";
  let description = [{
    A concatenation along the last axis has one grid. Where channels of one of its parts are more than 8 times as large as
    those of another, and a layer or a product with a constant computes with both, the parts get factors, powers of two
    that bring all of them below the same one, and what reads them gets the inverses:

    * kernel and bias of the layers that make the part, or the constants of a product and of a sum, are multiplied by
      the factor. In between may be what f(a * x) = a * f(x) holds for: movements, pooling, padding with zeros, ReLUs
      without an upper bound, sums, maxima and minima of values that all take the factor, and points. Others that read
      such values take the inverse, in a kernel or a constant;
    * kernels and constants behind the concatenation take the inverses along their input channels.

    A part that cannot take a factor, as the result of a sigmoid, keeps its range, and the others get that; else the
    part with most channels does. Parts that share what takes the factor take the same one. Parts that slices separate
    again are left to `mct-split-shared-grids`, which costs no op. No op is added.

    All factors are powers of two, so that the float network computes the same bits; a constant that would be rounded
    declines its factor. Points whose values are others get the suffix `_scaled` and lose statistics and parameters.

    Run it after `mct-insert-quantizers` and `mct-calibrate` with `channel-statistics=true`. `measured-by` is run where
    there is such a concatenation and its statistics are missing. A remark names each one; `remarks` tells why others are
    left alone.

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
               "Measures the channels where there is something to rescale: builtin.module(PASSES)">,
    Mct_RemarksOption,
  ];
  let dependentDialects = ["::mct::tpc::TpcDialect", "::mlir::tosa::TosaDialect"];
}

def ScaleInputPass : Pass<"mct-scale-input", "::mlir::ModuleOp"> {
  let summary = "Scale the network's input so that it fills its threshold";
  let description = [{
    Where the threshold T of an input's point lies above the largest magnitude m that calibration saw, as that of a
    power-of-two quantizer does, codes are wasted. The input is multiplied by T / m before its point, and the kernels
    of all layers that read it by m / T; the multiplication can be joined with the scale that the network's user
    applies anyway. Reshapes, transposes, padding with zeros, pooling and ReLUs may lie in between. Either all users take the
    factor, or none does. Exact in real numbers; in f32 the result differs by rounding (<= 1e-5 relative).

    Needs statistics and parameters: run `mct-calibrate` and `mct-select-parameters` before. The input's point keeps its
    parameters, which fit now, and gets the suffix `_scaled` to its name; of its statistics the histogram is dropped and
    the rest scaled. Parameters of the kernels are dropped: run `mct-select-weight-parameters` afterwards. Inputs with another quantizer have no threshold to fill.

    Source: MCT `InputScaling` (`input_scaling`), which multiplies nothing and tells the user one number for all inputs.

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
