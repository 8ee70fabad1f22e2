// SPDX-License-Identifier: Apache-2.0
#ifndef TPC_DIALECT_IR_TPCDIALECT_TD
#define TPC_DIALECT_IR_TPCDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def Tpc_Dialect : Dialect {
  let name = "tpc";
  let cppNamespace = "::mct::tpc";
  let summary = "Target-platform capabilities and quantization points";
  let description = [{
    The dialect describes the capabilities of a chip (`tpc.platform`), the ops that form its operator sets in an IR
    (`tpc.binding`), the operands of the ops of that IR (`tpc.framework`) and the device that runs them (`tpc.device`).
    It also has the op through which every quantized tensor passes (`tpc.quantize`), which records all decisions about
    that tensor.

    Nothing in this dialect is computed from data: statistics and parameters are stored here, and computed in
    `lib/Calibration` and `lib/Quantization`.
  }];
  let dependentDialects = ["::mlir::quant::QuantDialect"];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    /// Name of the attribute of a module that refers to the `tpc.platform` that it is compiled for.
    static constexpr ::llvm::StringLiteral kTargetAttrName = "tpc.target";
    /// Name of the attribute of any op that holds its operator set, a string, and takes precedence over the
    /// target's binding.
    static constexpr ::llvm::StringLiteral kSetAttrName = "tpc.set";
    /// Name of the attribute of a function that holds the distances of the network's results from those of the float
    /// network with one operator in one of its alternatives, a dictionary. `of` has a list of numbers for each
    /// operator, one for each alternative; `metric`, `kl` or `mse`, and `samples` describe the measurement.
    static constexpr ::llvm::StringLiteral kSensitivitiesAttrName = "tpc.sensitivities";
    static constexpr ::llvm::StringLiteral kSensitivityTable = "of";
    static constexpr ::llvm::StringLiteral kSensitivityMetric = "metric";
    static constexpr ::llvm::StringLiteral kSensitivitySamples = "samples";

    void registerAttributes();
    void registerDeviceOps();
  }];
}

#endif // TPC_DIALECT_IR_TPCDIALECT_TD
