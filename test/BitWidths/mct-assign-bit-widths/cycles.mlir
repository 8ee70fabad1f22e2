// RUN: split-file %s %t
// RUN: mct-opt %t/main.mlir --mct-assign-bit-widths="budget=cycles:200% cost-table=%S/Inputs/costs.json bit-widths-out=%t.json" | FileCheck %s --check-prefix=ALL
// RUN: FileCheck %s --check-prefix=JSON < %t.json
// RUN: mct-opt %t/main.mlir --mct-assign-bit-widths="budget=cycles:150 cost-table=%S/Inputs/costs.json" | FileCheck %s --check-prefix=FEW
// RUN: mct-opt %t/main.mlir --mct-assign-bit-widths="budget=cycles:50% device=%S/Inputs/npu.mlir" | FileCheck %s --check-prefix=DEVICE

// 288 bytes take 324 cycles, of which percentages are. 64 bytes and fewer take 100.
// ALL: tpc.budget = {cycles = 648 : i64}
// ALL: chosen = 0>
// JSON: "budget": {
// JSON-NEXT: "cycles": 648
// JSON: "resources": {
// JSON: "cycles": 324,
// FEW: tpc.budget = {cycles = 150 : i64}
// FEW: chosen = 1>
// DEVICE: tpc.budget = {cycles = 162 : i64}
// DEVICE: chosen = 1>

// RUN: not mct-opt %t/main.mlir --mct-assign-bit-widths="budget=cycles:99 cost-table=%S/Inputs/costs.json" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not mct-opt %t/main.mlir --mct-assign-bit-widths="budget=cycles:99" 2>&1 | FileCheck %s --check-prefix=TABLE
// RUN: not mct-opt %t/main.mlir --mct-assign-bit-widths="budget=cycles:99 device=ethos-u55" 2>&1 | FileCheck %s --check-prefix=TABLE
// RUN: not mct-opt %t/main.mlir --mct-assign-bit-widths="budget=weights:99% cost-table=%S/Inputs/costs.json" 2>&1 | FileCheck %s --check-prefix=UNUSED
// RUN: not mct-opt %t/activations.mlir --mct-assign-bit-widths="budget=cycles:99 cost-table=%S/Inputs/costs.json" 2>&1 | FileCheck %s --check-prefix=WIDTHS
// RUN: not mct-opt %t/main.mlir --mct-assign-bit-widths="budget=cycles:99 cost-table=%S/../../Inspection/mct-report-costs/Inputs/costs.json" 2>&1 | FileCheck %s --check-prefix=MISSING
// NONE: error: 'func.func' op cannot keep to its budget: cycles would be 100 cycles instead of 99 cycles
// TABLE: error: cycles are known by a table of costs; give cost-table=FILE.json, as mct.cost.write_table writes it
// UNUSED: error: cost-table is for cycles, which nothing limits; give budget=cycles:90%, or max-drop with minimize=cycles
// WIDTHS: error: alternatives of 'relu' have results of 8 and 4 bits; cycles are known of alternatives that differ in their kernels: give activations one width by overrides
// MISSING: error: {{.*}}costs of '{{.*}}' are not in '{{.*}}costs.json' for a kernel of 8 bits

//--- main.mlir
#w8 = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true>
#w2 = #tpc.attr_quant_config<method = symmetric, bits = 2, enabled = true>
func.func @main(%arg0: tensor<1x1x1x32xf32>) -> tensor<1x1x1x8xf32>
    attributes {tpc.sensitivities = {metric = "mse", of = {conv = [4.0e-06, 2.5e-01]}, samples = 4 : i64}} {
  %kernel = "tosa.const"() <{values = dense<"0x0000803FE9F187BC559CE13EF2A48D3E23C258BA5A7F36BF7BFEA53D8F7FACBEF554C03E408B53BE6E833BBF259B3AB77A0D54BF6CA3A53E19CDC33E230EE4BE080A2D3E139B493CFC98E1BE899A4B3F6B6C163FEB89D2BBB191E73A93E2373FD004063EF5B7E4BC8E1D1B3F323E513E5AD0E2BD1DA7913D80AC4ABD0979293AA584F1BEED5A503D48B5D3BD7F2CB23E41C58A3E18BA01BEBD38EABE128087BDE0335D3FAB37C63D58AC923EC75D67BD31E30EBEF46D9EBD430EE4BD10A33D3E6A5155BF3C89E93DF5C4913D60E21FBECDF1C43DB25405BF5E122BBE706723BFAA700F38A12917BA4061BEBDF9A57E3C4EBE01BF9A5A27BDA6E899BB6033163EE2F890BEF088C03DE5A6FA3DA87E5DB7B2C8253DFE5F8DBCD8823A3FFD7366BF83A00B3F648E3BBCEFE54D3B6249B5BDFA7D253EC0B86EBFA12B363C903D7CBD8514933ED2025539541C023B78D02BBFC17DB9395EE8F4BC21B9D23EF8A1383E0BB523B5E6EE52BECE0D64BF7B56A53BBE2B5DBDB98D7E3A9BD1533EF13F953A509CD43CEFBEAA36876C3A3FFC727DBBA89F083F3EB51FBD8A1D9BBC667D16BF35C1433F4EE2E73E602392B9D92D1FBA6E6497BB38B49DBC3F6A5D3EE44E4C3D86BEC13AD41427BF6C7C223B1E2207BD1B95CD39A49611BFABBBC53AEC1EEC39E8A339BEE8FF463D1D26383E4375C4BD7FE1A33A283311BF31A86CBEC2064ABA905510BF4876D9BB815D8B3B5DAB993B619483BB44B2A8BD5E49063FF88F2A3EA2BBFE3C55F18DBE03FAA9B7F74FC43E3F6EBA3D23A8813D591443BFEA04B53A32CDF7BEC36D943E6E8DC93B89C6EDBC9AD73FBD43663B3A363B423ADB20553FD431673F8C890FBD5510FF3EC374733CD50E25BE033C71BCFB2C07BF4B5FC6395C7FC6BE545583BE58A1D83EB0C9F53DE8C786BA975AF039B0B9BDBB099374BF00DBE93CE308043B9F623ABB20BBF2BE4249B9BBD6011F3EED02BBBE930384BCD177A2BE9A2B073FFA7A223E2938AC35DB56A53B50F97337333C6E3F80D07DB91DDE473EAC182EBB28EB803DD63EA73BCDA950BC127EB7BB31B1003EB0FC4D3F06EC5DBCBEF9A53E8876B9BE3D39343E6A596B3FF4CCEAB8039AE3BEF7E1843B2054F8BC28A81C3F41AD933BD43D573E058538BF387CB33B582B9F3D796FF8BD5ED8BC3ECEE2673D3E0E25BE497A13BEF10307BF06DA9CBC701862BF571669BF258BB4BD98846ABFA6A0543FA260803D9F3DAC3DC515623F3944A4BD8177403F2062AF3C73A2D73E935A62BF20D9463E4F0B7DBE843715BFA63AA9BB0F5923BE66BDF63C80A0133FA57BFD3EA31B26BE2BB2973D87E5E8BE45C80C3C73223DBF53BFD7BA9B0626BEE7CFDEB90039403E7B1CAB3D6386DF3E8FAE2530407DBD3E42F8E73CCD16203D479ABD3AF203653DF20C7CBFA72876BF181B5E3EF4EB523F"> : tensor<8x1x1x32xf32>}> : () -> tensor<8x1x1x32xf32>
  %bias = "tosa.const"() <{values = dense<1.0> : tensor<8xf32>}> : () -> tensor<8xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" config(#w8)
    candidates(#tpc.alternatives<of = "conv", configs = [#w8, #w2], chosen = 0>) : tensor<8x1x1x32xf32>
  %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x32xf32>, tensor<8x1x1x32xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x8xf32>
  return %0 : tensor<1x1x1x8xf32>
}

//--- activations.mlir
#float = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#a8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #float>
#a4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 4, input_bits = [8], default_weight = #float>
func.func @main(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32>
    attributes {tpc.sensitivities = {metric = "mse", of = {relu = [0.0, 1.0]}, samples = 4 : i64}} {
  %0 = tosa.clamp %arg0 {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("relu")
  %1 = tpc.quantize %0 as "relu" activation config(#a8)
    candidates(#tpc.alternatives<of = "relu", configs = [#a8, #a4], chosen = 0>)
    range(#tpc.range<0.000000e+00, 6.000000e+00>) statistics(#tpc.statistics<count = 4, zeros = 0, min = 0.0, max = 6.0>) : tensor<1x4xf32>
  return %1 : tensor<1x4xf32>
}
