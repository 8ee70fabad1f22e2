// RUN: not mct-opt %s --mct-select-parameters="lp-norm=0.5" 2>&1 | FileCheck %s --check-prefix=NORM
// RUN: not mct-opt %s --mct-select-parameters="lp-norm=-1" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not mct-opt %s --mct-select-parameters="lp-norm=65" 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: not mct-opt %s --mct-select-parameters="percentile=0" 2>&1 | FileCheck %s --check-prefix=PERCENTILE
// RUN: not mct-opt %s --mct-select-parameters="percentile=100.5" 2>&1 | FileCheck %s --check-prefix=PERCENTILE
// RUN: not mct-opt %s --mct-select-parameters="min-threshold=-1" 2>&1 | FileCheck %s --check-prefix=MIN
// RUN: not mct-opt %s --mct-select-parameters="z-threshold=-3" 2>&1 | FileCheck %s --check-prefix=Z
// RUN: not mct-opt %s --mct-select-parameters="error-method=hmse" 2>&1 | FileCheck %s --check-prefix=HMSE
// RUN: not mct-opt %s --mct-select-parameters="error-method=median" 2>&1 | FileCheck %s --check-prefix=METHOD
// RUN: not mct-opt %s --mct-select-weight-parameters="lp-norm=nan" 2>&1 | FileCheck %s --check-prefix=NAN
// RUN: not mct-opt %s --mct-select-weight-parameters="percentile=-1" 2>&1 | FileCheck %s --check-prefix=PERCENTILE
// RUN: not mct-opt %s --mct-select-weight-parameters="min-threshold=inf" 2>&1 | FileCheck %s --check-prefix=MIN
// RUN: not mct-opt %s --mct-select-weight-parameters="error-tolerance=0.5" 2>&1 | FileCheck %s --check-prefix=TOLERANCE
// RUN: not mct-opt %s --mct-select-weight-parameters="error-tolerance=nan" 2>&1 | FileCheck %s --check-prefix=TOLERANCE
// RUN: not mct-opt %s --mct-select-weight-parameters="error-tolerance=inf" 2>&1 | FileCheck %s --check-prefix=TOLERANCE
// RUN: not mct-opt %s --mct-select-weight-parameters="error-tolerance=2 error-method=mae" 2>&1 | FileCheck %s --check-prefix=SQUARED
// RUN: not mct-opt %s --mct-select-weight-parameters="error-tolerance=2 error-method=no-clipping" 2>&1 | FileCheck %s --check-prefix=SQUARED
// RUN: not mct-opt %s --mct-select-weight-parameters="error-tolerance=2 error-method=lp lp-norm=3" 2>&1 | FileCheck %s --check-prefix=SQUARED
// RUN: mct-opt %s --mct-select-weight-parameters="error-tolerance=2 error-method=lp lp-norm=2" | FileCheck %s --check-prefix=MODULE

// NORM:       error: lp-norm is 5.000000e-01; it must be 1 to 64
// NEGATIVE:   error: lp-norm is -1.000000e+00; it must be 1 to 64
// LARGE:      error: lp-norm is 6.500000e+01; it must be 1 to 64
// NAN:        error: lp-norm is nan; it must be 1 to 64
// PERCENTILE: error: percentile is {{.*}}; it must be above 0 and at most 100
// MIN:        error: min-threshold is {{.*}}; it must be 1.175494e-38 to 3.402823e+38, or 0 for 2^-16
// Z:          error: z-threshold is -3.000000e+00; it must be positive, or 0 for none
// TOLERANCE:  error: error-tolerance is {{5.000000e-01|nan|INF}}; it must be a number from 1 on
// SQUARED:    error: error-tolerance is 2.000000e+00; it needs error-method=mse or hmse
// MODULE:     module {
// HMSE:       error: error-method=hmse weighs the elements of kernels; for activations use mse
// METHOD:     Cannot find option named 'median'
module {
}
