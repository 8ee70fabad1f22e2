// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_IR_INTEGERPROFILE_H
#define MCT_IR_INTEGERPROFILE_H

#include "mlir/IR/Operation.h"
#include "llvm/Support/CommandLine.h"
#include <optional>
#include <string>

namespace mct {

/// What an integer network is meant to run on.
enum class IntegerProfile {
  None,     // anything that computes what TOSA says
  ProInt,   // the integer profile of TOSA
  EthosU55, // and what Arm's Vela maps onto that device
  EthosU85,
};

/// Why a device cannot run an op, and what to do.
struct ProfileRefusal {
  std::string what, remedy;
};

/// Nothing for an op that it can run, as far as is known: the forms that Vela
/// 5.2 refuses were found by trying.
std::optional<ProfileRefusal> refuses(IntegerProfile profile,
                                      mlir::Operation *op);

/// An error at an op that the device cannot run. `remedyForFloat`: what to do
/// about floating-point numbers, where there is something better to say.
mlir::LogicalResult verifyProfile(IntegerProfile profile, mlir::Operation *op,
                                  llvm::StringRef remedyForFloat = {});

/// The command line's words.
inline llvm::cl::ValuesClass integerProfileValues() {
  return llvm::cl::values(clEnumValN(IntegerProfile::None, "none",
                                     "anything that computes what TOSA says"),
                          clEnumValN(IntegerProfile::ProInt, "pro_int",
                                     "the integer profile of TOSA"),
                          clEnumValN(IntegerProfile::EthosU55, "ethos-u55",
                                     "Arm Ethos-U55, by Vela"),
                          clEnumValN(IntegerProfile::EthosU85, "ethos-u85",
                                     "Arm Ethos-U85, by Vela"));
}

} // namespace mct

#endif // MCT_IR_INTEGERPROFILE_H
