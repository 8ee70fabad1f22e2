// SPDX-License-Identifier: Apache-2.0
//
// How parameters are selected: options of the passes that do it, and of those that do it on the way.
#ifndef MCT_TRANSFORMS_OPTIONS_TD
#define MCT_TRANSFORMS_OPTIONS_TD

include "mct/Support/Options.td"

def Mct_KeepPointsOption :
    Option<"keepPoints", "keep-points", "bool", /*default=*/"true",
           "Keep the points of a network that is quantized already, with their parameters; otherwise choose all again">;

def Mct_DecodingOption :
    Option<"decoding", "decode", "::mct::DecodingMode", /*default=*/"::mct::DecodingMode::Float",
           "Treatment of the ops after the last layers of a detector that decode the positions of objects",
           "::mct::decodingModeValues()">;

class Mct_ErrorMethodOption<string text> :
    Option<"errorMethod", "error-method", "::mct::quantization::ErrorMethod",
           /*default=*/"::mct::quantization::ErrorMethod::MSE", text, "::mct::errorMethodValues()">;
def Mct_WeightErrorOption
    : Mct_ErrorMethodOption<"Distance between the float and the quantized weights that is minimized">;
def Mct_ActivationErrorOption
    : Mct_ErrorMethodOption<"Distance between the float and the quantized activations that is minimized">;
def Mct_LpNormOption :
    Option<"lpNorm", "lp-norm", "double", /*default=*/"2.0", "Error method lp: power of the error, 1 to 64">;
def Mct_PercentileOption :
    Option<"percentile", "percentile", "double", /*default=*/"99.99",
           "Error method percentile: percentage of the magnitudes to cover (uniform: of the values, from each side)">;
def Mct_MinThresholdOption :
    Option<"minThreshold", "min-threshold", "double", /*default=*/"0.0",
           "Smallest threshold, rounded up to a power of two if those are required; 0: 2^-16">;
def Mct_ErrorToleranceOption :
    Option<"errorTolerance", "error-tolerance", "double", /*default=*/"1.0",
           "For 8 bits and more, mse or hmse: select the largest threshold with at most this many times the least "
           "error">;

def Mct_ZThresholdOption :
    Option<"zThreshold", "z-threshold", "double", /*default=*/"0.0",
           "Activations: ignore values further than this many standard deviations from the mean; 0: none">;

#endif // MCT_TRANSFORMS_OPTIONS_TD
