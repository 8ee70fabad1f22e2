// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_CONVERSION_PASSES_TD
#define MCT_CONVERSION_PASSES_TD

include "mct/Support/Options.td"

def RaiseLinalgPass : Pass<"mct-raise-linalg", "::mlir::func::FuncOp"> {
  let summary = "Convert linalg on tensors to TOSA";
  let description = [{
    Rewrites ops of `linalg`, `tensor` and `arith` as TOSA ops that compute the same, recognized by their semantics and
    not by their names:

    * matrix products and convolutions by `linalg::isaContractionOpInterface` and `linalg::isaConvolutionOpInterface`,
      in any order of their axes, with one or two image axes, including grouped and depthwise ones. Padding by zeros
      becomes the padding of the convolution, a broadcast bias its bias; a convolution of elements with gaps between
      them becomes a transposed one;
    * maxima and sums of windows become pools; a sum divided by the size of its window becomes an average pool;
    * bodies of all other ops, with any maps that permute and broadcast axes, or read them with strides or in reverse:
      arithmetic, comparisons, selections (those of the larger or the smaller number are a maximum, a minimum or a
      clamp, which propagates NaN), casts, indices, and lookups of rows;
    * reductions by sum, product, maximum, minimum, and, or, and the first index of an extremum, however its body is
      written;
    * reshapes, slices and insertions with any strides, concatenations, padding, softmax, constants, and ops of scalars
      that have tensors as operands. Slices keep the whole of a dynamic batch; computed sizes that are constant become
      static.

    TOSA computes in f32 and i32: values of f64 between two ops are computed in f32, those of i64 and index in i32. Ops
    of TOSA on f64, which importers write for layer norms, are computed in f32, too. Convolutions of TOSA have channels
    last; `mct-move-transposes` then removes transpositions.

    Among the ops that replace one op, the last one that computes something has its name; the others have names that
    include their function (`name/reshape`). Other ops stay as they are, with a warning for a layer, otherwise with a
    remark if requested. A `cf.assert` that always holds is removed, and so is one that checks the index of a lookup;
    any other one is an error, since an assertion cannot be compiled into a network. A function on buffers (`memref`) is
    an error, too.

    Before:
    ```mlir
    %0 = linalg.generic {indexing_maps = […], iterator_types = ["parallel", "parallel"]}
           ins(%x : tensor<1x3xf32>) outs(%e : tensor<1x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %c = arith.cmpf ugt, %in, %zero : f32
      %s = arith.select %c, %in, %zero : f32
      linalg.yield %s : f32
    } -> tensor<1x3xf32>
    ```

    After:
    ```mlir
    %0 = tosa.clamp %x {max_val = 3.40282347E+38 : f32, min_val = 0.000000e+00 : f32} : (tensor<1x3xf32>) -> tensor<1x3xf32>
    ```
  }];
  let options = [Mct_RemarksOption];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
    "::mlir::tosa::TosaDialect"
  ];
}

def CutDecodingPass : Pass<"mct-cut-decoding", "::mlir::ModuleOp"> {
  let summary = "Move the decoding of object positions to a function of its own";
  let description = [{
    The network ends with the results of its last layers, or with their points if it has some. The ops that decode them
    become a second function, `decode`, of these results, which a camera, or a program on the host, runs after the
    accelerator. It returns the results that the network had; other results of the network pass through it.

    The decoding part of a network follows its last layers (ops with a constant kernel, each with its bias and the clamp
    after it); no op in it has weights, and one of its ops

    * adds, subtracts or multiplies with anchors, a grid of cells, or strides: a constant of at least 16 elements and
      three values that repeat at least four times each, on average, and that vary along other axes than the channels of
      the layer;
    * computes the mean of bins: a product with the constant 0, 1, …, n - 1, where n is at least 4;
    * finds peaks: compares a value with its own max pool of stride 1.

    Everything after the last layers is then part of it, including the softmax or sigmoid of the scores.

    A network without such a part stays as it is, with a warning. Fails if the function is not called `main` and no
    option names it: the two functions could not be distinguished.

    Source: generalized focal loss (Li et al. 2020) for the bins, CenterNet (Zhou et al. 2019) for the peaks.

    Before:
    ```mlir
    func.func @main(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x2xf32> {
      %0 = tosa.conv2d %arg0, %kernel, %bias, %zero, %zero {…} : (…) -> tensor<1x4x4x2xf32>
      %1 = tosa.add %0, %cells : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
      return %1 : tensor<1x4x4x2xf32>
    }
    ```

    After:
    ```mlir
    func.func @main(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x2xf32> {
      %0 = tosa.conv2d %arg0, %kernel, %bias, %zero, %zero {…} : (…) -> tensor<1x4x4x2xf32>
      return %0 : tensor<1x4x4x2xf32>
    }
    func.func @decode(%arg0: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
      %0 = tosa.add %arg0, %cells : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
      return %0 : tensor<1x4x4x2xf32>
    }
    ```
  }];
  let options = [Mct_FunctionOption];
}

def LowerToLinalgPass : Pass<"mct-lower-to-linalg", "::mlir::func::FuncOp"> {
  let summary = "Convert TOSA to linalg named ops";
  let description = [{
    For compilers that start from linalg on tensors. The conversions are those of MLIR: layers become named ops,
    everything else becomes `linalg.generic`, `tensor` and `arith`; a rescale becomes its multiplication and shift in
    i64, so that an integer network computes the same integers.

    Values that have a name in the records of the function (`tpc.points` of `mct-lower-to-integer`) keep it, on the last
    of the ops that replace them; records of values that no longer exist are dropped.

    Before:
    ```mlir
    %0 = tosa.conv2d %x, %kernel, %bias, %zero, %zero {acc_type = i32, …}
           : (tensor<1x2x2x1xi8>, tensor<1x1x1x1xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x2x2x1xi32>
    ```

    After:
    ```mlir
    %2 = linalg.conv_2d_nhwc_fhwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
           ins(%x, %kernel : tensor<1x2x2x1xi8>, tensor<1x1x1x1xi8>) outs(%1 : tensor<1x2x2x1xi32>) -> tensor<1x2x2x1xi32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::tosa::TosaDialect"];
}

def LowerToQuantPass : Pass<"mct-lower-to-quant", "::mlir::ModuleOp"> {
  let summary = "Convert points to casts of the quant dialect";
  let description = [{
    For compilers that use `!quant.uniform` types and do not know our points. In every function:

    * A point with parameters becomes `quant.qcast` to the type of its grid and `quant.dcast` back: per tensor, or per
      axis if its channels run over one axis (others of size 1 do not count: a depthwise kernel [KH, KW, C, 1]). The
      storage type has the width of the point, with the prefix `u` if it is unsigned.
    * A point without parameters disappears: its values are float.
    * `tpc.bias` becomes `tosa.const`; tags `tpc.…` on ops, and the target with its bindings, are removed. If no point
      remains (see below), the module does not need our dialect.

    A point for which upstream has no type stays a `tpc.quantize`, with a remark if requested: levels that are not
    evenly spaced (lookup tables), channels over several axes, and a step that f32 cannot represent.

    The type does not define the rounding of halves; its user rounds. Ops between two points, and biases, stay float:
    `mct-lower-to-integer` creates an integer network.

    Folding treats a `quant.qcast` followed by its `quant.dcast` as the identity and removes both (`--canonicalize`,
    `--lower-quant-ops` and all other passes that fold): run the pass that uses the casts first.

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

def SimulateIntegersPass : Pass<"mct-simulate-integers", "::mlir::ModuleOp"> {
  let summary = "Give points and biases the values that they have in an integer network";
  let description = [{
    Runs after all passes that choose parameters and before `mct-lower-to-integer`; the result is the network whose
    accuracy an integer device has. All functions of the module are changed.

    * Activation points round halves up, as `tosa.rescale` does (`rounding=half-even`: to the even code, for targets
      that do so). Weights keep their codes: they are rounded once, halves to the even code.
    * `rounding=double` is for comparisons with kernels that round a product to 31 bits, shift it and round again,
      halves away from zero: those of LiteRT for microcontrollers, and the integers of `tosa-converter-for-tflite`.
      LiteRT's reference kernels do so, except for fully connected layers: `double-convolutions`. Points round halves
      up, and after layers, sums and products of codes, means, average pools and leaky ReLUs whose result a point
      quantizes, and before points that quantize codes of another grid, a fraction of a step that results in the same
      codes is added to values or, if these are negative, subtracted. The resulting network is only for execution: this
      pass, `mct-lower-to-integer` and the exports remove those fractions again. With any rounding, a fraction of a step
      is added to means on the grid of their operands if its step is not a power of two, because f32 does not represent
      those that lie halfway between two codes.
    * A bias b of a layer (as in `mct-correct-bias`) whose input and kernel are quantized on grids of the steps dx and
      dw (a table of 8-bit entries: a 128th of its threshold) becomes round(b / (dx * dw)) * dx * dw for every output
      channel, computed in f64. A bias that two layers share is copied; `corrections` of the layer are updated. A bias
      that does not fit in 32 bits stays as it is, with a warning.
    * `table-points`: if a layer, or another op that is computed in integers, has a fused activation that is more than a
      clamp (sigmoid, tanh, swish, hard-swish, GELU, any chain of element-wise ops of one value and numbers), an integer
      network needs 8-bit codes in between, as indices of a table. A point is inserted there, named after the op that
      produces the value, of the same kind as the point after the activation, unless that op only moves values of a
      point, whose grid they keep. Sums along axes times a positive number are means, which need none. Its parameters
      are those with the least mean squared error after the outer quantizer. The error is taken over inputs of all
      magnitudes up to 2^15, 256 in each octave; their weights come from the statistics of the outer point, whose
      histogram counts the results: the count of a bin is spread evenly over the inputs whose results it, or the nearest
      bin with such inputs, holds. So a threshold does not include inputs that result in the same code, or were not
      observed. Candidates are powers of two, or 8 thresholds in each octave; among equal errors the finest one is
      taken. If it increases the error of the outer point by more than 12 dB, there is a warning.
    * `rounding=half-even` is that of ONNX Runtime, whose kernels add codes to codes: a constant of several numbers that
      is added to a value on a grid, if all users of the sum are points of at most 8 bits, gets a point of 8 bits
      (`pos_attr`) of the same kind as these points, with the least squared error. The integers of TOSA need none: they
      add constants in 32 bits.
    * The next value of a state (`mct-lift-variables`) gets a point with the parameters with which the state is read in
      the next run, if it is on another grid: the codes of the integer network are passed from run to run as they are.

    The attribute `tpc.integer_rounding` of each function records the rounding, and `mct-lower-to-integer` follows it.

    With `remarks`, there is a remark for each layer whose sums may reach 2^24 in integers (|input| * |kernel| + |bias|
    + half a step of the output, all as codes): f32 adds exactly only below that, and with steps that are powers of two
    nothing else is ever rounded.

    Before:
    ```mlir
    %x = tpc.quantize %arg0 as "in" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8>) : tensor<1x1x1x1xf32>
    %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x1x1x1xf32>
    %0 = tosa.conv2d %x, %w, %bias, %zero, %zero {…} : (…) -> tensor<1x1x1x1xf32>
    %1 = tosa.sigmoid %0 : (tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
    %2 = tpc.quantize %1 as "sigmoid" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, is_signed = false>) : tensor<1x1x1x1xf32>
    ```

    After:
    ```mlir
    %x = tpc.quantize %arg0 as "in" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, rounding = half_up>) : tensor<1x1x1x1xf32>
    %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x1x1x1xf32>
    %0 = tosa.conv2d %x, %w, %rounded_bias, %zero, %zero {…} : (…) -> tensor<1x1x1x1xf32>
    %i = tpc.quantize %0 as "conv" activation parameters(#tpc.power_of_two<threshold = [8.0], bits = 8, rounding = half_up>) : tensor<1x1x1x1xf32>
    %1 = tosa.sigmoid %i : (tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
    %2 = tpc.quantize %1 as "sigmoid" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, is_signed = false, rounding = half_up>) : tensor<1x1x1x1xf32>
    ```
  }];
  let options = [
    Option<"rounding", "rounding", "::mct::IntegerRounding", /*default=*/"::mct::IntegerRounding::HalfUp",
           "Rounding of a value halfway between two codes", "::mct::integerRoundingValues()">,
    Option<"tablePoints", "table-points", "bool", /*default=*/"true",
           "Quantize before fused activations that are more than a clamp">,
    Mct_RemarksOption,
  ];
  let dependentDialects = ["::mlir::tosa::TosaDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
                           "::mct::tpc::TpcDialect"];
}

def LowerToIntegerPass : Pass<"mct-lower-to-integer", "::mlir::ModuleOp"> {
  let summary = "Lower a network whose points have parameters to integers";
  let description = [{
    Every activation point with a grid of at most 8 bits (16 with `extensions=int16`) becomes a tensor of integers, and
    the ops between points become TOSA ops on integers that compute the codes of the simulation. With powers of two all
    codes are equal as long as f32 computes the sums of the simulation exactly; run `mct-simulate-integers` before, so
    that both round alike.

    | between the points | becomes |
    |---|---|
    | convolutions, also depthwise and transposed; `tosa.matmul` with a constant kernel (a 1x1 convolution) | the op on i8 with i32 sums, its bias inside, and one `tosa.rescale`, per channel where the kernel has scales per channel |
    | `tosa.matmul` of two points | the same on i8, and one `tosa.rescale` |
    | clamps | limits of the codes, after the rescale; nothing where saturation does it |
    | element-wise expressions of one value and of numbers | one `tosa.table` |
    | sums, differences | both operands on the finer grid (or 19 bits below the coarser one) in i32, and one `tosa.rescale` |
    | products | i32, and one `tosa.rescale`; numbers, one or one for each channel, are part of its factors |
    | sums and products of such, with no point between, also moved or clamped | i32 as far as the largest values allow, and one `tosa.rescale` |
    | maximum, minimum | in i32 on the grid of the result |
    | selections | of codes, by comparisons of codes |
    | ReLU with slopes per channel (`select` of x and slope * x) | both halves in i32, each with its rescale |
    | average pools, sums and means | one `tosa.reduce_sum`, or a depthwise convolution with ones, and one `tosa.rescale`; `tosa.avg_pool2d` where that rounds alike |
    | max pools, reshapes, transposes, slices, concatenations, pads, gathers, nearest resizes, argmax | themselves on the codes |
    | bilinear resizes | on i8, with offsets that are not negative |
    | softmax | float between conversions, the chain of `softmax=integer`, or nothing at the end (`softmax=cut`) |
    | layer norm with one point after it | float between conversions, or the chain of `layer-norm=integer`; with points inside as its parts |

    Factors are multiplier * 2^-shift with 31-bit multipliers, 2^30 for powers of two. Unsigned codes of 8 bits are
    stored minus 128, codes of fewer bits in i8, limited by a clamp.

    If all steps are powers of two, products and sums with numbers for each channel get factors and offsets that result
    in the codes of f32, for every integer that they can read: 0.1 * 5 is 0.5 in f32, and 0.1 is not in f32. If there
    are none, as for 0.3 and 8-bit codes, they stay float.

    An op without such a form stays float between explicit conversions, with a remark that gives the reason. Points in
    branches and loops (`tosa.cond_if`, `tosa.while_loop`) are lowered in place; operands and results of a branch or a
    loop are float.

    * `rounding`: that of values halfway between codes: that of the simulation (`tpc.integer_rounding`), or another one,
      whose codes are then not those of the simulation. `half-even` costs five to nine more ops for each rescale that
      may have such values. Halves are still rounded up, with a remark at the point, in means on a grid that is more
      than 16 times as fine as that of their operands, in sums of 16-bit codes that 32 bits may not hold (TOSA has no
      ops on the bits of 48), and after factors that no multiplier of 31 bits represents exactly (the rescale then does
      not round at the middle). Inside `softmax=integer` they are rounded up. `double` results in the codes of LiteRT
      for microcontrollers, `double-convolutions` in those of LiteRT's reference kernels, which round once after fully
      connected layers: rescales to codes have the mode DOUBLE_ROUND (TOSA's extension `doubleround`), sums of two
      values are computed with 19 bits more than the coarser one, average pools have the rounding of `tosa.avg_pool2d`
      on stored codes, leaky ReLUs are tables of values rounded twice, and means have the multiplier of one value,
      divided by the ratio of their number to a power of two. Pools whose results are on another grid round once, like
      the layers that represent them in exported `.tflite` files.
    * `profile`: emits an error at each op of the result that this device cannot run, as `mct-check-integer` does. With
      `ethos-u85`, images that a convolution reads from an argument are copied into the device's memory first (a 1x1
      `tosa.max_pool2d` over rows of 16 bytes), because it fetches few channels slowly from outside; but not if its
      memory cannot hold them beside the convolution's result. With both, a strided 1x1 convolution on an image of few
      channels, which would not read the last rows and columns, reads all of it, with zeros as its other weights. With
      both, codes of small images of many channels are summed by depthwise convolutions with kernels of ones
      (`tpc.column_sums`), which is up to 37 % faster by Vela. With both, a convolution whose users are points with
      different parameters is computed once for each of them if that is faster, since one rescale is part of a
      convolution there, and several read sums of 32 bits from memory: up to 3.5 times as fast by Vela, for convolutions
      with few products and weights. A remark says so, or that it would be slower.
    * `extensions`: `int4` stores kernels of at most 4 bits in i4 (one that has -8 stays in i8, with a remark), `int16` takes points of up to 16 bits, in i16.
    * `batch`: samples of the arguments; 0 keeps their number, or sets it to one if it is unknown.
    * `io`: form of arguments and results, numbers or codes. A result that is a concatenation of values on different
      grids (`mct-split-shared-grids`), possibly reshaped and transposed, has no codes: it is a float concatenation of
      them, and with `io=integer` and a `profile`, whose device cannot compute that, one result for each part. With
      `io=integer` the initial value of a state (`mct-lift-variables`) becomes codes, too, and the result that is its
      next value is recorded under its own name, not under that of the point that quantizes it.
    * `softmax`: see above. The integer one has at most 511 values along its axis. It multiplies by the reciprocal of
      the sum, because few devices divide integers, and its error is below 2^-13 before it is rounded to codes.
    * `layer-norm`: see above. The integer one, over the last axis, is exact for the codes that it reads except for the
      root: with n values in a row, whose squared differences from the mean sum up to Q squared steps, the error of its
      normalized values x is below
      |x| (2^-13 + 1 / Q) + 2^-13 for n up to 2048, so that only values that near to the middle of two codes take the other one.

    The attribute `tpc.points` of the function for every named value, and `tpc.quantized` of arguments and results,
    record the meaning of the codes: real = scale * (code - zero_point).

    Before:
    ```mlir
    %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.power_of_two<threshold = [1.0, 2.0], bits = 8>)
           : tensor<2x1x1x1xf32>
    %0 = tosa.conv2d %in, %w, %bias, %zero, %zero {…} : (…) -> tensor<1x1x1x2xf32>
    %1 = tosa.clamp %0 {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (…) -> tensor<1x1x1x2xf32>
    %2 = tpc.quantize %1 as "relu" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, is_signed = false, rounding = half_up>)
           : tensor<1x1x1x2xf32>
    ```

    After:
    ```mlir
    %0 = tosa.conv2d %x, %kernel, %bias, %zero, %zero {acc_type = i32, …} : (tensor<1x1x1x1xi8>, …) -> tensor<1x1x1x2xi32>
    %1 = tosa.rescale %0, %multiplier, %shift, %from, %to {per_channel = true, rounding_mode = SINGLE_ROUND, scale32 = true, …} : (…) -> tensor<1x1x1x2xi8>
    ```
  }];
  let options = [
    Option<"rounding", "rounding", "::mct::IntegerRounding", /*default=*/"::mct::IntegerRounding::Simulated",
           "Rounding of a value halfway between two codes", "::mct::loweredRoundingValues()">,
    Option<"profile", "profile", "std::string", /*default=*/"",
           "Device that runs the result: none, ethos-u55, ethos-u85, imx500, pro_int, or a file with a `tpc.device`; "
           "empty: that of the platform">,
    ListOption<"extensions", "extensions", "std::string", "Extensions of the device beyond pro_int: int4, int16">,
    Option<"batch", "batch", "uint64_t", /*default=*/"0", "Samples of the arguments; 0: unchanged, or one if unknown">,
    Option<"boundary", "io", "::mct::IntegerBoundary", /*default=*/"::mct::IntegerBoundary::Float",
           "Form of arguments and results", "::mct::integerBoundaryValues()">,
    Option<"softmax", "softmax", "::mct::IntegerSoftmax", /*default=*/"::mct::IntegerSoftmax::Float",
           "Lowering of a softmax", "::mct::integerSoftmaxValues()">,
    Option<"layerNorm", "layer-norm", "::mct::IntegerLayerNorm", /*default=*/"::mct::IntegerLayerNorm::Float",
           "Lowering of a layer norm with one point", "::mct::integerLayerNormValues()">,
  ];
  let dependentDialects = ["::mlir::tosa::TosaDialect", "::mct::tpc::TpcDialect"];
}

def SeparateStepsPass : Pass<"mct-separate-steps", "::mlir::ModuleOp"> {
  let summary = "Factor steps of kernels out of sums, so that these are exact";
  let description = [{
    For comparisons with runtimes that sum integers and multiply once, as ONNX Runtime does. Runs after
    `mct-simulate-integers`. If the input of a layer has a step that is a power of two, and its sums stay below 2^24 in
    codes, the kernel becomes its codes times powers of two, and so does the bias: f32 sums them exactly, in any order.
    The remainders of the steps, factors from 1 to 2, are multiplied after the layer, with one rounding. Values differ
    from those before in the last bits, and so do codes of values halfway between two levels.

    Kernels lose the parameters of their points: the result is only for execution. Layers with other inputs stay as they
    are, and so do those whose steps are powers of two, which are exact already.

    Before:
    ```mlir
    %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0]
           parameters(#tpc.symmetric<threshold = [3.0, 1.0], bits = 8>) : tensor<2x1x1x1xf32>
    %0 = tosa.conv2d %x, %w, %bias, %zero, %zero {…} : (…) -> tensor<1x1x1x2xf32>
    ```

    After:
    ```mlir
    %w = tpc.quantize %codes as "conv" weight "kernel_attr" axes [0] : tensor<2x1x1x1xf32>
    %0 = tosa.conv2d %x, %w, %bias_codes, %zero, %zero {…} : (…) -> tensor<1x1x1x2xf32>
    %1 = tosa.mul %0, %factors, %shift : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xi8>) -> tensor<1x1x1x2xf32>
    ```
  }];
  let dependentDialects = ["::mlir::tosa::TosaDialect", "::mct::tpc::TpcDialect"];
}

def ReturnPointsPass : Pass<"mct-return-points", "::mlir::ModuleOp"> {
  let summary = "Return the points of an integer network as results";
  let description = [{
    Other tools show only results of a function. To compare all points with theirs, the values that `tpc.points` names
    become results, after the existing ones and in the order of the list; each keeps its record as `tpc.quantized`. A
    value that already is a result under the same name, or an argument, is not added.

    Before:
    ```mlir
    func.func @main(%x: tensor<1x4xi8>) -> (tensor<1x4xi8> {tpc.quantized = {name = "b", …}})
        attributes {tpc.points = [{name = "a", …}, …]} {
      %0 = tosa.abs %x : (tensor<1x4xi8>) -> tensor<1x4xi8> loc("a")
      %1 = tosa.maximum %0, %x : (tensor<1x4xi8>, tensor<1x4xi8>) -> tensor<1x4xi8> loc("b")
      return %1 : tensor<1x4xi8>
    }
    ```

    After:
    ```mlir
    func.func @main(%x: tensor<1x4xi8>)
        -> (tensor<1x4xi8> {tpc.quantized = {name = "b", …}}, tensor<1x4xi8> {tpc.quantized = {name = "a", …}}) {
      %0 = tosa.abs %x : (tensor<1x4xi8>) -> tensor<1x4xi8>
      %1 = tosa.maximum %0, %x : (tensor<1x4xi8>, tensor<1x4xi8>) -> tensor<1x4xi8>
      return %1, %0 : tensor<1x4xi8>, tensor<1x4xi8>
    }
    ```
  }];
}

#endif // MCT_CONVERSION_PASSES_TD
