// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_TRAINING_PASSES_TD
#define MCT_TRAINING_PASSES_TD

include "mct/Support/Options.td"

def AddGradientPass : Pass<"mct-add-gradient", "::mlir::ModuleOp"> {
  let summary = "Add a function that computes gradients of another one";
  let description = [{
    Reverse mode over TOSA. Behind the function f comes `@f_gradient` (or `name`), which takes the arguments of f and, for
    each of the `results`, a tensor of its shape: the derivatives of some number s, a loss for example, by its elements.
    It returns the derivatives of s by the elements of each of the `inputs`: arguments of f, by name or number, or other
    values of it, by the name that `mct-assign-names` gives them. With `with-results` it returns the results of f as well,
    before the gradients. All that it computes is TOSA, so that it is folded, printed and executed as everything else; f
    stays as it is.

    Every op of TOSA on real numbers has a rule, and dialects give theirs by `DifferentiableOpInterface`. What is one of
    several possible ones:

    * A convolution's input gets a convolution with the kernel turned around, or a transposed one where it has a stride;
      its kernel gets a convolution over the samples with stride and dilation exchanged; both are exact for all pads,
      strides and dilations. Executed, the first run as convolutions of oneDNN, the second, of `tosa.conv2d`, as its
      gradients of weights.
    * `tosa.clamp` passes nothing at its bounds, as the ReLUs of the frameworks, unless `closed-clamps`. Equal operands of
      `tosa.maximum` and `tosa.minimum` share by halves, equal extremes of a reduction by their number; of equal elements
      of a `tosa.max_pool2d` the first one gets all.
    * Quantizer points are straight through: where the nearest code lies on the grid (between the lowest and the highest
      level, for a quantizer without a grid), the gradient passes as it is, and elsewhere none does; with
      `mask-points=false` it passes everywhere. Points without parameters pass it everywhere.
    * Roundings, comparisons and everything that makes integers pass none. `remarks` tells which do, since an input that
      reaches a result through them only has the gradient 0.

    Fails at ops without a rule that lie between an input and a result, such as control flow; where a shape is not
    static; and at zero points that are not 0.

    Before:
    ```mlir
    func.func @main(%x: tensor<2x3xf32>, %scale: tensor<1x3xf32>) -> tensor<2x3xf32> {
      %0 = tosa.mul %x, %scale, %shift : (tensor<2x3xf32>, tensor<1x3xf32>, tensor<1xi8>) -> tensor<2x3xf32>
      return %0 : tensor<2x3xf32>
    }
    ```

    After:
    ```mlir
    func.func @main(%x: tensor<2x3xf32>, %scale: tensor<1x3xf32>) -> tensor<2x3xf32> {…}
    func.func @main_gradient(%x: tensor<2x3xf32>, %scale: tensor<1x3xf32>, %gradient: tensor<2x3xf32>)
        -> (tensor<2x3xf32>, tensor<1x3xf32>) {
      %0 = tosa.mul %gradient, %scale, %shift : (tensor<2x3xf32>, tensor<1x3xf32>, tensor<1xi8>) -> tensor<2x3xf32>
      %1 = tosa.mul %gradient, %x, %shift : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<1xi8>) -> tensor<2x3xf32>
      %2 = tosa.reduce_sum %1 {axis = 0 : i32} : (tensor<2x3xf32>) -> tensor<1x3xf32>
      %3 = tosa.identity %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
      %4 = tosa.identity %2 : (tensor<1x3xf32>) -> tensor<1x3xf32>
      return %3, %4 : tensor<2x3xf32>, tensor<1x3xf32>
    }
    ```
  }];
  let options = [
    ListOption<"inputs", "inputs", "std::string",
               "Arguments, by name or number, and other values, by name; empty: all arguments of real numbers">,
    ListOption<"results", "results", "unsigned", "Numbers of results; empty: all of real numbers">,
    Option<"name", "name", "std::string", /*default=*/"",
           "Name of the new function; empty: that of the old one and `_gradient`">,
    Option<"withResults", "with-results", "bool", /*default=*/"false",
           "Return the results, too, before the gradients">,
    Option<"maskPoints", "mask-points", "bool", /*default=*/"true",
           "Points pass no gradient to values that their quantizer cuts off">,
    Option<"closedClamps", "closed-clamps", "bool", /*default=*/"false",
           "Clamps pass gradients at their very bounds, as torch.clamp does">,
    Mct_FunctionOption,
    Mct_RemarksOption,
  ];
  let dependentDialects = ["::mlir::tosa::TosaDialect"];
}

#endif // MCT_TRAINING_PASSES_TD
