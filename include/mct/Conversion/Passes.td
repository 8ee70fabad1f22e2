// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_CONVERSION_PASSES_TD
#define MCT_CONVERSION_PASSES_TD

include "mct/Support/Options.td"

def RaiseLinalgPass : Pass<"mct-raise-linalg", "::mlir::func::FuncOp"> {
  let summary = "Turn linalg on tensors into TOSA";
  let description = [{
    Rewrites ops of `linalg`, `tensor` and `arith` as ops of TOSA that compute the same, by what they are and not by their
    names:

    * matrix products and convolutions by `linalg::isaContractionOpInterface` and `linalg::isaConvolutionOpInterface`, in any
      order of their axes, with one or two image axes, grouped and depthwise ones too. Padding by zeros becomes the padding
      of the convolution, a broadcast bias its bias; a convolution of elements that lie apart is a transposed one;
    * maxima and sums of windows as pools; a sum that is divided by the count of its window is their mean;
    * bodies of all other ops, with any maps that permute and broadcast axes, or read them by steps or backwards: arithmetic, comparisons, selections (those of
      the larger or the smaller number are a maximum, a minimum or a clamp, through which a NaN goes), casts, indices, and lookups of rows;
    * reductions by sum, product, maximum, minimum, and, or, and the first place of an extremum, however its body is written;
    * reshapes, slices and insertions at any steps, concatenations, padding, softmax, constants, and ops of scalars that have
      tensors as operands. Slices keep the whole of a dynamic batch; sizes that come out as constants are these.

    TOSA computes in f32 and i32: values of f64 between two ops are computed in f32, those of i64 and index in i32. Ops of
    TOSA on f64, which importers write for layer norms, compute in f32 too.
    Convolutions of TOSA have channels last; `mct-move-transposes` moves the transpositions out of the way.

    The last op that computes something, of those that one has become, has its name; the others are called after what they
    do, too (`name/reshape`). Other ops stay as they are, with a warning where it is a layer, else with a remark if asked for. A `cf.assert`
    that always holds is removed, and so is the one that asks whether the place of a lookup lies within its tensor; any
    other one is an error, since an assertion cannot be compiled into a network. So is a function on buffers (`memref`).

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
  let summary = "Put the decoding of the places of objects into a function of its own";
  let description = [{
    The network ends with the results of its last layers, or with their points where it has some, and what decodes them is a second function, `decode`, of these
    results, which a camera, or a program on the host, runs behind the accelerator. Its results are those that the network
    had; other results of the network pass through it.

    The decoding part of a network is behind its last layers (ops with a constant kernel, each with its bias and the clamp
    behind it), where nothing has weights any more, and one of its ops

    * adds, subtracts or multiplies with anchors, a grid of cells, or strides: a constant of at least 16 elements and
      three values that repeat at least four times each, on average, and that differ for other places than the channels of the layer;
    * takes the mean of bins: a product with the constant 0, 1, …, n - 1, n of at least 4;
    * finds peaks: compares a value with its own max pool of stride 1.

    All that is behind the last layers is a part of it then, with the softmax or sigmoid of the scores.

    A network without such a part stays as it is, with a warning. Fails where the function is not called `main` and no
    option names it: the two functions could not be told apart.

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
  let summary = "Turn TOSA into linalg named ops";
  let description = [{
    For compilers that start from linalg on tensors. The conversions are those of MLIR: layers become named ops, everything
    else bodies of `linalg.generic`, `tensor` and `arith`; a rescale becomes its multiplication and shift in i64, so that
    an integer network computes the same integers.

    Values that have a name in the records of the function (`tpc.points` of `mct-lower-to-integer`) keep it, on the
    last of the ops that they were turned into; records of values that are gone are dropped.

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
  let summary = "Turn points into casts of the quant dialect";
  let description = [{
    For compilers that know `!quant.uniform` types and not our points. In every function:

    * A point with parameters becomes `quant.qcast` to the type of its grid and `quant.dcast` back: per tensor, or per
      axis where its channels run over one axis (others of size 1 do not count: a depthwise kernel [KH, KW, C, 1]). The
      storage is as wide as the point has bits, `u` in front where it is unsigned.
    * A point without parameters disappears: its values are float.
    * `tpc.bias` becomes `tosa.const`; tags `tpc.…` on ops, the target and what belongs to it go. Where nothing stays
      behind (below), the module needs no dialect of ours.

    A point for which upstream has no type stays a `tpc.quantize`, with a remark if asked for: levels that are not evenly spaced
    (lookup tables), channels over several axes, and a step that f32 cannot hold.

    The type does not say where halves go; its user rounds. Ops between two points, and biases, stay
    float: `mct-lower-to-integer` makes an integer network.

    Folding takes a `quant.qcast` together with its `quant.dcast` for nothing and removes both (`--canonicalize`,
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
  let summary = "Make points and biases what they are in an integer network";
  let description = [{
    Comes behind everything that chooses parameters and before `mct-lower-to-integer`; what it leaves is the network whose
    accuracy an integer device has. All functions of the module are changed.

    * Activation points round halves up, as `tosa.rescale` does (`rounding=half-even`: to the even code, for targets that
      do so). Weights keep their codes: they are rounded once, halves to the even one.
    * `rounding=double` is for comparisons with kernels that round a product to 31 bits, shift it and round again, halves away from
      zero: those of LiteRT for microcontrollers, and the integers of `tosa-converter-for-tflite`. LiteRT's reference kernels do so,
      but for fully connected layers: `double-convolutions`. Points round halves up, and behind layers, means, average pools and leaky ReLUs whose
      result a point quantizes, a part of a step that makes the same codes is added to values or, where these are negative,
      subtracted. The result is to be run: this pass, `mct-lower-to-integer`, whose own option says how the integers round, and the
      export to `.tflite` take those parts away again.
    * A bias b of a layer (as in `mct-correct-bias`) whose input and kernel are quantized on grids of the steps dx and dw
      (a table of 8-bit entries: a 128th of its threshold)
      becomes round(b / (dx * dw)) * dx * dw for every output channel, computed in f64. A bias that two layers share is
      copied; `corrections` of the layer are brought into line. One that has more steps than 32 bits hold stays as it is,
      with a warning.
    * `table-points`: where a layer, or another op that is computed in integers, has an activation fused to it that is more
      than a clamp (sigmoid, tanh, swish, hard-swish, GELU, any chain of element-wise ops of one value and numbers),
      an integer network needs 8-bit codes in between, to look them up. A point is put there, named after the op that
      makes the value, of the kind that the point behind the activation has. Sums along axes times a positive number are
      means, which need none.
      Its parameters are those with the least mean squared error behind the outer quantizer. The error is taken over inputs
      of all magnitudes up to 2^15, 256 in each octave; their weights come from the statistics of the outer point, whose
      histogram says how often a result was seen: the count of a bin is spread evenly over the inputs whose results
      it holds. So a threshold ends where inputs beyond it make the same code, or were not seen. Candidates are powers of
      two, or 8 thresholds in each octave; among equal errors the finest one is taken.
    * `rounding=half-even`, the one of ONNX Runtime, whose kernels add codes to codes: a constant of several numbers that is added to a
      value on a grid, where points of at most 8 bits alone read the sum, gets a point of 8 bits (`pos_attr`) of the kind that the
      ones behind are of, with the least squared error. The integers of TOSA need none: they add constants in 32 bits.

    With `remarks`, a layer whose sums may reach 2^24 in integers (|input| * |kernel| + |bias| + half a step of the
    output, all as codes) says so: f32 adds exactly below that only, and with steps that are powers of two nothing else is
    ever rounded.

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
           "Where a value halfway between two codes goes", "::mct::integerRoundingValues()">,
    Option<"tablePoints", "table-points", "bool", /*default=*/"true",
           "Quantize in front of fused activations that are more than a clamp">,
    Mct_RemarksOption,
  ];
  let dependentDialects = ["::mlir::tosa::TosaDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
                           "::mct::tpc::TpcDialect"];
}

def LowerToIntegerPass : Pass<"mct-lower-to-integer", "::mlir::ModuleOp"> {
  let summary = "Turn a network whose points have parameters into one of integers";
  let description = [{
    Every activation point with a grid of at most 8 bits (16 with `extensions=int16`) becomes a tensor of integers, and
    what lies between points becomes TOSA ops on integers that make the codes which the simulation has. For powers of
    two nothing differs as long as f32 adds exactly what the simulation adds; run `mct-simulate-integers` before, so
    that both round alike.

    | between the points | becomes |
    |---|---|
    | convolutions, also depthwise and transposed; `tosa.matmul` with a constant kernel (a 1x1 convolution) | the op on i8 with i32 sums, its bias inside, and one `tosa.rescale`, per channel where the kernel has scales per channel |
    | `tosa.matmul` of two points | the same on i8, and one `tosa.rescale` |
    | clamps | limits of the codes, behind the rescale; nothing where saturation does it |
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
    | layer norm with one point behind it | float between conversions, or the chain of `layer-norm=integer`; with points inside as its parts |

    Factors are multiplier * 2^-shift with 31-bit multipliers, 2^30 for powers of two. Unsigned codes of 8 bits are
    stored less 128, codes of fewer bits in i8, limited by a clamp.

    Products and sums with numbers for each channel, where all steps are powers of two, get factors and offsets that make the
    codes which f32 makes, for every integer that they can read: 0.1 * 5 is 0.5 in f32, and 0.1 is not in f32. Where there are
    none, as for 0.3 and 8-bit codes, they stay float.

    An op without such a form stays float between explicit conversions, with a remark that says why. Points in branches and loops
    (`tosa.cond_if`, `tosa.while_loop`) are lowered where they stand; operands and results of a branch or a loop are float.

    * `rounding`: where a code lies halfway. `half-even` costs five to nine ops more for each rescale that meets middles between
      codes. Halves still go up, with a remark at the point, in means on a grid that is more than 16 times as fine as that of what
      they are taken of, in sums of 16-bit codes that 32 bits may not hold (TOSA has no ops on the bits of 48), and behind factors
      that no multiplier of 31 bits is (the rescale rounds otherwise than at the middle). Inside of `softmax=integer` they go up.
      `double` makes the codes of LiteRT for microcontrollers, `double-convolutions` those of LiteRT's reference kernels, which round
      once behind fully connected layers: rescales to codes have the mode DOUBLE_ROUND (TOSA's extension `doubleround`), sums of two
      values 19 bits more than the coarser one, average pools the rounding of `tosa.avg_pool2d` on codes as they are stored, leaky
      ReLUs tables of what is rounded twice, and means the multiplier of one value, divided by what their number is more than a power of two. Pools whose results are on
      another grid round once, as the layers do that they are in exported `.tflite` files.
    * `profile`: an error at each op of the result that this device cannot run, as `mct-check-integer` says it. With `ethos-u85`,
      images that a convolution reads from an argument are copied into the device's memory first (a 1x1 `tosa.max_pool2d` over rows of
      16 bytes), because it fetches few channels slowly from outside; not where its memory does not hold them beside what the
      convolution makes of them. With both, a 1x1 convolution with strides that reads an image of few channels, but for its last rows
      and columns, reads all of it, with zeros as its other weights. With both, codes of small images of many channels are added up by
      depthwise convolutions with kernels of ones (`tpc.column_sums`), which is up to 37 % faster by Vela. With both, a convolution that points with different parameters
      read is computed once for each of them where that is faster, since one rescale is part of a convolution there, and of several
      each reads sums of 32 bits from memory: up to 3.5 times as fast by Vela, for convolutions with few products and weights. A remark
      says so, or that it would be slower.
    * `extensions`: `int4` stores kernels of at most 4 bits in i4 (one that has -8 stays in i8, with a remark), `int16` takes points of up to 16 bits, in i16.
    * `batch`: samples of the arguments; 0: as many as they are, one where that is not known.
    * `io`: whether arguments and results are numbers or codes. A result that is a concatenation of values on different grids
      (`mct-split-shared-grids`), perhaps behind reshapes and transpositions, has no codes: it is a float concatenation of
      them, and with `io=integer` and a `profile`, whose device cannot compute that, one result for each part.
    * `softmax`: above. The integer one has at most 511 values along its axis. It multiplies by the reciprocal of the sum, as few
      devices divide integers, and is off by less than 2^-13 before it is rounded to codes.
    * `layer-norm`: above. The integer one, over the last axis, is the exact one of the codes it reads but for the root: with n
      values in a row, whose squared differences from the mean sum up to Q squared steps, its normalized values x are off by less than
      |x| (2^-13 + 1 / Q) + 2^-13 for n up to 2048, so that only values that near to the middle of two codes take the other one.

    The attribute `tpc.points` of the function says of every named value, and `tpc.quantized` of arguments and results,
    what its codes stand for: real = scale * (code - zero_point).

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
    Option<"rounding", "rounding", "::mct::IntegerRounding", /*default=*/"::mct::IntegerRounding::HalfUp",
           "Where a value halfway between two codes goes", "::mct::integerRoundingValues()">,
    Option<"profile", "profile", "std::string", /*default=*/"",
           "Device that runs the result: none, ethos-u55, ethos-u85, imx500, pro_int, or a file with a `tpc.device`; empty: the one that belongs to the platform">,
    ListOption<"extensions", "extensions", "std::string", "Extensions of the device beyond pro_int: int4, int16">,
    Option<"batch", "batch", "uint64_t", /*default=*/"0", "Samples of the arguments; 0: as they are, or one">,
    Option<"boundary", "io", "::mct::IntegerBoundary", /*default=*/"::mct::IntegerBoundary::Float",
           "Arguments and results", "::mct::integerBoundaryValues()">,
    Option<"softmax", "softmax", "::mct::IntegerSoftmax", /*default=*/"::mct::IntegerSoftmax::Float",
           "How a softmax is lowered", "::mct::integerSoftmaxValues()">,
    Option<"layerNorm", "layer-norm", "::mct::IntegerLayerNorm", /*default=*/"::mct::IntegerLayerNorm::Float",
           "How a layer norm with one point is lowered", "::mct::integerLayerNormValues()">,
  ];
  let dependentDialects = ["::mlir::tosa::TosaDialect", "::mct::tpc::TpcDialect"];
}

def SeparateStepsPass : Pass<"mct-separate-steps", "::mlir::ModuleOp"> {
  let summary = "Take the steps of kernels out of sums, which are exact then";
  let description = [{
    For comparisons with runtimes that sum integers and multiply once, as ONNX Runtime does. Comes behind
    `mct-simulate-integers`. Where the input of a layer has a step that is a power of two, and its sums stay below 2^24 in codes, the
    kernel becomes its codes times powers of two, and so does the bias: f32 sums them exactly, in any order. The remainders of the
    steps, factors from 1 to 2, are multiplied behind the layer, and that is rounded once. Values differ from those of before in
    the last bits, and so do codes of values that lie in the middle of two levels.

    Kernels lose the parameters of their points: the result is to be run. Layers with other inputs stay as they are, and so do
    those whose steps are powers of two, which are exact already.

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
  let summary = "Make results of the points of an integer network";
  let description = [{
    Other tools show results of a function only. So that what they compute can be compared at every point, the values
    that `tpc.points` names become results, behind those that there are and in the order of the list; each keeps its
    record as `tpc.quantized`. A value that is a result under the same name already, or an argument, stays where it is.

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
