// SPDX-License-Identifier: Apache-2.0
//
// Enumerations of the numerics that attributes of the dialect store, too: their C++ enums, words and numbers are written
// once. The generated code includes no header of MLIR.
#ifndef MCT_QUANTIZERS_KINDS_TD
#define MCT_QUANTIZERS_KINDS_TD

include "mlir/IR/EnumAttr.td"

class Mct_Kind<string name, string summary, list<I32EnumCase> cases> : I32Enum<name, summary, cases> {
  let cppNamespace = "::mct::quantization";
}

/// Family of grids: threshold a power of two, any threshold, any step and zero point; or a table of levels (Lut.h), with a
/// threshold of either kind. The integer codes are the ones that MCT's JSON stores.
def Mct_QuantizationMethod : Mct_Kind<"QuantizationMethod", "quantization method", [
  I32EnumCase<"PowerOfTwo", 0, "power_of_two">,
  I32EnumCase<"LutPowerOfTwo", 1, "lut_pot_quantizer">,
  I32EnumCase<"Symmetric", 2, "symmetric">,
  I32EnumCase<"Uniform", 3, "uniform">,
  I32EnumCase<"LutSymmetric", 4, "lut_sym_quantizer">
]>;

/// How a range is chosen. The searches minimize a distance between the values x and their quantized counterparts y; e =
/// x - y. The last five are not searched for by lib/Quantization: they name the source of the parameters.
def Mct_ErrorMethod : Mct_Kind<"ErrorMethod", "error method", [
  I32EnumCase<"MSE", 0, "mse">,                // mean of e^2
  I32EnumCase<"MAE", 1, "mae">,                // mean of |e|
  I32EnumCase<"LP", 2, "lp">,                  // mean of |e|^p, no root
  I32EnumCase<"KL", 3, "kl">,                  // divergence of the distributions (DivergenceSearch.h), in nats
  I32EnumCase<"HMSE", 4, "hmse">,              // mean of h e^2 over the mean of h, h the weight of the element
  I32EnumCase<"NoClipping", 5, "no_clipping">, // covers every value
  I32EnumCase<"Percentile", 6, "percentile">,  // covers a given part of the magnitudes
  I32EnumCase<"OCTAV", 7, "octav">,            // Newton-like recursion for the clipping of least mean e^2
  I32EnumCase<"Range", 8, "range">,
  I32EnumCase<"Own", 9, "own">,
  I32EnumCase<"Given", 10, "given">,
  I32EnumCase<"LeastSquares", 11, "least_squares">,
  I32EnumCase<"Imported", 12, "imported">
]>;

/// Evidence for the error of a result.
def Mct_Certificate : Mct_Kind<"Certificate", "certificate", [
  I32EnumCase<"None", 0, "none">,                             // not searched for, or not known
  I32EnumCase<"Exact", 1, "exact">,                           // no parameters of the method have a smaller error
  I32EnumCase<"ExactAtThreshold", 2, "exact_at_threshold">,   // none at the same thresholds (tables)
  I32EnumCase<"Bound", 3, "bound">                            // none has an error below error / (1 + bound)
]>;

/// Order in which a device of 256 multipliers reads the codes of compressed weights, by the device.
def Mct_WeightOrder : Mct_Kind<"WeightOrder", "order of weights", [
  I32EnumCase<"EthosU55", 0, "ethos-u55">,
  I32EnumCase<"EthosU85", 1, "ethos-u85">
]>;

#endif // MCT_QUANTIZERS_KINDS_TD
