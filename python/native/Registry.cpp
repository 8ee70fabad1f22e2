// SPDX-License-Identifier: Apache-2.0
//
// The dialects and passes that the package knows: those in which networks are
// written or compiled. The other ones of `mct-opt` (GPUs, SPIR-V, other
// accelerators) would triple the size of a wheel.
#include "Module.h"
#include "mct/Execution/Executor.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Pipelines/Pipelines.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/AllInterfaces.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/Dialect/Quant/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Shape/IR/Shape.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/Dialect/Tensor/Extensions/AllExtensions.h"
#include "mlir/Dialect/Tensor/IR/TensorTilingInterfaceImpl.h"
#include "mlir/Dialect/Tosa/Transforms/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

const DialectRegistry &mct::python::getRegistry() {
  static const DialectRegistry *registry = [] {
    auto *made = new DialectRegistry;
    // These include the dialects of tensors, buffers and LLVM.
    execution::Executor::registerDependencies(*made);
    made->insert<affine::AffineDialect, complex::ComplexDialect, DLTIDialect,
                 index::IndexDialect, math::MathDialect,
                 ml_program::MLProgramDialect, quant::QuantDialect,
                 scf::SCFDialect, shape::ShapeDialect,
                 sparse_tensor::SparseTensorDialect, ub::UBDialect,
                 vector::VectorDialect>();
    linalg::registerAllDialectInterfaceImplementations(*made);
    tensor::registerTilingInterfaceExternalModels(*made);
    tensor::registerAllExtensions(*made);
    registerTransformsPasses();
    registerLinalgPasses();
    tosa::registerTosaPasses();
    quant::registerQuantPasses();
    registerAllMctPasses();
    return made;
  }();
  return *registry;
}
