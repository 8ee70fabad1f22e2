// SPDX-License-Identifier: Apache-2.0
//
// Branches and loops.
#include "NetworkGenerator.h"

using namespace mlir;
using namespace mct::testing::generator;

Value Network::branch() {
  Value value = choose(f32());
  if (!value || keepsBatch)
    return {};
  // The condition: the first element is positive.
  Value flat = reshape(value, {countOf(shapeOf(value))});
  Value first = slice(flat, {0}, {1});
  Value positive = compare(first, number(1, f32(), 0.1));
  Value condition = reshape(positive, {});
  // MLIR lets regions read what is outside of them, TOSA does not.
  bool isIsolated = random.chance(50);
  OperationState state(name("v" + std::to_string(numValues++)),
                       tosa::IfOp::getOperationName());
  state.addOperands(condition);
  if (isIsolated)
    state.addOperands(value);
  state.addTypes(value.getType());
  for (bool taken : {true, false}) {
    Block *block = new Block;
    state.addRegion()->push_back(block);
    OpBuilder::InsertionGuard guard(builder);
    Value read = isIsolated ? block->addArgument(value.getType(),
                                                 builder.getUnknownLoc())
                            : value;
    builder.setInsertionPointToStart(block);
    Value result = taken ? op("tosa.add", value.getType(), {read, read})
                         : op("tosa.tanh", value.getType(), read);
    tosa::YieldOp::create(builder, builder.getUnknownLoc(), result);
  }
  Range range = rangeOf(value);
  return known(builder.create(state)->getResult(0),
               std::min(2 * range.low, -1.0), std::max(2 * range.high, 1.0));
}

Value Network::loop() {
  Value value = choose(f32());
  if (!value || keepsBatch)
    return {};
  Value counter = constant(type({}, i32()), ArrayRef<double>(0.0));
  OperationState state(name("v" + std::to_string(numValues++)),
                       tosa::WhileOp::getOperationName());
  // MLIR lets regions read what is outside of them, TOSA does not.
  bool isIsolated = random.chance(50);
  state.addOperands({counter, value});
  state.addTypes({counter.getType(), value.getType()});
  if (isIsolated) {
    state.addOperands(value);
    state.addTypes(value.getType());
  }
  double times = double(random.between(0, 3));
  Location loc = builder.getUnknownLoc();
  {
    Block *test = new Block;
    state.addRegion()->push_back(test);
    OpBuilder::InsertionGuard guard(builder);
    Value i = test->addArgument(counter.getType(), loc);
    test->addArgument(value.getType(), loc);
    if (isIsolated)
      test->addArgument(value.getType(), loc);
    builder.setInsertionPointToStart(test);
    Value end = constant(type({}, i32()), ArrayRef(times));
    Value more = op("tosa.greater", type({}, i1()), {end, i});
    tosa::YieldOp::create(builder, loc, more);
  }
  {
    Block *body = new Block;
    state.addRegion()->push_back(body);
    OpBuilder::InsertionGuard guard(builder);
    Value i = body->addArgument(counter.getType(), loc);
    Value x = body->addArgument(value.getType(), loc);
    Value start = isIsolated ? body->addArgument(value.getType(), loc) : value;
    builder.setInsertionPointToStart(body);
    Value one = constant(type({}, i32()), ArrayRef<double>(1.0));
    Value next = op("tosa.add", i.getType(), {i, one});
    Value half = number(rankOf(x), f32(), 0.5);
    Value shift = zero(i8());
    Value scaled = op("tosa.mul", x.getType(), {x, half, shift});
    Value result = op("tosa.add", x.getType(), {scaled, start});
    SmallVector<Value, 3> handedOn{next, result};
    if (isIsolated)
      handedOn.push_back(start);
    tosa::YieldOp::create(builder, loc, handedOn);
  }
  Range range = rangeOf(value);
  return known(builder.create(state)->getResult(1),
               std::min(2 * range.low, 0.0), std::max(2 * range.high, 0.0));
}
