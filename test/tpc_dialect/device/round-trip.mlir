// RUN: mct-opt %s | mct-opt | FileCheck %s
// RUN: mct-opt %s -emit-bytecode | mct-opt | FileCheck %s

// CHECK:      tpc.device @toy title("the toy") configurations ["toy-256", "toy-512"] for ["a", "b"] integer_only {
// CHECK-NEXT:   tpc.refuse ["tosa.matmul", "tosa.intdiv"] where(#tpc.predicate<"$bits" eq 16 : i64>) reason("multiplies") remedy("add")
// CHECK-NEXT:   tpc.refuse where(#tpc.predicate<"$conditions" gt 0 : i64>) reason("decides") remedy("do not")
// CHECK-NEXT:   tpc.repeated_layers result 6.500000e-01 product 0.019230769230769232 weight 1.400000e+00 sum 2.000000e+00
// CHECK-NEXT:   tpc.staged_arguments burst 16 smallest 1024 memory 4096
// CHECK-NEXT:   tpc.strided_layers channels 24 fewest 16 smallest 16384
// CHECK-NEXT:   tpc.column_sums channels 16 positions 49
// CHECK-NEXT:   tpc.compressed_weights byte 2.500000e-01{{$}}
// CHECK-NEXT:   tpc.cost_table "costs/toy.json"
// CHECK-NEXT:   tpc.onnx_operators missing ["Erf"] wide ["Add"] behind_layers ["Relu"] behind_sums ["Clip"]
// CHECK-NEXT:   tpc.onnx_limits batch 1 bytes 8388608 signed [8, 16] unsigned [8] power_of_two weights [2, 4] symmetric tables_with_zero
// CHECK-NEXT: }
tpc.device @toy title("the toy") configurations ["toy-256", "toy-512"] for ["a", "b"] integer_only {
  tpc.refuse ["tosa.matmul", "tosa.intdiv"] where(#tpc.predicate<"$bits" eq 16>) reason("multiplies") remedy("add")
  tpc.refuse where(#tpc.predicate<"$conditions" gt 0>) reason("decides") remedy("do not")
  tpc.repeated_layers result 0.65 product 0.019230769230769232 weight 1.4 sum 2.0
  tpc.staged_arguments burst 16 smallest 1024 memory 4096
  tpc.strided_layers channels 24 fewest 16 smallest 16384
  tpc.column_sums channels 16 positions 49
  tpc.compressed_weights byte 0.25
  tpc.cost_table "costs/toy.json"
  tpc.onnx_operators missing ["Erf"] wide ["Add"] behind_layers ["Relu"] behind_sums ["Clip"]
  tpc.onnx_limits batch 1 bytes 8388608 signed [8, 16] unsigned [8] power_of_two weights [2, 4] symmetric tables_with_zero
}

// CHECK: tpc.device @free {
// CHECK-NEXT: tpc.strided_layers channels 32{{$}}
// CHECK-NEXT: tpc.compressed_weights byte 3.000000e-01 order "ethos-u85"
// CHECK-NEXT: tpc.onnx_limits batch 4 bytes 1024 signed [] unsigned [8] weights [8]
tpc.device @free {
  tpc.strided_layers channels 32
  tpc.compressed_weights byte 0.3 order "ethos-u85"
  tpc.onnx_limits batch 4 bytes 1024 signed [] unsigned [8] weights [8]
}

// CHECK: tpc.device @plain {
tpc.device @plain {
}
