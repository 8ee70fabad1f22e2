// SPDX-License-Identifier: Apache-2.0
#include "RandomNetworks.h"
#include "NetworkGenerator.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tpc_dialect/IR/TpcDialect.h"

#include <cstring>

using namespace mlir;
using namespace mct::testing;
using namespace mct::testing::generator;
namespace tpc = mct::tpc;

static OwningOpRef<ModuleOp> makeModule(MLIRContext &context, unsigned seed,
                                        bool layers, bool scalable = false) {
  OpBuilder builder(&context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToEnd(module->getBody());
  Network network(builder, seed);
  func::FuncOp function =
      layers ? network.makeLayers(scalable) : network.make();
  // Ops that lead to no result are as if they were not there.
  Block &body = function.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
  return module;
}

OwningOpRef<ModuleOp> mct::testing::makeRandomNetwork(MLIRContext &context,
                                                      unsigned seed) {
  return makeModule(context, seed, false);
}
OwningOpRef<ModuleOp> mct::testing::makeRandomLayers(MLIRContext &context,
                                                     unsigned seed,
                                                     bool scalable) {
  return makeModule(context, seed, true, scalable);
}

OwningOpRef<ModuleOp> mct::testing::makeFloatNetwork(MLIRContext &context,
                                                     unsigned seed) {
  OwningOpRef<ModuleOp> network = seed % 2 ? makeRandomNetwork(context, seed)
                                           : makeRandomLayers(context, seed);
  network->walk([](tpc::QuantizeOp point) {
    point.getResult().replaceAllUsesWith(point.getInput());
    point.erase();
  });
  return network;
}

std::string mct::testing::print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  OpPrintingFlags flags;
  flags.enableDebugInfo(true, false);
  flags.useLocalScope();
  module.print(stream, flags);
  return text;
}

std::vector<char> mct::testing::randomInput(RankedTensorType type,
                                            int64_t batches, unsigned seed) {
  Random random(seed);
  int64_t count = type.getNumElements() * batches;
  Type element = type.getElementType();
  std::vector<char> bytes(
      size_t(count * ((type.getElementTypeBitWidth() + 7) / 8)));
  // Now and then numbers with few digits, for ties and zeros.
  bool coarse = random.chance(25);
  for (int64_t i = 0; i != count; ++i) {
    auto store = [&](auto value) {
      std::memcpy(bytes.data() + i * int64_t(sizeof(value)), &value,
                  sizeof(value));
    };
    if (element.isF32())
      store(coarse ? float(random.between(-16, 16)) / 8
                   : random.uniform(-2, 2));
    else if (element.isInteger(32))
      store(int32_t(random.between(-8, 8)));
    else if (element.isInteger(16))
      store(int16_t(random.between(-32768, 32767)));
    else if (element.isInteger(8))
      store(int8_t(random.between(-128, 127)));
    else
      store(char(random.below(2)));
  }
  return bytes;
}
