// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_INTERFACES_OPINTERFACES_TD
#define MCT_INTERFACES_OPINTERFACES_TD

include "mlir/IR/OpBase.td"

def Mct_ElementwiseOpInterface : OpInterface<"ElementwiseOpInterface"> {
  let cppNamespace = "::mct";
  let description = [{
    Ops that compute every element of their result from the elements at the same place of their data operands, which
    have the result's rank and are repeated where they have size 1.

    Data operands come first. Operands behind them are the same for every element, or for every element of a channel: zero
    points, shifts, tables, and the tensor that an op in destination style writes to.
  }];
  let methods = [
    InterfaceMethod<"How many operands, from the first on, hold data.",
      "unsigned", "getNumDataOperands", (ins), "", [{ return $_op->getNumOperands(); }]>,
    InterfaceMethod<[{Whether the positions along an axis of the result are computed differently: the channels of a
        quantizer with parameters for each.}],
      "bool", "hasParametersAlong", (ins "int64_t":$axis), "", [{ return false; }]>,
  ];
}

def Mct_DataMovementOpInterface : OpInterface<"DataMovementOpInterface"> {
  let cppNamespace = "::mct";
  let description = [{
    Ops with one result whose elements are elements of their operands: a `Movement` says which, and in which way they
    come there. Where a value moves to depends on its place, never on what it is; `Movement::Extreme` and
    `Movement::Average`, poolings, are the two that look at values and still take part, as they too keep channels apart
    and commute with what can be done to a channel.

    Axes are counted from 0. A channel is the set of elements with the same position along one axis of an operand.
  }];
  let methods = [
    InterfaceMethod<[{Kind of movement of the op; none when that is not known of this op, which then counts as an op of another
        kind.}],
      "::std::optional<::mct::Movement>", "getMovement", (ins)>,
    InterfaceMethod<"Indices of the operands whose elements are moved.",
      "::llvm::SmallVector<unsigned, 4>", "getMovedOperands", (ins), "", [{ return {0}; }]>,
    InterfaceMethod<[{How many operands, from the first on, hold data: those that are moved, and indices. Operands
        behind them, sizes and offsets, belong to the op as an attribute does.}],
      "unsigned", "getNumDataOperands", (ins), "", [{ return 1; }]>,
    InterfaceMethod<[{Where the channels of a moved operand along `axis` lie in the result; none when they do not lie
        along one axis any more, or a size that decides it is unknown.}],
      "::std::optional<::mct::ChannelMap>", "mapChannels", (ins "unsigned":$operand, "int64_t":$axis)>,
    InterfaceMethod<"The number that `Movement::Fill` fills with; none when it is not known.",
      "::std::optional<float>", "getFill", (ins), "", [{ return ::std::nullopt; }]>,
    InterfaceMethod<"Fills with another number. Requires `getFill()`.",
      "void", "setFill", (ins "::mlir::OpBuilder &":$builder, "float":$value), "", [{
        llvm_unreachable("an op that fills says with what");
      }]>,
  ];
}

def Mct_ReductionOpInterface : OpInterface<"ReductionOpInterface"> {
  let cppNamespace = "::mct";
  let description = [{
    Ops that combine the elements of their first operand along one axis, which has size 1 in their only result.
  }];
  let methods = [
    InterfaceMethod<"Returns the axis along which elements are combined, counted from 0.",
      "int64_t", "getReducedAxis", (ins)>,
  ];
}

def Mct_BatchOpInterface : OpInterface<"BatchOpInterface"> {
  let cppNamespace = "::mct";
  let description = [{
    Ops with one result that say how the batch follows from their operands to it. An op that implements
    `ElementwiseOpInterface` and is not in destination style need not: the batch then lies in the same dimension of all
    its data operands and of its result, whichever that is.
  }];
  let methods = [
    InterfaceMethod<[{Called when some operand depends on the samples: asks `follower` to move, repeat or take operands,
        and ends with `keep`, which says where the batch lies in the result, or with `fail`.}],
      "::llvm::LogicalResult", "followBatch", (ins "::mct::BatchFollower &":$follower)>,
    InterfaceMethod<[{Puts `size`, dynamic for an unknown one, where an operand spells the sizes of the result. The type
        of the result is still the old one, and is changed by the caller.}],
      "void", "setResultSize", (ins "int64_t":$dimension, "int64_t":$size), "", [{}]>,
  ];
}

#endif // MCT_INTERFACES_OPINTERFACES_TD
