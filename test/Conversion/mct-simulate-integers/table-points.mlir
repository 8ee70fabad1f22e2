// Activations that are more than a clamp, fused to what is computed in integers, get a point in front of them.
// RUN: mct-opt %s --mct-simulate-integers | FileCheck %s
// RUN: mct-opt %s --mct-simulate-integers=table-points=false | FileCheck %s --check-prefix=WITHOUT
// RUN: mct-opt %s --mct-simulate-integers=remarks=true --verify-diagnostics -o /dev/null
// Twice is once.
// RUN: mct-opt %s --mct-simulate-integers -o %t.mlir
// RUN: mct-opt %t.mlir --mct-simulate-integers | diff - %t.mlir

// WITHOUT-NOT: as "swish_input"
// WITHOUT:     as "swish" activation {{.*}}rounding = half_up

// x * sigmoid(x): beyond -8 it makes what it makes there, and 3.2 is the largest that was seen.
// CHECK-LABEL: func.func @swish
// CHECK:         %[[SUM:.*]] = tosa.add
// CHECK:         %[[INNER:.*]] = tpc.quantize %[[SUM]] as "swish_input" activation parameters(#tpc.power_of_two<threshold = [8.000000e+00], bits = 8, rounding = half_up>)
// CHECK:         %[[SIGMOID:.*]] = tosa.sigmoid %[[INNER]]
// CHECK:         tosa.mul %[[INNER]], %[[SIGMOID]]
func.func @swish(%a: tensor<1x4x4x8xf32>, %b: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %qa = tpc.quantize %a as "a" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x4x4x8xf32>
  %qb = tpc.quantize %b as "b" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x4x4x8xf32>
  // expected-remark @below {{gets a point before 'swish': -8.000000e+00 to 7.937500e+00}}
  %0 = tosa.add %qa, %qb : (tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  %1 = tosa.sigmoid %0 : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  %2 = tosa.mul %0, %1, %shift : (tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>, tensor<1xi8>) -> tensor<1x4x4x8xf32>
  %3 = tpc.quantize %2 as "swish" activation statistics(#tpc.statistics<count = 100, zeros = 0, min = -0.27, max = 3.2, histogram = #tpc.histogram<step_exponent = -2, first = -2, counts = dense<[2, 30, 20, 10, 5, 5, 5, 5, 5, 3, 2, 2, 2, 2, 2]> : tensor<15xi64>>>) parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x4x4x8xf32>
  return %3 : tensor<1x4x4x8xf32>
}

// A grid of the same kind; without statistics for all that the outer grid holds.
// CHECK-LABEL: func.func @uniform
// CHECK:         %[[MUL:.*]] = tosa.mul
// CHECK:         %[[INNER:.*]] = tpc.quantize %[[MUL]] as "{{.*}}" activation parameters(#tpc.uniform<scale = [0.0222{{[0-9]*}}], zero_point = [135], bits = 8, rounding = half_up>)
// CHECK:         tosa.tanh %[[INNER]]
func.func @uniform(%a: tensor<1x4x4x8xf32>, %b: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %qa = tpc.quantize %a as "a" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x4x4x8xf32>
  %qb = tpc.quantize %b as "b" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x4x4x8xf32>
  // expected-remark @below {{gets a point before 'tanh': -3.002757e+00 to 2.669118e+00}}
  %0 = tosa.mul %qa, %qb, %shift : (tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>, tensor<1xi8>) -> tensor<1x4x4x8xf32>
  %1 = tosa.tanh %0 : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  %3 = tpc.quantize %1 as "tanh" activation parameters(#tpc.uniform<scale = [0.0078], zero_point = [128], bits = 8>) : tensor<1x4x4x8xf32>
  return %3 : tensor<1x4x4x8xf32>
}

// x * clamp(x + 3) / 6, of one value in two ways.
// CHECK-LABEL: func.func @hard_swish
// CHECK:         %[[SUB:.*]] = tosa.sub
// CHECK:         %[[INNER:.*]] = tpc.quantize %[[SUB]] as "{{.*}}" activation parameters(#tpc.symmetric<threshold = [5.000000e+00], bits = 8, rounding = half_up>)
// CHECK:         %[[ADD:.*]] = tosa.add %[[INNER]]
// CHECK:         %[[CLAMP:.*]] = tosa.clamp %[[ADD]]
// CHECK:         tosa.mul %[[INNER]], %[[CLAMP]]
func.func @hard_swish(%a: tensor<1x4x4x8xf32>, %b: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %three = "tosa.const"() <{values = dense<3.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %sixth = "tosa.const"() <{values = dense<0.166666672> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %qa = tpc.quantize %a as "a" activation parameters(#tpc.symmetric<threshold = [4.0], bits = 8>) : tensor<1x4x4x8xf32>
  %qb = tpc.quantize %b as "b" activation parameters(#tpc.symmetric<threshold = [4.0], bits = 8>) : tensor<1x4x4x8xf32>
  // expected-remark @below {{gets a point before 'hard_swish': -5.000000e+00 to 4.960938e+00}}
  %0 = tosa.sub %qa, %qb : (tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  %1 = tosa.add %0, %three : (tensor<1x4x4x8xf32>, tensor<1x1x1x1xf32>) -> tensor<1x4x4x8xf32>
  %2 = tosa.clamp %1 {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  %4 = tosa.mul %0, %2, %shift : (tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>, tensor<1xi8>) -> tensor<1x4x4x8xf32>
  %5 = tosa.mul %4, %sixth, %shift : (tensor<1x4x4x8xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x4x4x8xf32>
  %3 = tpc.quantize %5 as "hard_swish" activation parameters(#tpc.symmetric<threshold = [5.0], bits = 8>) : tensor<1x4x4x8xf32>
  return %3 : tensor<1x4x4x8xf32>
}

// Limits of codes do what clamps do.
// CHECK-LABEL: func.func @clamps
// CHECK:         %[[SUB:.*]] = tosa.sub
// CHECK-NEXT:    tosa.clamp %[[SUB]]
func.func @clamps(%a: tensor<1x4x4x8xf32>, %b: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> {
  %qa = tpc.quantize %a as "a" activation parameters(#tpc.symmetric<threshold = [4.0], bits = 8>) : tensor<1x4x4x8xf32>
  %qb = tpc.quantize %b as "b" activation parameters(#tpc.symmetric<threshold = [4.0], bits = 8>) : tensor<1x4x4x8xf32>
  %0 = tosa.sub %qa, %qb : (tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  %2 = tosa.clamp %0 {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  %3 = tpc.quantize %2 as "relu6" activation parameters(#tpc.symmetric<threshold = [5.0], bits = 8>) : tensor<1x4x4x8xf32>
  return %3 : tensor<1x4x4x8xf32>
}

// What is looked up is quantized already, and other readers of a value keep it.
// CHECK-LABEL: func.func @present
// CHECK:         %[[SUM:.*]] = tosa.add
// CHECK:         %[[INNER:.*]] = tpc.quantize %[[SUM]] as "tanh_input"
// CHECK:         tosa.tanh %[[INNER]]
// CHECK:         tosa.abs %[[SUM]]
func.func @present(%a: tensor<1x8xf32>) -> (tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>) {
  %qa = tpc.quantize %a as "a" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x8xf32>
  %sigmoid = tosa.sigmoid %qa : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %0 = tpc.quantize %sigmoid as "sigmoid" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, is_signed = false>) : tensor<1x8xf32>
  // expected-remark @below {{gets a point before 'tanh'}}
  %sum = tosa.add %qa, %0 : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
  %tanh = tosa.tanh %sum : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %1 = tpc.quantize %tanh as "tanh" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8>) : tensor<1x8xf32>
  %abs = tosa.abs %sum : (tensor<1x8xf32>) -> tensor<1x8xf32>
  return %0, %1, %abs : tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>
}

// No table has so many entries.
// CHECK-LABEL: func.func @wide
// CHECK:         tosa.add
// CHECK-NEXT:    tosa.tanh
func.func @wide(%a: tensor<1x8xf32>, %b: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %qa = tpc.quantize %a as "a" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 16>) : tensor<1x8xf32>
  %qb = tpc.quantize %b as "b" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 16>) : tensor<1x8xf32>
  // expected-remark @below {{gets no point before 'tanh': that has 16 bits, more than a table of codes has}}
  %sum = tosa.add %qa, %qb : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
  %tanh = tosa.tanh %sum : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %1 = tpc.quantize %tanh as "tanh" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 16>) : tensor<1x8xf32>
  return %1 : tensor<1x8xf32>
}

// A sum times a number is a mean: one rescale computes that, and clamps after it are limits of codes.
// CHECK-LABEL: func.func @mean
// CHECK:         %[[SUM:.*]] = tosa.reduce_sum
// CHECK-NEXT:    %[[FLAT:.*]] = tosa.reshape %[[SUM]]
// CHECK-NEXT:    %[[MEAN:.*]] = tosa.mul %[[FLAT]]
// CHECK-NEXT:    tosa.clamp %[[MEAN]]
// CHECK-NEXT:    tpc.quantize {{.*}} as "mean"
// A clamp in between is not, nor is a negative number.
// CHECK:         tosa.reduce_sum
// CHECK:         tpc.quantize {{.*}} as "clamped_input"
// CHECK:         tosa.reduce_sum
// CHECK:         tpc.quantize {{.*}} as "negative_input"
func.func @mean(%a: tensor<1x4x8xf32>) -> (tensor<1x8xf32>, tensor<1x1x8xf32>, tensor<1x1x8xf32>) {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %fourth = "tosa.const"() <{values = dense<0.25> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %positive = "tosa.const"() <{values = dense<0.25> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %negative = "tosa.const"() <{values = dense<-0.25> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %shape = tosa.const_shape {values = dense<[1, 8]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %qa = tpc.quantize %a as "a" activation parameters(#tpc.symmetric<threshold = [4.0], bits = 8>) : tensor<1x4x8xf32>
  %0 = tosa.reduce_sum %qa {axis = 1 : i32} : (tensor<1x4x8xf32>) -> tensor<1x1x8xf32>
  %1 = tosa.reshape %0, %shape : (tensor<1x1x8xf32>, !tosa.shape<2>) -> tensor<1x8xf32>
  %2 = tosa.mul %1, %fourth, %shift : (tensor<1x8xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x8xf32>
  %3 = tosa.clamp %2 {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %4 = tpc.quantize %3 as "mean" activation parameters(#tpc.symmetric<threshold = [5.0], bits = 8>) : tensor<1x8xf32>
  // expected-remark @below {{gets a point before 'clamped'}}
  %5 = tosa.reduce_sum %qa {axis = 1 : i32} : (tensor<1x4x8xf32>) -> tensor<1x1x8xf32>
  %6 = tosa.clamp %5 {min_val = -1.0 : f32, max_val = 6.0 : f32} : (tensor<1x1x8xf32>) -> tensor<1x1x8xf32>
  %7 = tosa.mul %6, %positive, %shift : (tensor<1x1x8xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x8xf32>
  %8 = tpc.quantize %7 as "clamped" activation parameters(#tpc.symmetric<threshold = [5.0], bits = 8>) : tensor<1x1x8xf32>
  // expected-remark @below {{gets a point before 'negative'}}
  %9 = tosa.reduce_sum %qa {axis = 1 : i32} : (tensor<1x4x8xf32>) -> tensor<1x1x8xf32>
  %10 = tosa.mul %9, %negative, %shift : (tensor<1x1x8xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x8xf32>
  %11 = tpc.quantize %10 as "negative" activation parameters(#tpc.symmetric<threshold = [5.0], bits = 8>) : tensor<1x1x8xf32>
  return %4, %8, %11 : tensor<1x8xf32>, tensor<1x1x8xf32>, tensor<1x1x8xf32>
}

// Ops that only move values keep the grid of a point.
// CHECK-LABEL: func.func @moved
// CHECK:         %[[POINT:.*]] = tpc.quantize %{{.*}} as "a"
// CHECK-NEXT:    %[[FLAT:.*]] = tosa.reshape %[[POINT]]
// CHECK-NEXT:    tosa.sigmoid %[[FLAT]]
func.func @moved(%a: tensor<1x8xf32>) -> tensor<8xf32> {
  %shape = tosa.const_shape {values = dense<[8]> : tensor<1xindex>} : () -> !tosa.shape<1>
  %qa = tpc.quantize %a as "a" activation parameters(#tpc.uniform<scale = [0.03], zero_point = [7], bits = 8>) : tensor<1x8xf32>
  %0 = tosa.reshape %qa, %shape : (tensor<1x8xf32>, !tosa.shape<1>) -> tensor<8xf32>
  %1 = tosa.sigmoid %0 : (tensor<8xf32>) -> tensor<8xf32>
  %2 = tpc.quantize %1 as "sigmoid" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, is_signed = false>) : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// 43.4 / 48 is in a bin that is narrower than the difference of two results, and there is only one value of that size.
// CHECK-LABEL: func.func @sparse
// CHECK:         %[[SUM:.*]] = tosa.add
// CHECK:         tpc.quantize %[[SUM]] as "{{.*}}" activation parameters(#tpc.uniform<scale = [0.16960784{{[0-9]*}}], zero_point = [0], bits = 8, rounding = half_up>)
func.func @sparse(%a: tensor<1x1xf32>, %b: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %number = "tosa.const"() <{values = dense<0.020833334> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %qa = tpc.quantize %a as "a" activation parameters(#tpc.uniform<scale = [0.1], zero_point = [0], bits = 8>) : tensor<1x1xf32>
  %qb = tpc.quantize %b as "b" activation parameters(#tpc.uniform<scale = [0.1], zero_point = [0], bits = 8>) : tensor<1x1xf32>
  // expected-remark @below {{gets a point before 'mul': 0.000000e+00 to 4.3}}
  %0 = tosa.add %qa, %qb : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
  %1 = tosa.mul %0, %number, %shift : (tensor<1x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x1xf32>
  %2 = tpc.quantize %1 as "mul" activation statistics(#tpc.statistics<count = 20, zeros = 19, min = 0.0, max = 0.9034, histogram = #tpc.histogram<step_exponent = -12, first = 3700, counts = dense<[1]> : tensor<1xi64>>>) parameters(#tpc.uniform<scale = [0.0036], zero_point = [0], bits = 8>) : tensor<1x1xf32>
  return %2 : tensor<1x1xf32>
}
