// RUN: mct-opt %s --split-input-file --verify-diagnostics

// QC1
// expected-error@+1 {{the quantizer of weight 'kernel_attr' must be one that is trained, such as #tpc.observed_range, or one that stays, such as #tpc.symmetric, but is 4 : i64}}
#c = #tpc.quantize_config<weights = {kernel_attr = 4}>

// -----

// QC1
// expected-error@+1 {{a quantizer of 'activations' must be one that is trained, such as #tpc.observed_range, or one that stays, such as #tpc.symmetric, but is "relu"}}
#c = #tpc.quantize_config<activations = ["relu"]>

// -----

// QC1
// expected-error@+1 {{a quantizer of 'outputs' must be one that is trained, such as #tpc.observed_range, or one that stays, such as #tpc.symmetric, but is unit}}
#c = #tpc.quantize_config<outputs = [unit]>

// -----

// QC2
// expected-error@+1 {{'name' of what made the quantizers is empty}}
#c = #tpc.quantize_config<name = "">

// -----

// QC2
// expected-error@+1 {{'config' belongs to a 'name', and there is none}}
#c = #tpc.quantize_config<config = {}>

// -----

// QC3
// expected-error@+1 {{'per_channel' has the names of weights that have a quantizer, but holds "bias_attr"}}
#c = #tpc.quantize_config<weights = {kernel_attr = #tpc.straight_through<>}, per_channel = ["bias_attr"]>

// -----

// C3
func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{marks an operator, and has no quantizer of its own; mct-quantize-apply inserts the points that 'config' asks for}}
  tpc.quantize %x as "a" activation config(#tpc.quantize_config<>) trainable(#tpc.straight_through<>) : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'config' must be #tpc.attr_quant_config, but got #tpc.quantize_config<>}}
  tpc.quantize %x as "a" weight "kernel_attr" config(#tpc.quantize_config<>) : tensor<4xf32>
  return
}
