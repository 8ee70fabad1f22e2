// SPDX-License-Identifier: Apache-2.0
#ifndef TPC_DIALECT_IR_TPCBYTECODE_H
#define TPC_DIALECT_IR_TPCBYTECODE_H

#include "mlir/Bytecode/BytecodeImplementation.h"

namespace mct::tpc {

/// Version of the encoding of ops and attributes in a file. 0, of files without
/// a version: the attributes of `tpc.quantize` in a fixed order; 1: as one
/// dictionary; 2: parameters and selections are not text.
struct BytecodeVersion : mlir::DialectVersion {
  static constexpr uint64_t kLatest = 2;
  explicit BytecodeVersion(uint64_t number) : number(number) {}
  uint64_t number;

  /// Returns the version of the file that `reader` reads.
  static uint64_t get(const mlir::DialectBytecodeReader &reader);
};

class TpcDialect;

/// Adds the binary encoding of those attributes that have one to the dialect.
void addBytecodeInterface(TpcDialect *dialect);

} // namespace mct::tpc

#endif // TPC_DIALECT_IR_TPCBYTECODE_H
