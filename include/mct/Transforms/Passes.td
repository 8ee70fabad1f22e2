// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_TRANSFORMS_PASSES_TD
#define MCT_TRANSFORMS_PASSES_TD

include "mct/Transforms/Options.td"

def AssignNamesPass : Pass<"mct-assign-names", "::mlir::func::FuncOp"> {
  let summary = "Give every value a stable, unique name";
  let description = [{
    Statistics, points, reports and comparisons refer to values by name. A name is the op's `NameLoc` if the importer
    set one; otherwise it consists of the op's kind and a number, in program order. Arguments become `arg0`, `arg1`, … A
    name that occurs a second time gets a number too. Constants and quantization points get none. The names are written
    as `NameLoc`s, so running the pass again changes nothing, and running it before any rewrite gives a float module the
    same names as all modules derived from it.

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

def LiftVariablesPass : Pass<"mct-lift-variables", "::mlir::ModuleOp"> {
  let summary = "Convert the variables of a network to arguments and results";
  let description = [{
    A `tosa.variable` keeps its value from one run of the network to the next. Calibration, `mct-run` and other runs
    process samples one by one and in any order, and need the state as an input: each variable becomes an argument of
    the entry function, its value before the run, and a result, its value after it. They are appended to the existing
    arguments and results, in the order in which the variables are declared. The argument has the name of the variable,
    the result that name with the suffix `_next`. A caller that runs the network step by step passes the results of one
    step to the next.

    A `tosa.variable_read` returns the last value written before it in the order of the program, and the argument if
    there is none; reads inside `tosa.cond_if` and `tosa.while_loop` return the value written before that op.

    The initial value of a variable is recorded as `tpc.initial_value` of its argument: the elements that the first step
    reads. A variable that is never written becomes the constant of its initial value, or only an argument if it has
    none. One that is neither read nor written is removed.

    Fails for a write inside `tosa.cond_if` or `tosa.while_loop`, for variables of functions that are called (`--inline`
    before), for an entry function that is called itself, and for an initial value whose type is not that of the
    variable. A module without variables stays as it is; `mct-prepare` and `mct-ptq` begin with this pass.

    Before:
    ```mlir
    tosa.variable @sum = dense<0.000000e+00> : tensor<1x2xf32>
    func.func @main(%arg0: tensor<1x2xf32>) -> tensor<1x2xf32> {
      %0 = tosa.variable_read @sum : tensor<1x2xf32>
      %1 = tosa.add %0, %arg0 : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
      tosa.variable_write @sum, %1 : tensor<1x2xf32>
      %2 = tosa.tanh %1 : (tensor<1x2xf32>) -> tensor<1x2xf32>
      return %2 : tensor<1x2xf32>
    ```

    After:
    ```mlir
    func.func @main(%arg0: tensor<1x2xf32>, %arg1: tensor<1x2xf32> {tpc.initial_value = dense<0.000000e+00> : tensor<1x2xf32>}) -> (tensor<1x2xf32>, tensor<1x2xf32>) {
      %0 = tosa.add %arg1, %arg0 : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
      %1 = tosa.tanh %0 : (tensor<1x2xf32>) -> tensor<1x2xf32>
      %2 = tosa.identity %0 : (tensor<1x2xf32>) -> tensor<1x2xf32> loc("sum_next")
      return %1, %2 : tensor<1x2xf32>, tensor<1x2xf32>
    ```
  }];
  let options = [Mct_FunctionOption];
  let dependentDialects = ["::mlir::tosa::TosaDialect"];
}

def FoldConstantsPass : Pass<"mct-fold-constants", "::mlir::func::FuncOp"> {
  let summary = "Evaluate arithmetic on constants";
  let description = [{
    Replaces TOSA ops on constants by their value: arithmetic (`add`, `sub`, `mul`, `pow`, `minimum`, `maximum`,
    `rsqrt`, `reciprocal`, `exp`, `log`, `abs`, `negate`, `clamp`, `ceil`, `floor`, `tanh`, `sigmoid`, `erf`, `sin`,
    `cos`), comparisons, `select`, `cast`, movements (`identity`, `reshape`, `transpose`, `reverse`, `slice`, `tile`,
    `pad`, `concat`), and products (`matmul`) with zeros, such as the first state of a recurrent layer. The scale of an
    unfolded batch norm becomes a constant this way, and so do weights that are stored as float16 or as integers and a
    scale, and the kernels of a grouped convolution that are slices of one.

    Each op is evaluated once, in its element type, as at run time. A splat stays a splat; a result that is much larger
    than its constants, such as a `tile` to more than 2^24 elements, stays an op.

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

def MoveTransposesPass : Pass<"mct-move-transposes", "::mlir::func::FuncOp"> {
  let summary = "Move transpositions until they cancel";
  let description = [{
    Networks with channels first have a transposition before and after every convolution, whose channels are last. Ops
    between two convolutions (element-wise ops, reductions, `concat`, `pad`, `slice`, `tile`, `reverse`, quantization
    points without channels) compute the same in any order of the axes. Each connected region of such ops is converted
    to the order in which the transpositions around it move the fewest elements, and only if those are fewer than
    before; constants are transposed at compile time. Consecutive transpositions are merged, identity transpositions are
    removed, and one that only moves axes of size 1 becomes a reshape. Importers insert an axis of size 1 before a
    convolution of rows and drop it after it. If such reshapes are on both sides of a region, its ops get the axis, and
    the reshapes are removed.

    Values whose axes are in another order keep their name with the suffix `_transposed`, and their location records the
    order (for `mct-run --compare`); one that is transposed back keeps the name. Results and arguments of the function
    stay unchanged. Takes time linear in the number of ops. Needs folded constants (`mct-fold-constants`).

    Before:
    ```mlir
    %0 = tosa.transpose %arg0 {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x4x6x2xf32>) -> tensor<1x2x4x6xf32>
    %1 = tosa.add %0, %offset : (tensor<1x2x4x6xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x4x6xf32>
    %2 = tosa.transpose %1 {perms = array<i32: 0, 2, 3, 1>} : (tensor<1x2x4x6xf32>) -> tensor<1x4x6x2xf32>
    ```

    After:
    ```mlir
    %1 = tosa.add %arg0, %moved_offset : (tensor<1x4x6x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x4x6x2xf32>
    ```
  }];
  let dependentDialects = ["::mlir::tosa::TosaDialect", "::mct::tpc::TpcDialect"];
}

def NormalizeActivationsPass : Pass<"mct-normalize-activations", "::mlir::func::FuncOp"> {
  let summary = "Normalize activation functions to the forms that targets know";
  let description = [{
    A chain of `tosa.clamp`, and of `tosa.maximum` and `tosa.minimum` with a number, becomes one `tosa.clamp`, which
    targets know as ReLU6 or HardTanh. Every result is the same as before, including NaN. A chain stays unchanged if a
    value in between is used elsewhere, if a bound is infinite, or if a NaN would be replaced. The clamp takes the name
    of the chain's result.

    `1 / (1 + exp(-x))` becomes `tosa.sigmoid`, so that its product with x is a swish. A product of x, a number and a
    clamp of x that is x * relu6(x + 3) / 6 becomes `x * (clamp(x + 3, 0, 6) * 1/6)`, unless it has one of the two forms
    of a hard-swish that targets know: this one, or with the factor outside. Both are exact in real numbers; in f32 the
    result differs by rounding (<= 1e-6 relative to the largest).

    Needs the bounds and factors as constants: run `mct-fold-constants` before.

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

def FoldBatchNormPass : Pass<"mct-fold-batch-norm", "::mlir::ModuleOp"> {
  let summary = "Fold a batch norm into the adjacent convolution or product";
  let description = [{
    A batch norm is a chain of additions, subtractions and multiplications with constants, one number for each channel
    or one for all of them. A chain that multiplies is folded into kernel and bias

    * of the op before it: any convolution or matrix product with a constant kernel, as `tpc.framework` describes them,
      or a concatenation of such along the channels, which is how TOSA expresses a grouped convolution;
    * otherwise of the op after it. A chain that adds requires that all positions of the op read the same there: no
      padding, whose zeros come after the chain, and no transposed convolution with a larger kernel. Before a kernel of
      size 1 without padding, a depthwise convolution with a kernel of size 1, stride 1, no padding and one output per
      channel counts as a batch norm.

    Transpositions, and reshapes that keep the last axis, may be in between. Intermediate results must not have other
    users. Ops that are part of an operator that targets may know as a whole (`tpc-list-subgraphs`), such as the `add 3`
    of a hard-sigmoid, stay. Chains are folded completely. Exact in real numbers; in f32 the result differs by rounding
    (<= 1e-5 relative). If the batch norm came last, the op takes the name of its result.

    Needs the constants of the chain to be folded: run `mct-fold-constants` before.

    Source: MCT `BatchNormalizationFolding`, `BatchNormalizationForwardFolding`; unlike MCT's, the latter does not fold
    an offset before a padding convolution or a strided depthwise one.

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

def CollapseLinearPass : Pass<"mct-collapse-linear", "::mlir::ModuleOp"> {
  let summary = "Merge a convolution with the 1x1 convolution, or the addition of a constant, after it";
  let description = [{
    Two consecutive convolutions become one, whose kernel is the product of both, if the second has a kernel of spatial
    size 1 and no padding. The first may have a kernel of any shape. As in MCT, all strides and dilations are 1, the
    result in between has no other user, and the new kernel must not have more elements than both together. Chains are
    collapsed completely.

    The addition of a constant per channel, or of one number for all, after any op with a constant kernel is folded into
    its bias, unless it is part of an operator that targets may know as a whole.

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

def CollapseResidualPass : Pass<"mct-collapse-residual", "::mlir::ModuleOp"> {
  let summary = "Fold the addition of a convolution's input into its kernel";
  let description = [{
    Adds 1 to the centre of the kernel where output and input channel are the same, and removes the addition. Requires
    that the centre is at the computed position: stride 1, a kernel of odd size, padded on both sides by half of its
    reach. Depthwise convolutions are included. The convolution must not have other users.

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
    The batch is the leading dimension of every argument. Its new size is propagated through all types and the
    `tosa.const_shape` operands that contain it. `size = 0` makes it dynamic.

    If an op cannot have the batch in its present dimension, such as a product of [batch, rows, channels] with one
    constant matrix, or a step of a recurrent network whose transposes an importer dropped because the batch was 1, a
    reshape, or a reshape and a transpose, move it elsewhere. A constant that is concatenated with samples, such as a
    class token, is repeated for each of them, and one that was repeated is repeated as often as is necessary now.

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

defvar Mct_WidthOptions = [
  Option<"weightBits", "weights", "unsigned", /*default=*/"0",
         "Width in bits of every quantized weight for which the target offers it; 0: the width that the target prefers">,
  Option<"activationBits", "activations", "unsigned", /*default=*/"0",
         "Width in bits of every quantized result for which the target offers it; 0: the width that the target prefers">,
  ListOption<"keepFloat", "keep-float", "std::string",
             "Patterns such as `head*` of the names of operators that stay float, with their weights">,
];

def InsertImportedPointsPass : Pass<"mct-insert-imported-points", "::mlir::ModuleOp"> {
  let summary = "Insert the points of a network that is quantized already where its importer cut it";
  let description = [{
    An importer of a quantized network gives its converter the float network, cut at every point: the operand of a point
    is a result of the function, and its result is an argument. A converter cannot fold or move points that way.
    Quantized constants are arguments, too. Attributes `tpc.imported` describe them:

    * for the argument of a point: `point`, the key that the result has as its `tpc.imported`.
    * for a constant: `codes`, signless integers, or `values`, f32 numbers that the point quantizes; `axes`: those of
      the channels.
    * for both: `scale` and `zero_point`, arrays as in the file (one number, or one for each channel; zero points are in
      the range of the codes), `bits`, `is_signed`, and `rounding` if it is not `"half_even"`; or else `parameters`, a
      quantizer.

    Arguments and results become `tpc.quantize` ops with these parameters. Their selection is `imported`: no pass
    estimates them again. A code represents scale * (code - zero point), which is a level of the point. A constant of
    more than 23 bits, such as a bias, has no point; neither has one without parameters.

    Constants are inserted before the ops that read them, after the reshapes, transpositions and slices that the
    converter inserted in between, which are evaluated; parameters of channels are adapted. A point moves before the
    reshapes and transpositions of its operand that have no other users. Points of activations have the names of the
    values that they quantize, those of weights have the name of the layer and `kernel_attr`, `bias_attr` or `pos_attr`.

    Tools remove a ReLU before an unsigned quantizer, which clips as well. It is restored, as a `tosa.clamp` whose name
    ends in `/relu`, before each such point of a value that may be negative, so that the network stays the same if it
    gets other points; with the bound 6 if the largest code represents 6.

    Fails for a record that is malformed or does not fit the type, for codes outside their bits, for points without a
    result and results without a point, and for points that depend on themselves. A warning counts codes that f32 cannot
    hold.

    Before:
    ```mlir
    func.func @main(%arg0: tensor<1x4xf32>, %arg1: tensor<1x4xf32> {tpc.imported = {point = "p", scale = array<f64: 0.5>, zero_point = array<i64: 3>, bits = 8 : i64, is_signed = true}}) -> (tensor<1x4xf32>, tensor<1x4xf32> {tpc.imported = "p"}) {
      %0 = tosa.exp %arg0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
      %1 = tosa.tanh %arg1 : (tensor<1x4xf32>) -> tensor<1x4xf32>
      return %1, %0 : tensor<1x4xf32>, tensor<1x4xf32>
    }
    ```

    After:
    ```mlir
    func.func @main(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
      %0 = tosa.exp %arg0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
      %1 = tpc.quantize %0 as "exp" activation parameters(#tpc.uniform<scale = [5.000000e-01], zero_point = [131], bits = 8>) selection(#tpc.selection<error_method = imported>) : tensor<1x4xf32>
      %2 = tosa.tanh %1 : (tensor<1x4xf32>) -> tensor<1x4xf32>
      return %2 : tensor<1x4xf32>
    }
    ```
  }];
  let options = [Mct_FunctionOption];
  let dependentDialects = ["::mlir::tosa::TosaDialect", "::mct::tpc::TpcDialect"];
}

def InsertQuantizersPass : Pass<"mct-insert-quantizers", "::mlir::ModuleOp"> {
  let summary = "Insert a quantization point on every tensor that the target quantizes";
  let description = [{
    Matches each op, or chain of ops, with the operators of the attached target (`tpc-attach-target`); fuses the chains
    that the target runs as one, the longest that match; chooses the configuration of each result and weight among those
    that its users can read; and inserts a `tpc.quantize` after every result that is to be quantized and before every
    weight. There is none inside a fused chain, unless the fusing pattern has a config of its own, and none after an op
    that only moves or selects the values of a point. Scores that are masked (by infinities, or by numbers of magnitude
    1000 and more that only a softmax reads) have none after the mask, which has no code on their grid; they were
    quantized before. A target with `insert_preserving_quantizers` also has a point after each op that only moves or
    selects; its config is `preserving`, and it takes the parameters of the one before (`mct-select-parameters`). An
    average pool or a resize that is `preserving` has one for every target: means have to be rounded to the grid of the
    operand. An op that is `preserving` but whose result has values of several operands, or numbers other than 0 that
    are not its operand's, such as the larger one of a value and a constant, has a point of its own.
    Constants of element-wise ops, concatenations and gathers are weights named `pos_attr`. Arguments of the function
    get a point with the platform's default. A point without parameters computes the identity. `tpc-explain` explains
    why a tensor has a point or has none. A weight that the target quantizes but that is not an f32 constant stays
    float, with a warning, and so does a convolution or matrix product that reads a value without a point. A network that is quantized already is an error that names the first op that shows it: a
    layer of integers of at most 16 bits, a table, or a conversion to such integers and back.

    The ops after the last layers of a detector that decode positions of objects (see `mct-cut-decoding`) stay float,
    and their operands are quantized: offsets and scores need few bits, coordinates do not. A remark names the layers.
    This is the rule `?decoding float` before all others; with `decode=quantize` these ops are quantized like any other.

    A network whose points were imported (`mct-insert-imported-points`) keeps them with `keep-points`, and gets the
    missing ones. A point of the file where the target has one takes its config, and keeps its parameters; if the target
    does not support these, by their bits, method, sign, channels or fixed grid, there is a warning, and they are chosen
    again. A point where the target has none stays, with a remark, unless the values are on its levels already. An
    operator with alternatives takes the first one that supports the parameters of the file. If the file has only the
    point after a ReLU, there is none before it. With `keep-points=false` the points of the file are removed; the
    weights keep the values of their codes.

    `overrides` names a text file of rules that take precedence over the target, one per line:

        # which ops         what they do
        name "conv*"        weights=4
        op   tosa.add       activation=16
        set  Conv           weights.kernel_attr=2
        name conv2d_3       float
        pattern [#tpc.op<"tosa.conv2d">, #tpc.subgraph<"softmax">] activation=8
        decoding            activation=16
        all                 weights=4

    A rule selects by point name, op name or operator set, all of them as globs, or by patterns as a `tpc.binding` has
    them, regardless of the target's sets: a convolution that is a dense layer is not `#tpc.op<"tosa.conv2d">`, but
    `#tpc.subgraph<"fully_connected">`. `activation` is the result, `weights` every quantized weight, `weights.NAME` one
    of them; each takes a width in bits or `float`, and `float` alone is both. `activation-method=M`, `weights-method=M`
    and `weights-method.NAME=M` request a method (`power_of_two`, `symmetric`, `uniform`, `lut_pot_quantizer`,
    `lut_sym_quantizer`) that the target offers, or for a special case of one: powers of two instead of any threshold,
    symmetric grids instead of those with a zero point. If several rules apply to a tensor, the last one wins. Widths
    are those that the target offers and the users can read; requesting another one, and a rule that selects nothing,
    are errors. `decoding` selects the ops that decode the positions of objects, and the arguments that only they read.
    A rule that may select nothing begins with `?`: `?name "head*" float`. `all` selects every operator and input and
    changes those tensors for which the width is offered; it is an error if none of them can have it. The options
    `weights`, `activations` and `keep-float` are such rules (`all weights=4`, `all activation=8`, `name "head*"
    float`), which come before those of the file. The function keeps the rules, as `tpc.overrides`, for reports.

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
  let options = Mct_WidthOptions # [
    Mct_OverridesOption,
    Mct_KeepPointsOption,
    Mct_DecodingOption,
    Option<"function", "function", "std::string", /*default=*/"\"*\"",
           "Function that gets points; `*`: all; empty: `main`, or the only public one">,
  ];
  let dependentDialects = ["::mct::tpc::TpcDialect"];
}

def ChooseCandidatesPass : Pass<"mct-choose-candidates", "::mlir::ModuleOp"> {
  let summary = "Change the alternatives of operators that have points";
  let description = [{
    If the target offers several `#tpc.op_quant_config` for an operator, `mct-insert-quantizers` chooses one and lists
    all that fit on its points (`#tpc.alternatives`). This pass chooses another one, for result and weights together, in
    a module at any stage.

    * `choices`: `NAME=INDEX` with the name of the operator and an index into the alternatives of its points; the last
      of several for one operator wins.
    * `overrides`: rules as for `mct-insert-quantizers`. They select the alternative that has the requested widths and
      differs least from the present one; `choices` take precedence. Points stay: `float` is an error for a tensor with
      a point, and so is a width that is not among the alternatives.

    If a tensor is quantized in another way afterwards, the parameters of its point are dropped. Corrections that were
    measured with the previous quantizer are undone: those of the operator's own kernel, and those of the following
    layers that were measured in the quantized network (`bias_offset` is removed from the bias). Undoing a second-moment
    correction also drops parameters of that kernel, and statistics and parameters after it. All other points stay
    unchanged, so that `mct-select-parameters`, `mct-select-weight-parameters` and `mct-correct` only add what is
    missing; the result is that of a run with this choice from the start.

    Source: MCT sets the final bit widths of its mixed-precision search in this way (`set_bit_widths`).

    Before:
    ```mlir
    %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] config(#kernel8)
           candidates(#tpc.alternatives<of = "conv", configs = [#kernel8, #kernel4], chosen = 0>)
           parameters(#tpc.symmetric<threshold = [0.5, 1.0], bits = 8>) : tensor<2x1x1x2xf32>
    %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {…} : (…) -> tensor<1x4x4x2xf32>
    ```

    After:
    ```mlir
    %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] config(#kernel4)
           candidates(#tpc.alternatives<of = "conv", configs = [#kernel8, #kernel4], chosen = 1>) : tensor<2x1x1x2xf32>
    %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {…} : (…) -> tensor<1x4x4x2xf32>
    ```
  }];
  let options = [
    ListOption<"choices", "choices", "std::string", "Alternatives to take: `NAME=INDEX`, …">,
    Mct_OverridesOption,
    Mct_FunctionOption,
  ];
  let dependentDialects = ["::mct::tpc::TpcDialect", "::mlir::tosa::TosaDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def BoundReluToPowerOfTwoPass : Pass<"mct-bound-relu-to-power-of-two", "::mlir::ModuleOp"> {
  let summary = "Give bounded ReLUs the bound 8, so that a power-of-two threshold fits them";
  let description = [{
    A ReLU whose upper bound m is not a power of two, such as ReLU6, wastes part of every power-of-two grid. Between two
    layers it gets the bound 8: kernel and bias of the layer before it are multiplied by 8 / m, the kernel of the layer
    after it by m / 8. Reshapes, transposes, padding with zeros, average and max pooling may be in between, and every
    value has one use. Exact in real numbers; in f32 the result differs by rounding (<= 1e-5 relative).

    The values in between get the suffix `_scaled` to their names.

    Run it before `mct-insert-quantizers`; a target treats a ReLU6 with another bound as a HardTanh. `remarks` lists the
    forms that stay unchanged.

    Source: MCT `ReLUBoundToPowerOfTwo` (`relu_bound_to_power_of_2`), which handles convolutions and dense layers
    directly next to the ReLU and needs a bias.

    Before:
    ```mlir
    %0 = tosa.conv2d %arg0, %kernel, %bias, %zero, %zero {…} : (…) -> tensor<1x4x4x1xf32>
    %1 = tosa.clamp %0 {max_val = 6.0 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
    %2 = tosa.conv2d %1, %kernel2, %bias2, %zero, %zero {…} : (…) -> tensor<1x4x4x1xf32>
    ```

    After:
    ```mlir
    %0 = tosa.conv2d %arg0, %kernel_times_4_3, %bias_times_4_3, %zero, %zero {…} : (…) -> tensor<1x4x4x1xf32>
    %1 = tosa.clamp %0 {max_val = 8.0 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
    %2 = tosa.conv2d %1, %kernel2_times_3_4, %bias2, %zero, %zero {…} : (…) -> tensor<1x4x4x1xf32>
    ```
  }];
  let options = [Mct_RemarksOption];
  let dependentDialects = ["::mct::tpc::TpcDialect", "::mlir::tosa::TosaDialect"];
}

def EqualizeChannelsPass : Pass<"mct-equalize-channels", "::mlir::ModuleOp"> {
  let summary = "Equalize the ranges of the channels between two layers";
  let description = [{
    If one ReLU is between two layers, the channels with a standard deviation above 1 are scaled down to 1 after the
    ReLU, s = min(1, 1 / sd): kernel and bias of the first layer are multiplied by s along the output channels, the
    kernel of the second is divided by s along its input channels. Points, reshapes, transposes, padding with zeros,
    average and max pooling may be in between; every value has one use. Exact in real numbers; in f32 the result differs
    by rounding (<= 1e-5 relative).

    The deviation is that of a rectified normal distribution with the mean and deviation that a folded batch norm left
    on the bias (`tpc.bias`); if there is none, it comes from calibration after the ReLU (`mct-calibrate` with
    `channel-statistics=true`).

    A pair is equalized only if the estimated error of both kernels decreases: the sum over the weights of (quantized -
    float)^2 times the mean square of the input channel, that of the first layer as it affects the output of the second,
    with the configs of the weight points and new parameters. `only-if-better=false` skips this. Mean squares come from
    calibration, or, for the second layer, from the batch norm; the first layer needs none if it has a grid for each
    output channel, because then its error does not change.

    Statistics and parameters of the points between the layers, and parameters of both kernels, are dropped: calibrate
    and select again. Values between the layers change and get the suffix `_scaled` to their names. A ReLU with an upper
    bound is skipped, because a clamp has one bound for all channels; `per-channel-bounds` makes it a ReLU and a
    `tosa.minimum` with a constant, for targets that compute both as one.

    Run it after `mct-insert-quantizers`. `remarks` names each pair, with the error before and after, and each layer
    before a ReLU that is skipped.

    Source: MCT `ScaleEqualization` (`activation_channel_equalization`), which only uses batch norms that it folded
    itself, and does not check whether equalization helps.

    Before:
    ```mlir
    %b = tpc.bias values(…) mean(dense<0.0> : tensor<2xf32>) deviation(dense<[4.0, 0.5]> : tensor<2xf32>) : tensor<2xf32>
    %0 = tosa.conv2d %arg0, %kernel, %b, %zero, %zero {…} : (…) -> tensor<1x4x4x2xf32>
    %1 = tosa.clamp %0 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (…) -> tensor<1x4x4x2xf32>
    %2 = tpc.quantize %1 as "relu" activation : tensor<1x4x4x2xf32>
    %3 = tosa.conv2d %2, %kernel2, %bias2, %zero, %zero {…} : (…) -> tensor<1x4x4x1xf32>
    ```

    After:
    ```mlir
    %b = tpc.bias values(…) mean(dense<0.0> : tensor<2xf32>) deviation(dense<[1.712859, 0.5]> : tensor<2xf32>) : tensor<2xf32>
    %0 = tosa.conv2d %arg0, %kernel_times_s, %b, %zero, %zero {…} : (…) -> tensor<1x4x4x2xf32>
    %1 = tosa.clamp %0 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (…) -> tensor<1x4x4x2xf32>
    %2 = tpc.quantize %1 as "relu_scaled" activation : tensor<1x4x4x2xf32>
    %3 = tosa.conv2d %2, %kernel2_over_s, %bias2, %zero, %zero {…} : (…) -> tensor<1x4x4x1xf32>
    ```
  }];
  let options = [
    Mct_RemarksOption,
    Option<"onlyIfBetter", "only-if-better", "bool", /*default=*/"true",
           "Skip a pair unless the estimated error of its kernels decreases">,
    Option<"perChannelBounds", "per-channel-bounds", "bool", /*default=*/"false",
           "Also equalize across bounded ReLUs: the bound becomes a minimum with a constant per channel">,
  ];
  let dependentDialects = ["::mct::tpc::TpcDialect", "::mlir::tosa::TosaDialect"];
}

def RecordPreprocessingPass : Pass<"mct-record-preprocessing", "::mlir::ModuleOp"> {
  let summary = "Record in the module how samples are preprocessed for the network";
  let description = [{
    The record `tpc.preprocessing` of an argument describes how samples are preprocessed: reorder their axes, multiply
    by `scale`, add `offset`. Passes that run the network, `mct-run` and the Python package then do so; the record stays
    in modules derived from this one. No value of the network changes.

    `scale` and `offset` are one number, or one for each element of the argument's dimension `axis`. After the leading
    one, dimension i of the argument is dimension `permutation[i]` of a sample: `2,0,1` reads images with the channels
    last into a network that has them first. An existing record is replaced; without any option it is removed.

    The options `input-scale` and `input-offset` of passes and of `mct-run` replace recorded scales and offsets. A file
    with the integers of an integer network is read as it is.

    Fails for an input that does not exist, and for a record that does not fit its argument.

    Before:
    ```mlir
    func.func @main(%arg0: tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32> {
      %0 = tosa.abs %arg0 : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
    ```

    After:
    ```mlir
    func.func @main(%arg0: tensor<1x3x2x2xf32> {tpc.preprocessing = {axis = 1 : i64, offset = array<f64: -1.000000e+00>,
        permutation = array<i64: 2, 0, 1>, scale = array<f64: 5.000000e-01, 2.500000e-01, 1.250000e-01>}}) -> tensor<1x3x2x2xf32> {
      %0 = tosa.abs %arg0 : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
    ```
  }];
  let options = [
    Option<"input", "input", "std::string", /*default=*/"",
           "Name or index of the argument; empty: every argument of real numbers">,
    ListOption<"scale", "scale", "double", "Factor from stored value to network input, one number or one for each "
                                           "channel">,
    ListOption<"offset", "offset", "double", "Number added after the factor, in the same form">,
    Option<"axis", "axis", "int64_t", /*default=*/"-1", "Dimension of the channels; the leading one is 0; -1: the last">,
    ListOption<"permutation", "permutation", "int64_t",
               "For each dimension after the leading one, the corresponding dimension of a sample">,
    Mct_FunctionOption,
  ];
}

def ShiftSoftmaxPass : Pass<"mct-shift-softmax", "::mlir::ModuleOp"> {
  let summary = "Center the range of the operand of a softmax";
  let description = [{
    A softmax does not change when a number is added to all of its inputs. -(min + max) / 2 of the calibrated range is
    added to the bias of the layer before it, so that a symmetric threshold fits both ends. Points, reshapes and
    transposes may be in between; the softmax is the only user of every value. Exact in real numbers; in f32 the result
    differs by rounding (<= 1e-5 relative).

    Statistics of the points in between are shifted (the histogram as far as its bins allow), their parameters are
    dropped: run `mct-select-parameters` afterwards. The values in between get the suffix `_shifted` to their names.

    Source: MCT `softmax_shift`, which keeps the threshold that was chosen before, and thus gains nothing.

    Before:
    ```mlir
    %0 = tosa.matmul %arg0, %kernel, %zero, %zero : (…) -> tensor<1x1x2xf32>
    %1 = tosa.add %0, %bias : (tensor<1x1x2xf32>, tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
    %2 = tpc.quantize %1 as "dense" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = -1.0, max = 5.0, …>)
           parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x1x2xf32>
    ```

    After:
    ```mlir
    %0 = tosa.matmul %arg0, %kernel, %zero, %zero : (…) -> tensor<1x1x2xf32>
    %1 = tosa.add %0, %bias_minus_2 : (tensor<1x1x2xf32>, tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
    %2 = tpc.quantize %1 as "dense_shifted" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = -3.0, max = 3.0, …>)
           : tensor<1x1x2xf32>
    ```
  }];
  let options = [Mct_RemarksOption];
  let dependentDialects = ["::mct::tpc::TpcDialect", "::mlir::tosa::TosaDialect"];
}

def EqualizeResidualsPass : Pass<"mct-equalize-residuals", "::mlir::ModuleOp"> {
  let summary = "Scale the outlier channels of residual sums before a layer norm";
  let description = [{
    Transformers that normalize after the residual sum (BERT) have a few channels that are up to a hundred times larger
    than the others. With one grid for all channels, the others have few codes, and the layer norm, which divides by the
    deviation, amplifies their errors. If the result of a layer is added to another value, only a layer norm over the
    last axis uses the sum, and the largest channel is more than 4 times the median of the channels' largest magnitudes,
    each channel gets a scale, the power of two of at least 1 that brings it below the power of two above the median:

    * kernel and bias of the layer are divided by the scales, along its output channels;
    * the other operand is multiplied by their inverses, followed by a quantization point;
    * after the point of the sum, values are multiplied by the scales again, without a point: the layer norm absorbs
      them.

    The producer of the other operand is usually a layer norm itself. If its only users are layers and such products,
    its gain and offset are divided by scales, and the kernels of the layers are multiplied by them. The scales move its
    channels towards the power of two above their median, in bits, by a fraction (SmoothQuant's migration strength: 0,
    0.25, 0.5, 0.75 or 1) that is chosen for the least noise in its users: the expected squared errors of each user's
    results by uniform rounding of the values and of the kernels, per channel or per tensor as they are quantized,
    relative to the squares of the results.

    All factors are powers of two, so that the float network computes the same bits. Points whose values change get the
    suffix `_scaled` and lose statistics and parameters; `tpc.overrides` of the function gets a rule that keeps the
    product float.

    Run it after `mct-insert-quantizers` and `mct-calibrate` with `channel-statistics=true`. `measured-by` is run if
    there is such a sum and its statistics are missing: networks without one are not calibrated for it. A remark names
    each sum; `remarks` explains why others are skipped.

    Sources: SmoothQuant (Xiao et al., 2022) for layer norms before layers; Bondarenko et al., "Understanding and
    Overcoming the Challenges of Efficient Transformer Quantization", 2021, for the location of the outliers.

    Before:
    ```mlir
    %0 = tosa.matmul %x, %kernel, %zero, %zero : (…) -> tensor<1x2x4xf32>
    %1 = tosa.add %0, %bias : (…) -> tensor<1x2x4xf32>
    %2 = tpc.quantize %1 as "dense" activation statistics(…) : tensor<1x2x4xf32>
    %3 = tosa.add %2, %x : (…) -> tensor<1x2x4xf32>
    %4 = tpc.quantize %3 as "sum" activation statistics(…) : tensor<1x2x4xf32>
    %5 = tosa.reduce_sum %4 {axis = 2 : i32} : (tensor<1x2x4xf32>) -> tensor<1x2x1xf32>
    ```

    After:
    ```mlir
    %0 = tosa.matmul %x, %kernel_over_scales, %zero, %zero : (…) -> tensor<1x2x4xf32>
    %1 = tosa.add %0, %bias_over_scales : (…) -> tensor<1x2x4xf32>
    %2 = tpc.quantize %1 as "dense_scaled" activation : tensor<1x2x4xf32>
    %3 = tosa.mul %x, %inverse_scales, %shift : (…) -> tensor<1x2x4xf32>
    %4 = tpc.quantize %3 as "sum_branch" activation : tensor<1x2x4xf32>
    %5 = tosa.add %2, %4 : (…) -> tensor<1x2x4xf32>
    %6 = tpc.quantize %5 as "sum_scaled" activation : tensor<1x2x4xf32>
    %7 = tosa.mul %6, %scales, %shift : (…) -> tensor<1x2x4xf32>
    %8 = tosa.reduce_sum %7 {axis = 2 : i32} : (tensor<1x2x4xf32>) -> tensor<1x2x1xf32>
    ```
  }];
  let options = [
    ListOption<"measuredBy", "measured-by", "::mlir::OpPassManager",
               "Passes that measure the channels if there is something to equalize: builtin.module(PASSES)">,
    Mct_RemarksOption,
  ];
  let dependentDialects = ["::mct::tpc::TpcDialect", "::mlir::tosa::TosaDialect"];
}

def SplitSharedGridsPass : Pass<"mct-split-shared-grids", "::mlir::ModuleOp"> {
  let summary = "Remove common grids from concatenations and sliced layers of very different ranges";
  let description = [{
    Boxes in pixels and scores from 0 to 1 in one tensor share the grid of its point, on which the scores have few
    codes, or one. If the largest calibrated magnitudes of the parts of a concatenation differ by a factor of more than
    8, the point after it is removed, as are points that only repeat it after ops that move values: each part keeps the
    grid of its own point, and the concatenation no longer has a common grid. A remark says so, and `tpc.overrides` of
    the function gets a rule for it. Slices that separate the parts again read them directly. Runs after `mct-calibrate`
    and before `mct-select-parameters`; points that have parameters are skipped.

    Ops that compute with the whole tensor need the grid and keep their operand; results and other points then get the
    values from before it. `remarks` reports the common grids that stay, with reasons.

    A convolution or a matrix product with a constant kernel whose output channels are separated again by slices,
    possibly after reshapes, transpositions and element-wise functions such as a sigmoid, becomes one layer for each
    group of channels if the ranges of the groups differ by a factor of more than 8. Each computes the same products;
    the names of layers and points get the suffix `_channels_` with the first and the last channel. `completed-by` gives
    the points of such layers statistics and parameters of weights on a copy of the module, from which the ranges are
    known; without it no layer is split. It is run only if there is such a layer. A layer that was corrected, or whose
    result has other users, stays unchanged.

    If the only user of such a layer is a part that decodes positions in float (`mct-cut-decoding`), it stays one layer,
    which costs less: kernel and bias of a group are multiplied by a power of two, and a product after the point, in the
    decoding part, divides by it. Layer and point get the suffix `_scaled`. The powers are chosen from the ranges of the
    groups such that one grid for all of them loses the fewest bits, and less than one of each group. If that is not
    possible, or if a constant would be rounded, the layer is split.

    Before:
    ```mlir
    %boxes = tpc.quantize %arg0 as "boxes" activation
               statistics(#tpc.statistics<count = 4, zeros = 0, min = 3.0, max = 600.0>) : tensor<1x4xf32>
    %scores = tpc.quantize %arg1 as "scores" activation
                statistics(#tpc.statistics<count = 2, zeros = 0, min = 0.0, max = 1.0>) : tensor<1x2xf32>
    %0 = tosa.concat %boxes, %scores {axis = 1 : i32} : (tensor<1x4xf32>, tensor<1x2xf32>) -> tensor<1x6xf32>
    %head = tpc.quantize %0 as "head" activation
              statistics(#tpc.statistics<count = 6, zeros = 0, min = 0.0, max = 600.0>) : tensor<1x6xf32>
    return %head : tensor<1x6xf32>
    ```

    After:
    ```mlir
    %boxes = tpc.quantize %arg0 as "boxes" activation
               statistics(#tpc.statistics<count = 4, zeros = 0, min = 3.0, max = 600.0>) : tensor<1x4xf32>
    %scores = tpc.quantize %arg1 as "scores" activation
                statistics(#tpc.statistics<count = 2, zeros = 0, min = 0.0, max = 1.0>) : tensor<1x2xf32>
    %0 = tosa.concat %boxes, %scores {axis = 1 : i32} : (tensor<1x4xf32>, tensor<1x2xf32>) -> tensor<1x6xf32>
    return %0 : tensor<1x6xf32>
    ```
  }];
  let options = [
    ListOption<"completedBy", "completed-by", "::mlir::OpPassManager",
               "Passes that give split layers statistics and parameters of weights: builtin.module(PASSES)">,
    Mct_RemarksOption,
  ];
  let dependentDialects = ["::mct::tpc::TpcDialect", "::mlir::tosa::TosaDialect"];
}

include "mct/Transforms/CheckpointPass.td"
include "mct/Transforms/ScalingPasses.td"
include "mct/Transforms/SelectionPasses.td"

#endif // MCT_TRANSFORMS_PASSES_TD
