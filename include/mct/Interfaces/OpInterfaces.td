// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_INTERFACES_OPINTERFACES_TD
#define MCT_INTERFACES_OPINTERFACES_TD

include "mlir/IR/OpBase.td"

def Mct_ElementwiseOpInterface : OpInterface<"ElementwiseOpInterface"> {
  let cppNamespace = "::mct";
  let description = [{
    Ops that compute every element of their result from the elements at the same position of their data operands, which
    have the result's rank and are repeated along axes of size 1.

    Data operands come first. The operands after them are the same for every element, or for every element of a channel:
    zero points, shifts, tables, and the tensor that an op in destination style writes to.
  }];
  let methods = [
    InterfaceMethod<"Returns the number of operands, from the first on, that hold data.",
      "unsigned", "getNumDataOperands", (ins), "", [{ return $_op->getNumOperands(); }]>,
    InterfaceMethod<[{Returns whether the positions along an axis of the result are computed differently, like the channels
        of a quantizer with parameters for each channel.}],
      "bool", "hasParametersAlong", (ins "int64_t":$axis), "", [{ return false; }]>,
  ];
}

def Mct_DataMovementOpInterface : OpInterface<"DataMovementOpInterface"> {
  let cppNamespace = "::mct";
  let description = [{
    Ops with one result whose elements are elements of their operands; a `Movement` describes which elements occur in
    the result, and how. The destination of a value depends on its position, never on the value itself.
    `Movement::Extreme` and `Movement::Average`, poolings, do depend on values but are included, because they too keep
    channels apart and commute with affine changes of a channel.

    Axes are counted from 0. A channel is the set of elements with the same position along one axis of an operand.
  }];
  let methods = [
    InterfaceMethod<[{Returns the kind of movement of the op; none if it is unknown for this op, which is then not
        treated as a movement.}],
      "::std::optional<::mct::Movement>", "getMovement", (ins)>,
    InterfaceMethod<"Returns the indices of the operands whose elements are moved.",
      "::llvm::SmallVector<unsigned, 4>", "getMovedOperands", (ins), "", [{ return {0}; }]>,
    InterfaceMethod<[{Returns the number of operands, from the first on, that hold data: those that are moved, and
        indices. The operands after them, sizes and offsets, belong to the op like an attribute.}],
      "unsigned", "getNumDataOperands", (ins), "", [{ return 1; }]>,
    InterfaceMethod<[{Returns the positions of the channels of a moved operand along `axis` in the result; none if they
        are no longer along one axis, or if a size that determines it is unknown.}],
      "::std::optional<::mct::ChannelMap>", "mapChannels", (ins "unsigned":$operand, "int64_t":$axis)>,
    InterfaceMethod<"Returns the number that `Movement::Fill` fills with; none if it is unknown.",
      "::std::optional<float>", "getFill", (ins), "", [{ return ::std::nullopt; }]>,
    InterfaceMethod<"Replaces the number to fill with. Requires `getFill()`.",
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
    Ops with one result that describe how the batch follows from their operands to it. An op that implements
    `ElementwiseOpInterface` and is not in destination style need not implement it: the batch is then in the same
    dimension of all its data operands and of its result, whichever that is.
  }];
  let methods = [
    InterfaceMethod<[{Called if some operand depends on the samples: requests from `follower` to move, repeat or take
        operands, and ends with `keep`, which records the dimension of the batch in the result, or with `fail`.}],
      "::llvm::LogicalResult", "followBatch", (ins "::mct::BatchFollower &":$follower)>,
    InterfaceMethod<[{Sets `size`, dynamic for an unknown one, where an operand holds the sizes of the result. The
        type of the result is still the old one, and is changed by the caller.}],
      "void", "setResultSize", (ins "int64_t":$dimension, "int64_t":$size), "", [{}]>,
  ];
}

#endif // MCT_INTERFACES_OPINTERFACES_TD
