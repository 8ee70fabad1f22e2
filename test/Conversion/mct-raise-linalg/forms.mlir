// RUN: mct-opt %s --mct-raise-linalg --split-input-file | FileCheck %s

// A linear layer: the transposed kernel, the product, and the bias after it.
// CHECK-LABEL: func.func @linear
// CHECK-DAG:     %[[K:.*]] = "tosa.const"() <{values = dense<{{.*}}> : tensor<2x3xf32>}>
// CHECK-DAG:     %[[B:.*]] = "tosa.const"() <{values = dense<[1.000000e-01, -2.000000e-01]> : tensor<2xf32>}>
// CHECK:         %[[T:.*]] = tosa.transpose %[[K]] {perms = array<i32: 1, 0>}
// CHECK:         %[[P:.*]] = tosa.matmul {{.*}} -> tensor<1x1x2xf32>
// CHECK:         %[[R:.*]] = tosa.reshape %[[P]], {{.*}} -> tensor<1x2xf32>
// CHECK:         %[[S:.*]] = tosa.reshape %[[B]], {{.*}} -> tensor<1x2xf32>
// CHECK:         %[[SUM:.*]] = tosa.add %[[R]], %[[S]]
// CHECK:         return %[[SUM]]
#m = affine_map<(d0, d1) -> (d0, d1)>
#c = affine_map<(d0, d1) -> (d1)>
func.func @linear(%x: tensor<1x3xf32>) -> tensor<1x2xf32> {
  %w = arith.constant dense<[[0.5, -1.0, 0.25], [1.5, 0.75, -0.5]]> : tensor<2x3xf32>
  %b = arith.constant dense<[0.1, -0.2]> : tensor<2xf32>
  %zero = arith.constant 0.0 : f32
  %et = tensor.empty() : tensor<3x2xf32>
  %e = tensor.empty() : tensor<1x2xf32>
  %t = linalg.transpose ins(%w : tensor<2x3xf32>) outs(%et : tensor<3x2xf32>) permutation = [1, 0]
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2xf32>) -> tensor<1x2xf32>
  %0 = linalg.matmul ins(%x, %t : tensor<1x3xf32>, tensor<3x2xf32>) outs(%f : tensor<1x2xf32>) -> tensor<1x2xf32>
  %1 = linalg.generic {indexing_maps = [#m, #c, #m], iterator_types = ["parallel", "parallel"]} ins(%0, %b : tensor<1x2xf32>, tensor<2xf32>) outs(%e : tensor<1x2xf32>) {
  ^bb0(%in: f32, %bias: f32, %out: f32):
    %a = arith.addf %in, %bias : f32
    linalg.yield %a : f32
  } -> tensor<1x2xf32>
  return %1 : tensor<1x2xf32>
}

// -----

// A mean that is computed in f64 is one in f32.
// CHECK-LABEL: func.func @mean
// CHECK-NOT:     f64
// CHECK:         tosa.reduce_sum {{.*}} {axis = 1 : i32} : (tensor<2x4xf32>) -> tensor<2x1xf32>
// CHECK:         tosa.mul
// CHECK-NOT:     f64
// CHECK:         return {{.*}} : tensor<2x1xf32>
#m = affine_map<(d0, d1) -> (d0, d1)>
#k = affine_map<(d0, d1) -> (d0, 0)>
func.func @mean(%x: tensor<2x4xf32>) -> tensor<2x1xf32> {
  %zero = arith.constant 0.0 : f64
  %four = arith.constant 4.0 : f64
  %e = tensor.empty() : tensor<2x4xf64>
  %s = tensor.empty() : tensor<2x1xf64>
  %r = tensor.empty() : tensor<2x1xf32>
  %f = linalg.fill ins(%zero : f64) outs(%s : tensor<2x1xf64>) -> tensor<2x1xf64>
  %0 = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x4xf32>) outs(%e : tensor<2x4xf64>) {
  ^bb0(%in: f32, %out: f64):
    %a = arith.extf %in : f32 to f64
    linalg.yield %a : f64
  } -> tensor<2x4xf64>
  %1 = linalg.generic {indexing_maps = [#m, #k], iterator_types = ["parallel", "reduction"]} ins(%0 : tensor<2x4xf64>) outs(%f : tensor<2x1xf64>) {
  ^bb0(%in: f64, %out: f64):
    %a = arith.addf %in, %out : f64
    linalg.yield %a : f64
  } -> tensor<2x1xf64>
  %2 = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<2x1xf64>) outs(%r : tensor<2x1xf32>) {
  ^bb0(%in: f64, %out: f32):
    %a = arith.divf %in, %four : f64
    %b = arith.truncf %a : f64 to f32
    linalg.yield %b : f32
  } -> tensor<2x1xf32>
  return %2 : tensor<2x1xf32>
}

// -----

// An embedding: that its places lie within the table goes for every lookup.
// CHECK-LABEL: func.func @embedding
// CHECK-NOT:     cf.assert
// CHECK:         %[[I:.*]] = tosa.cast %arg0 : (tensor<1x3xi64>) -> tensor<1x3xi32>
// CHECK:         tosa.gather {{.*}}, %[[I]] : (tensor<1x5x2xf32>, tensor<1x3xi32>) -> tensor<1x3x2xf32>
// CHECK-NOT:     cf.assert
func.func @embedding(%x: tensor<1x3xi64>, %t: tensor<5x2xf32>) -> tensor<1x3x2xf32> {
  %five = arith.constant 5 : index
  %zero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<1x3x2xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
         ins(%x : tensor<1x3xi64>) outs(%e : tensor<1x3x2xf32>) {
  ^bb0(%in: i64, %out: f32):
    %p = arith.index_cast %in : i64 to index
    %k = linalg.index 2 : index
    %below = arith.cmpi slt, %p, %five : index
    cf.assert %below, "index must be smaller than dim size"
    %above = arith.cmpi sge, %in, %zero : i64
    cf.assert %above, "index must be larger or equal to 0"
    %v = tensor.extract %t[%p, %k] : tensor<5x2xf32>
    linalg.yield %v : f32
  } -> tensor<1x3x2xf32>
  return %0 : tensor<1x3x2xf32>
}

// -----

// An assertion on constants that holds is gone, in a body and outside.
// CHECK-LABEL: func.func @assertions
// CHECK-NOT:     cf.assert
// CHECK:         tosa.reciprocal
#id = affine_map<(i) -> (i)>
func.func @assertions() -> tensor<2xf32> {
  %true = arith.constant true
  cf.assert %true, "always"
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %c = arith.constant dense<[2.0, -4.0]> : tensor<2xf32>
  %e = tensor.empty() : tensor<2xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%c : tensor<2xf32>) outs(%e : tensor<2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %d = arith.cmpf one, %in, %zero : f32
    cf.assert %d, "unimplemented: tensor with zero element"
    %q = arith.divf %one, %in : f32
    linalg.yield %q : f32
  } -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// A diagonal has no op of TOSA, and stays.
// CHECK-LABEL: func.func @diagonal
// CHECK:         linalg.generic
func.func @diagonal(%x: tensor<4x4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i, i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
         ins(%x : tensor<4x4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// The batch stays dynamic.
// CHECK-LABEL: func.func @batch
// CHECK:         tosa.matmul {{.*}} : (tensor<1x?x3xf32>, tensor<1x3x2xf32>, {{.*}}) -> tensor<1x?x2xf32>
// CHECK:         tosa.clamp {{.*}} -> tensor<?x2xf32>
// CHECK-NOT:     linalg
#m = affine_map<(d0, d1) -> (d0, d1)>
func.func @batch(%x: tensor<?x3xf32>, %w: tensor<3x2xf32>) -> tensor<?x2xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x3xf32>
  %e = tensor.empty(%n) : tensor<?x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x2xf32>) -> tensor<?x2xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<?x3xf32>, tensor<3x2xf32>) outs(%f : tensor<?x2xf32>) -> tensor<?x2xf32>
  %1 = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<?x2xf32>) outs(%e : tensor<?x2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.maximumf %in, %zero : f32
    linalg.yield %a : f32
  } -> tensor<?x2xf32>
  return %1 : tensor<?x2xf32>
}

// -----

// The batch stays whole, whatever it is called.
// CHECK-LABEL: func.func @slice_of_a_batch
// CHECK-NOT:     tensor.
// CHECK:         tosa.slice %{{.*}} : (tensor<?x6xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<?x2xf32>
// CHECK-NOT:     tensor.
// CHECK:         return
func.func @slice_of_a_batch(%x: tensor<?x6xf32>) -> tensor<?x2xf32> {
  %c0 = arith.constant 0 : index
  %batch = tensor.dim %x, %c0 : tensor<?x6xf32>
  %e = tensor.empty(%batch) : tensor<?x6xf32>
  %0 = linalg.map { arith.negf } ins(%x : tensor<?x6xf32>) outs(%e : tensor<?x6xf32>)
  %1 = tensor.extract_slice %0[0, 3] [%batch, 2] [1, 1] : tensor<?x6xf32> to tensor<?x2xf32>
  return %1 : tensor<?x2xf32>
}

// -----

// Sizes of pads that come out as constants.
// CHECK-LABEL: func.func @pad_by_a_sum
// CHECK:         tosa.pad %{{.*}} -> tensor<1x7xf32>
func.func @pad_by_a_sum(%x: tensor<1x4xf32>) -> tensor<1x7xf32> {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %one = tensor.dim %x, %c0 : tensor<1x4xf32>
  %two = arith.addi %one, %c1 : index
  %0 = tensor.pad %x low[0, %one] high[0, %two] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<1x4xf32> to tensor<1x?xf32>
  %1 = tensor.cast %0 : tensor<1x?xf32> to tensor<1x7xf32>
  return %1 : tensor<1x7xf32>
}

// -----

// What is quantized already is raised, too.
// CHECK-LABEL: func.func @points
// CHECK:         tpc.quantize
// CHECK:         tosa.negate
#weight = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#a8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #weight>
func.func @points(%x: tensor<2x6xf32>) -> tensor<2x6xf32> {
  %q = tpc.quantize %x as "x" activation config(#a8) : tensor<2x6xf32>
  %e = tensor.empty() : tensor<2x6xf32>
  %0 = linalg.map { arith.negf } ins(%q : tensor<2x6xf32>) outs(%e : tensor<2x6xf32>)
  return %0 : tensor<2x6xf32>
}

// -----

// Ops of scalars may have tensors as operands.
// CHECK-LABEL: func.func @scalars_of_tensors
// CHECK:         %[[TANH:.*]] = tosa.tanh
// CHECK:         %[[MUL:.*]] = tosa.mul %[[TANH]]
// CHECK:         return %[[MUL]]
func.func @scalars_of_tensors(%x: tensor<2x6xf32>) -> tensor<2x6xf32> {
  %0 = math.tanh %x : tensor<2x6xf32>
  %1 = arith.mulf %0, %x : tensor<2x6xf32>
  return %1 : tensor<2x6xf32>
}

// -----

// TOSA has no f64.
// CHECK-LABEL: func.func @doubles
// CHECK-SAME:      %[[X:.*]]: tensor<1x4xf32>
// CHECK-DAG:     %[[HALF:.*]] = "tosa.const"() <{values = dense<5.000000e-01> : tensor<1x1xf32>}>
// CHECK:         %[[SUM:.*]] = tosa.reduce_sum %[[X]] {axis = 1 : i32} : (tensor<1x4xf32>) -> tensor<1x1xf32>
// CHECK:         %[[LAST:.*]] = tosa.cast %[[SUM]] : (tensor<1x1xf32>) -> tensor<1x1xf64>
// CHECK:         %[[MEAN:.*]] = tosa.mul %[[SUM]], %[[HALF]],
// CHECK-NOT:     tosa.cast
// CHECK:         return %[[MEAN]], %[[LAST]] : tensor<1x1xf32>, tensor<1x1xf64>
func.func @doubles(%x: tensor<1x4xf32>) -> (tensor<1x1xf32>, tensor<1x1xf64>) {
  %half = "tosa.const"() <{values = dense<0.5> : tensor<1x1xf64>}> : () -> tensor<1x1xf64>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.cast %x : (tensor<1x4xf32>) -> tensor<1x4xf64>
  %1 = tosa.reduce_sum %0 {axis = 1 : i32} : (tensor<1x4xf64>) -> tensor<1x1xf64>
  %2 = tosa.mul %1, %half, %shift : (tensor<1x1xf64>, tensor<1x1xf64>, tensor<1xi8>) -> tensor<1x1xf64>
  %3 = tosa.cast %2 : (tensor<1x1xf64>) -> tensor<1x1xf32>
  return %3, %1 : tensor<1x1xf32>, tensor<1x1xf64>
}
