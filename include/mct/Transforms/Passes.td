// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_TRANSFORMS_PASSES_TD
#define MCT_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

class Mct_ErrorMethodOption<string text> :
    Option<"errorMethod", "error-method", "::mct::quantization::ErrorMethod",
           /*default=*/"::mct::quantization::ErrorMethod::MSE", text,
           [{::llvm::cl::values(
             clEnumValN(::mct::quantization::ErrorMethod::NoClipping, "no-clipping", "cover the whole range"),
             clEnumValN(::mct::quantization::ErrorMethod::MSE, "mse", "smallest mean squared error"))}]>;

def Mct_RemarksOption : Option<"remarks", "remarks", "bool", /*default=*/"false",
                               "Report forms that the pass leaves alone, and why">;

def AssignNamesPass : Pass<"mct-assign-names", "::mlir::func::FuncOp"> {
  let summary = "Give every value a stable, unique name";
  let description = [{
    Statistics, points, reports and comparisons speak of values by name. A name is the op's `NameLoc` where the
    importer left one; else it is made of the op's kind and a number, in program order. Arguments become `arg0`,
    `arg1`, … A name that occurs a second time gets a number too. Constants and quantizer points get none. The names
    are written as `NameLoc`s, so running the pass again changes nothing, and running it before any rewrite gives a
    float module the same names as everything that is made from it.

    Before:
    ```mlir
    %0 = tosa.exp %arg0 : (tensor<4xf32>) -> tensor<4xf32> loc(unknown)
    %1 = tosa.exp %0 : (tensor<4xf32>) -> tensor<4xf32> loc("tail")
    %2 = tosa.exp %1 : (tensor<4xf32>) -> tensor<4xf32> loc(unknown)
    ```

    After:
    ```mlir
    %0 = tosa.exp %arg0 : (tensor<4xf32>) -> tensor<4xf32> loc("exp")
    %1 = tosa.exp %0 : (tensor<4xf32>) -> tensor<4xf32> loc("tail")
    %2 = tosa.exp %1 : (tensor<4xf32>) -> tensor<4xf32> loc("exp_1")
    ```
  }];
}

def FoldConstantsPass : Pass<"mct-fold-constants", "::mlir::func::FuncOp"> {
  let summary = "Evaluate arithmetic on constants";
  let description = [{
    Replaces TOSA ops on constants by their value, an f32 constant: `add`, `sub`, `mul`, `pow`, `minimum`, `maximum`,
    `rsqrt`, `reciprocal`, `exp`, `log`, `abs`, `negate`, `cast` from integers, `reshape` and `transpose`. The scale of
    an unfolded batch norm becomes a constant this way, and so do weights that are stored as integers and a scale. Each
    op is evaluated in f32, as it would be at run time.

    Before:
    ```mlir
    %variance = "tosa.const"() <{values = dense<[[[[0.25, 4.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
    %0 = tosa.rsqrt %variance : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
    ```

    After:
    ```mlir
    %0 = "tosa.const"() <{values = dense<[[[[2.0, 0.5]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
    ```
  }];
  let dependentDialects = ["::mlir::tosa::TosaDialect"];
}

def NormalizeActivationsPass : Pass<"mct-normalize-activations", "::mlir::func::FuncOp"> {
  let summary = "Join the steps of a ReLU6 or HardTanh into one clamp";
  let description = [{
    A chain of `tosa.clamp`, and of `tosa.maximum` and `tosa.minimum` with a number, becomes one `tosa.clamp`, which
    targets know as ReLU6 or HardTanh. Every value comes out as before, NaN included. A chain stays as it is where a
    value in between is used elsewhere, where a bound is infinite, or where a NaN would be replaced. The clamp takes the
    name of the chain's result.

    Needs the bounds as constants: run `mct-fold-constants` before.

    Source: the many forms of importers; MCT sees one layer.

    Before:
    ```mlir
    %0 = tosa.clamp %arg0 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
    %1 = tosa.minimum %0, %six : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
    ```

    After:
    ```mlir
    %1 = tosa.clamp %arg0 {max_val = 6.0 : f32, min_val = 0.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::tosa::TosaDialect"];
}

def FoldBatchNormPass : Pass<"mct-fold-batch-norm", "::mlir::func::FuncOp"> {
  let summary = "Fold a batch norm into the convolution or product beside it";
  let description = [{
    A batch norm is a chain of additions, subtractions and multiplications with constants along the channels, one of
    which scales every channel on its own. It is folded into kernel and bias

    * of the op before it: any convolution or matrix product with a constant kernel, as `tpc.framework` describes them,
      or a concatenation of such along the channels, which is how TOSA spells a convolution with groups;
    * else of the op behind it, when every result position of that reads one position: a kernel of size 1 without
      padding, or a matrix product. A depthwise convolution with a kernel of size 1, stride 1, no padding and one
      output per channel counts as a batch norm there.

    Transpositions, and reshapes that keep the last axis, may stand in between. Nobody else may read an intermediate
    result. Chains fold completely. Exact in real numbers; in f32 the result differs by rounding (<= 1e-5 relative).
    Where the batch norm came last, the op takes the name of its result.

    Needs the constants of the chain to be folded: run `mct-fold-constants` before.

    Source: MCT `BatchNormalizationFolding`, `BatchNormalizationForwardFolding`; unlike MCT's, the latter leaves a
    padding convolution and a strided depthwise one alone.

    Before:
    ```mlir
    %0 = tosa.conv2d %arg0, %kernel, %bias, %zero, %zero {…} : (…) -> tensor<1x4x4x2xf32>
    %1 = tosa.sub %0, %mean : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x4x4x2xf32>
    %2 = tosa.mul %1, %scale, %shift : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
    %3 = tosa.add %2, %beta : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x4x4x2xf32>
    ```

    After:
    ```mlir
    %0 = tosa.conv2d %arg0, %scaled_kernel, %new_bias, %zero, %zero {…} : (…) -> tensor<1x4x4x2xf32>
    ```
  }];
  let options = [Mct_RemarksOption];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::tosa::TosaDialect", "::mct::tpc::TpcDialect"];
}

def CollapseLinearPass : Pass<"mct-collapse-linear", "::mlir::func::FuncOp"> {
  let summary = "Join a convolution with the 1x1 convolution, or the addition of a constant, behind it";
  let description = [{
    Two convolutions without anything in between are one, whose kernel is the product of both, when the second has a
    kernel of size 1 in space and no padding. The first may have a kernel of any shape. As in MCT, all strides and
    dilations are 1, nobody else reads the result in between, and the kernel may not have more elements than both
    together. Chains collapse completely.

    The addition of a constant per channel behind any op with a constant kernel goes into its bias. One number for all
    channels does too, but not where a bound or a factor behind it makes it part of an activation.

    Kernel ops are those that `tpc.framework` describes. The result keeps the name of the last op.

    Source: MCT `Conv2DCollapsing`, `Op2DAddConstCollapsing`.

    Before:
    ```mlir
    %0 = tosa.conv2d %arg0, %kernel1, %bias1, %zero, %zero {…} : (…) -> tensor<1x4x4x2xf32>
    %1 = tosa.conv2d %0, %kernel2, %bias2, %zero, %zero {…} : (…) -> tensor<1x4x4x1xf32>
    ```

    After:
    ```mlir
    %1 = tosa.conv2d %arg0, %product, %bias, %zero, %zero {…} : (…) -> tensor<1x4x4x1xf32>
    ```
  }];
  let options = [Mct_RemarksOption];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::tosa::TosaDialect", "::mct::tpc::TpcDialect"];
}

def CollapseResidualPass : Pass<"mct-collapse-residual", "::mlir::func::FuncOp"> {
  let summary = "Turn the addition of a convolution's input into part of its kernel";
  let description = [{
    Adds 1 to the centre of the kernel where output and input channel are the same, and drops the addition. Requires
    that the centre lies on the position that is computed: stride 1, a kernel of odd size, padded on both sides by half
    of its reach. Depthwise convolutions have a centre too. Nobody else may read the convolution.

    Kernel ops are those that `tpc.framework` describes. The convolution takes the name of the sum.

    Source: MCT `ResidualCollapsing`, which checks none of these conditions.

    Before:
    ```mlir
    %0 = tosa.conv2d %arg0, %kernel, %bias, %zero, %zero {…} : (…) -> tensor<1x4x4x2xf32>
    %1 = tosa.add %0, %arg0 : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
    ```

    After:
    ```mlir
    %1 = tosa.conv2d %arg0, %kernel_plus_identity, %bias, %zero, %zero {…} : (…) -> tensor<1x4x4x2xf32>
    ```
  }];
  let options = [Mct_RemarksOption];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::tosa::TosaDialect", "::mct::tpc::TpcDialect"];
}

def SetBatchPass : Pass<"mct-set-batch", "::mlir::func::FuncOp"> {
  let summary = "Rewrite the batch size of a network";
  let description = [{
    The batch is the leading dimension of every argument. Its new size is carried through all types and through the
    `tosa.const_shape` operands that spell it. `size = 0` makes it dynamic.

    Fails at the first op through which the batch cannot be followed, for example a reduction over it.

    Before:
    ```mlir
    func.func @main(%arg0: tensor<1x4x4x2xf32>) -> tensor<1x32xf32> {
      %shape = tosa.const_shape {values = dense<[1, 32]> : tensor<2xindex>} : () -> !tosa.shape<2>
      %0 = tosa.reshape %arg0, %shape : (tensor<1x4x4x2xf32>, !tosa.shape<2>) -> tensor<1x32xf32>
      return %0 : tensor<1x32xf32>
    }
    ```

    After:
    ```mlir
    func.func @main(%arg0: tensor<8x4x4x2xf32>) -> tensor<8x32xf32> {
      %shape = tosa.const_shape {values = dense<[8, 32]> : tensor<2xindex>} : () -> !tosa.shape<2>
      %0 = tosa.reshape %arg0, %shape : (tensor<8x4x4x2xf32>, !tosa.shape<2>) -> tensor<8x32xf32>
      return %0 : tensor<8x32xf32>
    }
    ```
  }];
  let options = [Option<"size", "size", "int64_t", /*default=*/"1", "New batch size; 0 makes it dynamic">];
  let dependentDialects = ["::mlir::tosa::TosaDialect"];
}

def InsertQuantizersPass : Pass<"mct-insert-quantizers", "::mlir::ModuleOp"> {
  let summary = "Put a quantizer point on every tensor that the target quantizes";
  let description = [{
    Asks the attached target (`tpc-attach-target`) which operator each op, or chain of ops, is; fuses the chains that the
    target runs as one, the longest that match; chooses the configuration of each result and weight among those that its
    consumers can read; and inserts a `tpc.quantize` behind every result that is to be quantized and before every weight.
    There is none inside of a fused chain, unless the fusing pattern has a config of its own, and none behind an op that
    only moves or selects the values of a point. Constants of element-wise ops, concatenations and gathers are weights
    named `pos_attr`. Arguments of the function get a point with the platform's default. A point without parameters
    computes the identity. `tpc-explain` tells why a tensor has a point or has none.

    `overrides` names a text file of rules that go before the target, one a line:

        # which ops         what they do
        name "conv*"        weights=4
        op   tosa.add       activation=16
        set  Conv           weights.kernel_attr=2
        name conv2d_3       float

    A rule selects by point name, op name or operator set, all of them as globs. `activation` is the result, `weights`
    every quantized weight, `weights.NAME` one of them; each takes a width in bits or `float`, and `float` alone is both.
    Of several rules for one tensor the last wins. Widths are those that the target offers and the consumers can read;
    asking for another one, and a rule that has nothing to act on, are errors.

    Source: MCT `set_quantization_configs_to_node`, `FusingInfoGenerator`, `filter_nodes_candidates`, `BitWidthConfig`.

    Before:
    ```mlir
    %0 = tosa.conv2d %arg0, %kernel, %bias, %zero, %zero {…} : (…) -> tensor<1x4x4x2xf32>
    %1 = tosa.clamp %0 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (…) -> tensor<1x4x4x2xf32>
    ```

    After:
    ```mlir
    %in = tpc.quantize %arg0 as "arg0" activation config(#default8) : tensor<1x4x4x2xf32>
    %w = tpc.quantize %kernel as "conv2d" weight "kernel_attr" axes [0] config(#kernel8) : tensor<2x1x1x2xf32>
    %0 = tosa.conv2d %in, %w, %bias, %zero, %zero {…} : (…) -> tensor<1x4x4x2xf32>
    %1 = tosa.clamp %0 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (…) -> tensor<1x4x4x2xf32>
    %2 = tpc.quantize %1 as "clamp" activation config(#default8) group(["conv2d", "clamp"]) : tensor<1x4x4x2xf32>
    ```
  }];
  let options = [
    Option<"overrides", "overrides", "std::string", /*default=*/"", "File with rules that go before the target's">,
  ];
  let dependentDialects = ["::mct::tpc::TpcDialect"];
}

def SelectWeightParametersPass : Pass<"mct-select-weight-parameters", "::mlir::ModuleOp"> {
  let summary = "Choose the quantization parameters of every weight";
  let description = [{
    Reads the constant behind each weight point and writes the point's `parameters`: thresholds (or scales) in the unit
    of the weights, one per channel where the point has axes. Weights are always signed. Points that have parameters
    are left alone. The result does not depend on `threads`.

    Source: MCT `get_weights_qparams`; spec of the searches: `lib/Quantization`.

    Before:
    ```mlir
    %w = tpc.quantize %k as "conv2d" weight "kernel_attr" axes [0] config(#kernel8) : tensor<2x1x1x2xf32>
    ```

    After:
    ```mlir
    %w = tpc.quantize %k as "conv2d" weight "kernel_attr" axes [0] config(#kernel8)
           parameters(#tpc.symmetric<threshold = [0.5, 1.0], bits = 8>) : tensor<2x1x1x2xf32>
    ```
  }];
  let options = [
    Mct_ErrorMethodOption<"Distance between the float and the quantized weights that is minimized">,
    Option<"threads", "threads", "unsigned", /*default=*/"0", "Worker threads; 0: one per core">,
  ];
  let dependentDialects = ["::mct::tpc::TpcDialect"];
}

def SelectParametersPass : Pass<"mct-select-parameters", "::mlir::ModuleOp"> {
  let summary = "Choose the quantization parameters of every calibrated activation";
  let description = [{
    Reads the statistics of each activation point and writes its `parameters`. The grid is signed when the target says
    so, or when the data went below zero. A tensor whose `range` is known on both sides skips the search and covers
    that range. Weight points and points that have parameters are left alone.

    Fails for a point without statistics: run `mct-calibrate` before.

    Source: MCT `get_activations_qparams`.

    Before:
    ```mlir
    %2 = tpc.quantize %1 as "relu6" activation config(#act8)
           statistics(#tpc.statistics<count = 4, zeros = 1, min = 0.0, max = 6.0, histogram = …>) : tensor<1x4xf32>
    ```

    After:
    ```mlir
    %2 = tpc.quantize %1 as "relu6" activation config(#act8)
           statistics(#tpc.statistics<count = 4, zeros = 1, min = 0.0, max = 6.0, histogram = …>)
           parameters(#tpc.power_of_two<threshold = [8.0], bits = 8, is_signed = false>) : tensor<1x4xf32>
    ```
  }];
  let options = [
    Mct_ErrorMethodOption<"Distance between the float and the quantized activations that is minimized">,
  ];
  let dependentDialects = ["::mct::tpc::TpcDialect"];
}

#endif // MCT_TRANSFORMS_PASSES_TD
