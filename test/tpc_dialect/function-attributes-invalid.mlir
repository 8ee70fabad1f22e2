// RUN: mct-opt %s --split-input-file --verify-diagnostics -o /dev/null

// expected-error @below {{'tpc.sensitivities' is not a dictionary; expected {metric = "kl", "mse" or "logits", samples = N, of = {OPERATOR = [a number for each alternative], ...}}}}
func.func private @f() attributes {tpc.sensitivities = 4 : i64}

// -----

// expected-error @below {{'tpc.sensitivities' has no table 'of'; expected}}
func.func private @f() attributes {tpc.sensitivities = {metric = "kl"}}

// -----

// expected-error @below {{'tpc.sensitivities' has something else than a list of finite numbers for 'conv'; expected}}
func.func private @f() attributes {tpc.sensitivities = {of = {conv = [0.5, 0x7F800000 : f32]}}}

// -----

// expected-error @below {{'tpc.sensitivities' has something else than a list of finite numbers for 'conv'; expected}}
func.func private @f() attributes {tpc.sensitivities = {of = {conv = "much"}}}

// -----

// expected-error @below {{'tpc.sensitivities' has another 'metric'; expected}}
func.func private @f() attributes {tpc.sensitivities = {metric = "cosine", of = {}}}

// -----

// expected-error @below {{'tpc.sensitivities' has 'samples' that are not a positive i64; expected}}
func.func private @f() attributes {tpc.sensitivities = {samples = 0 : i64, of = {}}}

// -----

// expected-error @below {{'tpc.sensitivities' has other 'points' than {fraction = an f64 above 0 and at most 1, distance = one of auto, mse, cosine, kl, weighting = one of average, last-layer, exponential, hessian}}}
func.func private @f() attributes {tpc.sensitivities = {points = "all", of = {}}}

// -----

// expected-error @below {{'tpc.sensitivities' has other 'points' than}}
func.func private @f() attributes {tpc.sensitivities = {points = {fraction = 1.0, distance = "mse"}, of = {}}}

// -----

// expected-error @below {{'tpc.sensitivities' has other 'points' than}}
func.func private @f() attributes {tpc.sensitivities = {points = {fraction = 0.0, distance = "mse", weighting = "average"}, of = {}}}

// -----

// expected-error @below {{'tpc.sensitivities' has other 'points' than}}
func.func private @f() attributes {tpc.sensitivities = {points = {fraction = 1.5, distance = "mse", weighting = "average"}, of = {}}}

// -----

// expected-error @below {{'tpc.sensitivities' has other 'points' than}}
func.func private @f() attributes {tpc.sensitivities = {points = {fraction = 1.0, distance = "near", weighting = "average"}, of = {}}}

// -----

// expected-error @below {{'tpc.sensitivities' has other 'points' than}}
func.func private @f() attributes {tpc.sensitivities = {points = {fraction = 1.0, distance = "mse", weighting = "sum"}, of = {}}}

// -----

// expected-error @below {{'tpc.budget' is not a dictionary of limits; expected positive i64 for some of weights_bytes, activations_bytes, total_bytes, bops}}
func.func private @f() attributes {tpc.budget = 4 : i64}

// -----

// expected-error @below {{'tpc.budget' is not a dictionary of limits; expected positive i64 for some of weights_bytes, activations_bytes, total_bytes, bops}}
func.func private @f() attributes {tpc.budget = {}}

// -----

// expected-error @below {{'tpc.budget' is not a dictionary of limits; expected positive i64 for some of weights_bytes, activations_bytes, total_bytes, bops}}
func.func private @f() attributes {tpc.budget = {weights_bytes = 0 : i64}}

// -----

// expected-error @below {{'tpc.budget' is not a dictionary of limits; expected positive i64 for some of weights_bytes, activations_bytes, total_bytes, bops}}
func.func private @f() attributes {tpc.budget = {bytes = 4 : i64}}

// -----

// expected-error @below {{'tpc.budget' is not a dictionary of limits; expected positive i64 for some of weights_bytes, activations_bytes, total_bytes, bops}}
func.func private @f() attributes {tpc.budget = {bops = "many"}}

// -----

// expected-error @below {{'tpc.budget' is not a dictionary of limits; expected positive i64 for some of weights_bytes, activations_bytes, total_bytes, bops}}
func.func private @f() attributes {tpc.budget = {total_bytes = 4 : i32}}

// -----

// expected-error @below {{'tpc.overrides' is not a list of rules; expected strings}}
func.func private @f() attributes {tpc.overrides = "name conv float"}

// -----

// expected-error @below {{'tpc.overrides' is not a list of rules; expected strings}}
func.func private @f() attributes {tpc.overrides = ["name conv float", 4]}

// -----

// expected-error @below {{'tpc.integer_rounding' is not the rounding of an integer network; expected one of half-up, half-even, double, double-convolutions}}
func.func private @f() attributes {tpc.integer_rounding = "up"}

// -----

// expected-error @below {{'tpc.rejected_corrections' is not a list; expected dictionaries}}
func.func private @f() attributes {tpc.rejected_corrections = "bias"}

// -----

// expected-error @below {{'tpc.rejected_corrections' has something else than dictionaries; expected}}
func.func private @f() attributes {tpc.rejected_corrections = ["bias"]}

// -----

// expected-error @below {{'tpc.rejected_corrections' has a 'correction' that is none of quantized_network, input_mean, activation_bias, second_moment, rounded_weights, shift_negative, channel_equalization, residual_equalization, parts_rescaling, threshold_refinement; expected}}
func.func private @f() attributes {tpc.rejected_corrections = [{correction = "luck", loss = 1.0, samples = 8 : i64}]}

// -----

// expected-error @below {{'tpc.rejected_corrections' has no 'loss' that is a finite f64; expected}}
func.func private @f() attributes {tpc.rejected_corrections = [{correction = "input_mean", loss = 0x7FF0000000000000 : f64, samples = 8 : i64}]}

// -----

// expected-error @below {{'tpc.rejected_corrections' has no 'samples' that are a positive i64; expected}}
func.func private @f() attributes {tpc.rejected_corrections = [{correction = "input_mean", loss = 1.0, samples = 0 : i64}]}

// -----

// expected-error @below {{'tpc.rejected_corrections' has a member 'layers' that is not as expected; expected}}
func.func private @f() attributes {tpc.rejected_corrections = [{correction = "input_mean", layers = [], loss = 1.0, samples = 8 : i64}]}

// -----

// expected-error @below {{'tpc.rejected_corrections' has a member 'output' that is not as expected; expected}}
func.func private @f() attributes {tpc.rejected_corrections = [{correction = "input_mean", loss = 1.0, output = -1 : i64, samples = 8 : i64}]}

// -----

// expected-error @below {{'tpc.rejected_corrections' has a member 'standard_error' that is not as expected; expected}}
func.func private @f() attributes {tpc.rejected_corrections = [{correction = "input_mean", loss = 1.0, samples = 8 : i64, standard_error = 1 : i64}]}

// -----

// expected-error @below {{'tpc.rejected_corrections' has a member 'reason' that is not as expected; expected}}
func.func private @f() attributes {tpc.rejected_corrections = [{correction = "input_mean", loss = 1.0, reason = "", samples = 8 : i64}]}
