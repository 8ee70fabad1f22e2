// SPDX-License-Identifier: Apache-2.0
#ifndef TPC_DIALECT_IR_TPCBYTECODE_H
#define TPC_DIALECT_IR_TPCBYTECODE_H

namespace mct::tpc {

class TpcDialect;

/// Adds the binary encoding of those attributes that have one to the dialect.
void addBytecodeInterface(TpcDialect *dialect);

} // namespace mct::tpc

#endif // TPC_DIALECT_IR_TPCBYTECODE_H
