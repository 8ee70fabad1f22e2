// SPDX-License-Identifier: Apache-2.0
//
// Convolutions and matrix products by oneDNN. Nothing here depends on MLIR;
// Primitives.cpp is compiled with exceptions, which do not leave it.
#ifndef MCT_LIB_EXECUTION_PRIMITIVES_H
#define MCT_LIB_EXECUTION_PRIMITIVES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <string>

namespace mct::execution {

/// A convolution in the conventions of TOSA: NHWC data, weights [OC,KH,KW,IC],
/// for depthwise [KH,KW,C,M] with OC = C * M; for volumes NDHWC data, weights
/// [OC,KD,KH,KW,IC]. `transpose`: pads are subtracted from the output instead
/// of added to the input.
struct ConvolutionShape {
  enum class Kind { Plain, Depthwise, Transpose };
  Kind kind = Kind::Plain;
  int64_t batch = 1;
  int64_t inputHeight = 1, inputWidth = 1, inputChannels = 1;
  int64_t outputHeight = 1, outputWidth = 1, outputChannels = 1;
  int64_t kernelHeight = 1, kernelWidth = 1;
  int64_t strideHeight = 1, strideWidth = 1;
  int64_t dilationHeight = 1, dilationWidth = 1;
  int64_t padTop = 0, padBottom = 0, padLeft = 0, padRight = 0;
  /// True for a convolution of volumes, which is plain.
  bool hasDepth = false;
  int64_t inputDepth = 1, outputDepth = 1, kernelDepth = 1, strideDepth = 1,
          dilationDepth = 1, padFront = 0, padBack = 0;
};

/// A product [batch, rows, inner] x [batch, inner, columns].
struct MatMulShape {
  int64_t batch = 1, rows = 1, inner = 1, columns = 1;
  /// True for factors that are stored with the last two dimensions exchanged;
  /// not for constant ones.
  bool firstTransposed = false, secondTransposed = false;
};

/// Operations of a primitive on its result before it is stored, in this order.
struct Epilogue {
  /// Adds a second operand of the result's shape.
  bool addOperand = false;
  bool clamp = false;
  float low = 0, high = 0;
};

/// Weights or a bias in the layout of a primitive.
class PackedConstant {
public:
  PackedConstant();
  PackedConstant(PackedConstant &&);
  PackedConstant &operator=(PackedConstant &&);
  ~PackedConstant();

private:
  friend class PrimitiveSet;
  friend class PrimitiveRunner;
  struct Impl;
  std::unique_ptr<Impl> impl;
};

class ConstantPool;

/// The primitives of one program with their packed weights. Read-only while
/// runners use it.
class PrimitiveSet {
public:
  PrimitiveSet();
  ~PrimitiveSet();

  /// Shares packed weights with other sets by the pool, in all later calls.
  void shareBy(std::shared_ptr<ConstantPool> pool);

  /// Adds a convolution and returns the index of the new primitive. Empty
  /// weights or biases are operands, after the input. Fails, like the next two
  /// functions, if oneDNN reports an error.
  llvm::Expected<size_t> addConvolution(const ConvolutionShape &shape,
                                        llvm::ArrayRef<float> weights,
                                        llvm::ArrayRef<float> bias,
                                        const Epilogue &epilogue);
  /// Adds the gradient of the weights of a convolution of this shape, which
  /// must not be transposed, from its input and the gradient of its output.
  /// With `inputChannelsFirst` that of a plain one is [IC,KH,KW,OC] instead of
  /// [OC,KH,KW,IC].
  llvm::Expected<size_t> addWeightGradient(const ConvolutionShape &shape,
                                           bool inputChannelsFirst);
  /// Adds a matrix product. `constant` is the second factor, or empty if that
  /// is an operand.
  llvm::Expected<size_t> addMatMul(const MatMulShape &shape,
                                   llvm::ArrayRef<float> constant,
                                   const Epilogue &epilogue);
  /// Removes the primitive that was added last.
  void removeLast();
  /// Replaces the weights, or the bias, of a primitive by others of the same
  /// size. No runner may run meanwhile. Fails if oneDNN reports an error, or if
  /// the primitive has none.
  llvm::Error setWeights(size_t primitive, llvm::ArrayRef<float> weights);
  llvm::Error setBias(size_t primitive, llvm::ArrayRef<float> bias);
  /// Packs weights or a bias for `PrimitiveRunner::run`. Fails like
  /// `setWeights`; runners may run meanwhile.
  llvm::Expected<PackedConstant>
  packWeights(size_t primitive, llvm::ArrayRef<float> weights) const;
  llvm::Expected<PackedConstant> packBias(size_t primitive,
                                          llvm::ArrayRef<float> bias) const;
  /// Returns the size in bytes of all packed weights.
  int64_t bytes() const;
  /// Return the sizes in bytes of the operands of a call, in the order of
  /// `PrimitiveRunner::run`, and of its result.
  llvm::SmallVector<int64_t, 4> operandBytes(size_t primitive) const;
  int64_t resultBytes(size_t primitive) const;

  /// Returns oneDNN's name of the implementation.
  std::string implementation(size_t primitive) const;
  /// Returns whether that is a reference implementation, hundreds of times
  /// slower.
  bool isReference(size_t primitive) const;
  /// Returns whether the primitive adds a wrong operand: oneDNN 2.6's
  /// convolutions by matrix products read the operand of a binary post-op as if
  /// it were one number.
  bool addsWrongly(size_t primitive) const;

  /// Returns oneDNN's instruction set on this machine.
  static std::string instructionSet();

  struct Impl;

private:
  /// Returns the index of the primitive that the action adds.
  llvm::Expected<size_t> add(llvm::function_ref<void()> action);

  friend class PrimitiveRunner;
  std::shared_ptr<ConstantPool> pool;
  std::unique_ptr<Impl> impl;
};

/// Runs primitives on behalf of one worker.
class PrimitiveRunner {
public:
  explicit PrimitiveRunner(const PrimitiveSet &primitives);
  ~PrimitiveRunner();

  /// Runs a primitive. `operands` are the input or the first factor; those of
  /// second factor, weights and bias that are not constants, or the gradient of
  /// the output; and the addend. `weights` and `bias` replace those of the
  /// primitive if they are not null. Fails if oneDNN reports an error.
  llvm::Error run(size_t primitive, llvm::ArrayRef<const void *> operands,
                  void *result, const PackedConstant *weights = nullptr,
                  const PackedConstant *bias = nullptr);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// Restricts OpenMP (inside oneDNN) to the calling thread while it lives. The
/// setting belongs to the thread, and primitives adopt it when they are
/// created.
class SingleOpenMPThread {
public:
  SingleOpenMPThread();
  ~SingleOpenMPThread();

private:
  int before;
};

} // namespace mct::execution

#endif // MCT_LIB_EXECUTION_PRIMITIVES_H
