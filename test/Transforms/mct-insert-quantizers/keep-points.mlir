// RUN: mct-opt %s --tpc-attach-target=target=imx500 --mct-insert-quantizers 2>/dev/null | FileCheck %s
// RUN: mct-opt %s --tpc-attach-target=target=imx500 --mct-insert-quantizers=keep-points=false | FileCheck %s --check-prefix=ANEW
// RUN: mct-opt %s --tpc-attach-target=target=imx500 --mct-insert-quantizers 2>&1 >/dev/null | FileCheck %s --check-prefix=SAID

// Where the target has a point, that has the parameters of the file, in the
// words of its method, and no alternatives.
// CHECK-LABEL: func.func @main
// CHECK-DAG:     %[[IN:.*]] = tpc.quantize %arg0 as "arg0" activation config(#op_config{{[0-9]*}}) parameters(#tpc.power_of_two<threshold = [4.000000e+00], bits = 8>) selection(#tpc.selection<error_method = imported>)
// CHECK-DAG:     %[[W:.*]] = tpc.quantize %{{.*}} as "layer" weight "kernel_attr" axes [0] config(#weight_config{{[0-9]*}}) parameters(#tpc.symmetric<threshold = [1.000000e+00, 2.000000e+00], bits = 8>) selection(#tpc.selection<error_method = imported>)
// CHECK:         %[[C:.*]] = tosa.conv2d %[[IN]], %[[W]]
// What it cannot hold is chosen anew.
// CHECK:         %[[P:.*]] = tpc.quantize %[[C]] as "layer" activation config(#op_config{{[0-9]*}}) : tensor
// CHECK:         %[[POOL:.*]] = tosa.max_pool2d %[[P]]
// Codes that a maximum selects have the parameters of before, unless the file says other ones.
// CHECK:         %[[BESIDE:.*]] = tpc.quantize %[[POOL]] as "pool" activation parameters(#tpc.uniform<scale = [1.000000e-01], zero_point = [9], bits = 8>)
// CHECK:         %[[E:.*]] = tosa.exp %[[BESIDE]]
// A point that is missing is added.
// CHECK:         %[[Q:.*]] = tpc.quantize %[[E]] as "exp" activation config(#op_config{{[0-9]*}}) : tensor
// CHECK:         return %[[Q]]

// SAID:     warning: {{.*}}the target cannot hold the parameters that 'layer' has in its file: it has the zero point 7 above its lowest code, and the method of the target is power_of_two; they are chosen anew
// SAID:     note: {{.*}}they are #tpc.uniform<scale = [5.000000e-02], zero_point = [7], bits = 8>; ask for their bits with overrides, take a target that has them, or choose all anew with keep-points=false
// SAID:     remark: {{.*}}the file has 'pool' where the target has no point of its own; it stays

// ANEW-NOT:   imported
// ANEW:       tpc.quantize %arg0 as "arg0" activation config(#op_config{{[0-9]*}}) : tensor
// ANEW:       as "layer" weight "kernel_attr" axes [0] config(#weight_config{{[0-9]*}}) candidates({{.*}}) : tensor
// ANEW-NOT:   as "pool"

func.func @main(%arg0: tensor<1x4x4x2xf32>) -> tensor<1x2x2x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %in = tpc.quantize %arg0 as "in" activation parameters(#tpc.symmetric<threshold = [4.0], bits = 8>) selection(#tpc.selection<error_method = imported>) : tensor<1x4x4x2xf32>
  %k = "tosa.const"() <{values = dense<[[[[0.5, -0.25]]], [[[1.0, 0.125]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %w = tpc.quantize %k as "layer" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0, 2.0], bits = 8>) selection(#tpc.selection<error_method = imported>) : tensor<2x1x1x2xf32>
  %b = "tosa.const"() <{values = dense<[0.5, 0.25]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %0 = tosa.conv2d %in, %w, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32> loc("layer")
  %q = tpc.quantize %0 as "layer" activation parameters(#tpc.uniform<scale = [0.05], zero_point = [7], bits = 8>) selection(#tpc.selection<error_method = imported>) : tensor<1x4x4x2xf32>
  %1 = tosa.max_pool2d %q {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x4x4x2xf32>) -> tensor<1x2x2x2xf32> loc("pool")
  %r = tpc.quantize %1 as "pool" activation parameters(#tpc.uniform<scale = [0.1], zero_point = [9], bits = 8>) selection(#tpc.selection<error_method = imported>) : tensor<1x2x2x2xf32>
  %2 = tosa.exp %r : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32> loc("exp")
  return %2 : tensor<1x2x2x2xf32>
}

// What the file quantizes after a ReLU alone has no point in front of it, though the target has one for the sum.
// CHECK-LABEL: func.func @relu
// CHECK:         %[[S:.*]] = tosa.exp
// CHECK-NEXT:    %[[R:.*]] = tosa.clamp %[[S]]
// CHECK-NEXT:    tpc.quantize %[[R]] as "relu" activation config({{.*}}) parameters(#tpc.power_of_two<threshold = [8.000000e+00], bits = 8, is_signed = false>)
// ANEW-LABEL: func.func @relu
// ANEW:         %[[S:.*]] = tosa.exp
// ANEW-NEXT:    %[[P:.*]] = tpc.quantize %[[S]]
// ANEW-NEXT:    tosa.clamp %[[P]]
func.func @relu(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = tosa.exp %arg0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %1 = tosa.clamp %0 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("relu")
  %2 = tpc.quantize %1 as "relu" activation parameters(#tpc.symmetric<threshold = [8.0], bits = 8, is_signed = false>) selection(#tpc.selection<error_method = imported>) : tensor<1x4xf32>
  return %2 : tensor<1x4xf32>
}

// The target's point before a ReLU stays where the file has one there that the target cannot hold.
// CHECK-LABEL: func.func @both
// CHECK:         %[[S:.*]] = tosa.exp
// CHECK-NEXT:    %[[P:.*]] = tpc.quantize %[[S]] as "exp" activation config({{.*}}) : tensor
// CHECK:         %[[R:.*]] = tosa.clamp %[[P]]
// CHECK-NEXT:    %[[Q:.*]] = tpc.quantize %[[R]] as "relu" activation config({{.*}}) parameters(#tpc.power_of_two<threshold = [8.000000e+00], bits = 8, is_signed = false>)
// CHECK-NEXT:    return %[[Q]]
func.func @both(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = tosa.exp %arg0 : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("exp")
  %1 = tpc.quantize %0 as "exp" activation parameters(#tpc.symmetric<threshold = [3.0], bits = 8>) selection(#tpc.selection<error_method = imported>) : tensor<1x4xf32>
  %2 = tosa.clamp %1 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("relu")
  %3 = tpc.quantize %2 as "relu" activation parameters(#tpc.symmetric<threshold = [8.0], bits = 8, is_signed = false>) selection(#tpc.selection<error_method = imported>) : tensor<1x4xf32>
  // Nothing reads it.
  %4 = tpc.quantize %1 as "unused" activation parameters(#tpc.symmetric<threshold = [1.0], bits = 8>) selection(#tpc.selection<error_method = imported>) : tensor<1x4xf32>
  return %3 : tensor<1x4xf32>
}

// A point beside those of the target is for all ops that read it, and stays in the block of its input.
// CHECK-LABEL: func.func @beside
// CHECK:         %[[W:.*]] = tpc.quantize %{{.*}} as "w" weight "kernel_attr" parameters(#tpc.symmetric
// CHECK:         tosa.exp %[[W]]
// CHECK:         tosa.sin %[[W]]
// CHECK:         tosa.cond_if
// CHECK:           %[[A:.*]] = tosa.abs
// CHECK-NEXT:      %[[I:.*]] = tpc.quantize %[[A]] as "inner" activation parameters(#tpc.symmetric
// CHECK-NEXT:      tosa.yield %[[I]]
func.func @beside(%arg0: tensor<1x4xf32>, %arg1: tensor<i1>) -> (tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>) {
  %k = "tosa.const"() <{values = dense<[[0.5, 0.25, -1.0, 0.125]]> : tensor<1x4xf32>}> : () -> tensor<1x4xf32>
  %w = tpc.quantize %k as "w" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [1.0], bits = 8>) selection(#tpc.selection<error_method = imported>) : tensor<1x4xf32>
  %0 = tosa.exp %w : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %1 = tosa.sin %w : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %2 = "tosa.cond_if"(%arg1, %arg0) ({
  ^bb0(%x: tensor<1x4xf32>):
    %3 = tosa.abs %x : (tensor<1x4xf32>) -> tensor<1x4xf32>
    %4 = tpc.quantize %3 as "inner" activation parameters(#tpc.symmetric<threshold = [4.0], bits = 8>) selection(#tpc.selection<error_method = imported>) : tensor<1x4xf32>
    tosa.yield %4 : tensor<1x4xf32>
  }, {
  ^bb0(%x: tensor<1x4xf32>):
    tosa.yield %x : tensor<1x4xf32>
  }) : (tensor<i1>, tensor<1x4xf32>) -> tensor<1x4xf32>
  return %0, %1, %2 : tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>
}
