// What remarks say, as data: the numbers of the text are those of the record.
// RUN: rm -rf %t && mkdir %t
// RUN: mct-opt %s --mct-select-parameters=remarks=true --mct-records=%t/records.json -o %t/out.mlir 2> %t/remarks.txt
// RUN: FileCheck %s < %t/records.json
// RUN: FileCheck %s --check-prefix=TEXT < %t/remarks.txt
// RUN: FileCheck %s --check-prefix=POINT < %t/out.mlir

// Functions are worked on by several threads; their records come in the order of the functions, always.
// RUN: mct-opt %s --mct-update-concat-thresholds=remarks=true --mct-records=%t/all.json -o %t/out.mlir 2> %t/remarks.txt
// RUN: mct-opt %s --mct-update-concat-thresholds=remarks=true --mct-records=%t/one.json -o %t/out.mlir --mlir-disable-threading 2> %t/remarks.txt
// RUN: diff %t/all.json %t/one.json
// RUN: FileCheck %s --check-prefix=ORDER < %t/all.json

// Without the option of the pass there is nothing to tell.
// RUN: mct-opt %s --mct-select-parameters --mct-records=%t/none.json -o %t/out.mlir
// RUN: FileCheck %s --check-prefix=NONE < %t/none.json

// A failing run leaves no file, and no file of the run is overwritten.
// RUN: not mct-opt %s --mct-insert-quantizers --mct-records=%t/absent.json -o %t/absent.mlir 2>&1 | FileCheck %s --check-prefix=FAILS
// RUN: not ls %t/absent.json
// RUN: not mct-opt %s --mct-records=%t/no_such_folder/records.json -o %t/absent.mlir 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: not mct-opt %s --mct-records=%t/same.json -o %t/same.json 2>&1 | FileCheck %s --check-prefix=SAME
// RUN: not ls %t/same.json %t/absent.mlir

// CHECK:      "records": [
// CHECK:          "decision": "applied",
// CHECK-NEXT:     "location": "{{.*}}records.mlir\":
// CHECK-NEXT:     "name": "pot",
// CHECK-NEXT:     "notes": [],
// CHECK-NEXT:     "op": "tpc.quantize",
// CHECK-NEXT:     "pass": "mct-select-parameters",
// CHECK-NEXT:     "reason": "selected-parameters",
// CHECK-NEXT:     "text": "mean squared error 4.000000e+00, the least there is",
// CHECK-NEXT:     "values": {
// CHECK-NEXT:       "certificate": "exact",
// CHECK-NEXT:       "error": 4,
// CHECK-NEXT:       "error_method": "mse"
// CHECK:          "reason": "covers-known-range",
// CHECK-NEXT:     "text": "covers -1.000000e+00 to 1.000000e+00 without a search",
// CHECK-NEXT:     "values": {
// CHECK-NEXT:       "from": -1,
// CHECK-NEXT:       "to": 1
// TEXT:  remark: mean squared error 4.000000e+00, the least there is
// TEXT:  remark: covers -1.000000e+00 to 1.000000e+00 without a search
// POINT: selection(#tpc.selection<error_method = mse, error = [4.000000e+00], certificate = exact>)
// POINT: selection(#tpc.selection<error_method = range, covers = [-1.000000e+00, 1.000000e+00]>)

// ORDER:      "decision": "applied",
// ORDER:      "name": "first",
// ORDER:      "pass": "mct-update-concat-thresholds",
// ORDER-NEXT: "reason": "took-parameters",
// ORDER-NEXT: "text": "'first' takes the parameters of the concatenation 'c': threshold 4.000000e+00 to 1.600000e+01",
// ORDER-NEXT: "values": {
// ORDER-NEXT:   "new_threshold": 16,
// ORDER-NEXT:   "result": "c",
// ORDER-NEXT:   "threshold": 4
// ORDER:      "name": "second",
// ORDER:      "name": "third",
// ORDER:      "decision": "declined",
// ORDER:      "name": "fourth",
// ORDER:      "reason": "bits-differ",
// NONE:   "records": []
// FAILS:  error: {{.*}}target
// FOLDER: error: mct-records: {{.*}}no_such_folder/records.json
// SAME:   error: mct-records: {{.*}}same.json
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#pot = #tpc.op_quant_config<act_method = power_of_two, act_bits = 2, input_bits = [8], default_weight = #w>
func.func @main(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // Four times 10.0: 16 has the levels 0, 4, 8, 12, 8 has 0 to 6 and 32 has 0, 8, 16.
  %0 = tpc.quantize %arg0 as "pot" activation config(#pot)
    statistics(#tpc.statistics<count = 4, zeros = 0, min = 10.0, max = 10.0, histogram = #tpc.histogram<step_exponent = -8, first = 2560, counts = dense<4> : tensor<1xi64>>>) : tensor<4xf32>
  %1 = tpc.quantize %arg0 as "tanh" activation config(#pot) range(#tpc.range<-1.0, 1.0>)
    statistics(#tpc.statistics<count = 4, zeros = 0, min = 0.5, max = 0.75>) : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
func.func @first(%arg0: tensor<1x2xf32>) -> tensor<1x4xf32> {
  %a = tpc.quantize %arg0 as "first" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x2xf32>
  %c = tosa.concat %a, %arg0 {axis = 1 : i32} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x4xf32>
  %0 = tpc.quantize %c as "c" activation parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}
func.func @second(%arg0: tensor<1x2xf32>) -> tensor<1x4xf32> {
  %a = tpc.quantize %arg0 as "second" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x2xf32>
  %c = tosa.concat %a, %arg0 {axis = 1 : i32} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x4xf32>
  %0 = tpc.quantize %c as "c" activation parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}
func.func @third(%arg0: tensor<1x2xf32>) -> tensor<1x4xf32> {
  %a = tpc.quantize %arg0 as "third" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x2xf32>
  %c = tosa.concat %a, %arg0 {axis = 1 : i32} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x4xf32>
  %0 = tpc.quantize %c as "c" activation parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}
func.func @fourth(%arg0: tensor<1x2xf32>) -> tensor<1x4xf32> {
  %a = tpc.quantize %arg0 as "fourth" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 4>) : tensor<1x2xf32>
  %c = tosa.concat %a, %arg0 {axis = 1 : i32} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x4xf32>
  %0 = tpc.quantize %c as "c" activation parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}
