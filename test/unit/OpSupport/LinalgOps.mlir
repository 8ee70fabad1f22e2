// SPDX-License-Identifier: Apache-2.0
//
// A function for every op of linalg, named after it, in the form that importers write. OpSupportTest.cpp tries on each what
// the passes can do.

func.func @abs(%a: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %e = tensor.empty() : tensor<1x4x4x2xf32>
  %0 = linalg.abs ins(%a : tensor<1x4x4x2xf32>) outs(%e : tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @ceil(%a: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %e = tensor.empty() : tensor<1x4x4x2xf32>
  %0 = linalg.ceil ins(%a : tensor<1x4x4x2xf32>) outs(%e : tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @erf(%a: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %e = tensor.empty() : tensor<1x4x4x2xf32>
  %0 = linalg.erf ins(%a : tensor<1x4x4x2xf32>) outs(%e : tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @exp(%a: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %e = tensor.empty() : tensor<1x4x4x2xf32>
  %0 = linalg.exp ins(%a : tensor<1x4x4x2xf32>) outs(%e : tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @floor(%a: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %e = tensor.empty() : tensor<1x4x4x2xf32>
  %0 = linalg.floor ins(%a : tensor<1x4x4x2xf32>) outs(%e : tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @log(%a: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %e = tensor.empty() : tensor<1x4x4x2xf32>
  %0 = linalg.log ins(%a : tensor<1x4x4x2xf32>) outs(%e : tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @negf(%a: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %e = tensor.empty() : tensor<1x4x4x2xf32>
  %0 = linalg.negf ins(%a : tensor<1x4x4x2xf32>) outs(%e : tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @reciprocal(%a: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %e = tensor.empty() : tensor<1x4x4x2xf32>
  %0 = linalg.reciprocal ins(%a : tensor<1x4x4x2xf32>) outs(%e : tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @round(%a: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %e = tensor.empty() : tensor<1x4x4x2xf32>
  %0 = linalg.round ins(%a : tensor<1x4x4x2xf32>) outs(%e : tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @rsqrt(%a: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %e = tensor.empty() : tensor<1x4x4x2xf32>
  %0 = linalg.rsqrt ins(%a : tensor<1x4x4x2xf32>) outs(%e : tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @sqrt(%a: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %e = tensor.empty() : tensor<1x4x4x2xf32>
  %0 = linalg.sqrt ins(%a : tensor<1x4x4x2xf32>) outs(%e : tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @square(%a: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %e = tensor.empty() : tensor<1x4x4x2xf32>
  %0 = linalg.square ins(%a : tensor<1x4x4x2xf32>) outs(%e : tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @tanh(%a: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %e = tensor.empty() : tensor<1x4x4x2xf32>
  %0 = linalg.tanh ins(%a : tensor<1x4x4x2xf32>) outs(%e : tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @add(%a: tensor<1x4x4x2xf32>, %b: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %e = tensor.empty() : tensor<1x4x4x2xf32>
  %0 = linalg.add ins(%a, %b : tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) outs(%e : tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @div(%a: tensor<1x4x4x2xf32>, %b: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %e = tensor.empty() : tensor<1x4x4x2xf32>
  %0 = linalg.div ins(%a, %b : tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) outs(%e : tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @max(%a: tensor<1x4x4x2xf32>, %b: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %e = tensor.empty() : tensor<1x4x4x2xf32>
  %0 = linalg.max ins(%a, %b : tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) outs(%e : tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @min(%a: tensor<1x4x4x2xf32>, %b: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %e = tensor.empty() : tensor<1x4x4x2xf32>
  %0 = linalg.min ins(%a, %b : tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) outs(%e : tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @mul(%a: tensor<1x4x4x2xf32>, %b: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %e = tensor.empty() : tensor<1x4x4x2xf32>
  %0 = linalg.mul ins(%a, %b : tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) outs(%e : tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @powf(%a: tensor<1x4x4x2xf32>, %b: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %e = tensor.empty() : tensor<1x4x4x2xf32>
  %0 = linalg.powf ins(%a, %b : tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) outs(%e : tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @sub(%a: tensor<1x4x4x2xf32>, %b: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %e = tensor.empty() : tensor<1x4x4x2xf32>
  %0 = linalg.sub ins(%a, %b : tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) outs(%e : tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @div_unsigned(%a: tensor<1x4x4x2xi32>, %b: tensor<1x4x4x2xi32>) -> tensor<1x4x4x2xi32> {
  %e = tensor.empty() : tensor<1x4x4x2xi32>
  %0 = linalg.div_unsigned ins(%a, %b : tensor<1x4x4x2xi32>, tensor<1x4x4x2xi32>) outs(%e : tensor<1x4x4x2xi32>) -> tensor<1x4x4x2xi32>
  return %0 : tensor<1x4x4x2xi32>
}
func.func @copy(%a: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %e = tensor.empty() : tensor<1x4x4x2xf32>
  %0 = linalg.copy ins(%a : tensor<1x4x4x2xf32>) outs(%e : tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @select(%a: tensor<1x4x4x2xi1>, %b: tensor<1x4x4x2xf32>, %c: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %e = tensor.empty() : tensor<1x4x4x2xf32>
  %0 = linalg.select ins(%a, %b, %c : tensor<1x4x4x2xi1>, tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) outs(%e : tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @elementwise(%a: tensor<1x4x4x2xf32>, %b: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %e = tensor.empty() : tensor<1x4x4x2xf32>
  %0 = linalg.elementwise kind=#linalg.elementwise_kind<add> ins(%a, %b : tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) outs(%e : tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @fill(%a: f32) -> tensor<1x4x4x2xf32> {
  %e = tensor.empty() : tensor<1x4x4x2xf32>
  %0 = linalg.fill ins(%a : f32) outs(%e : tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @fill_rng_2d(%a: f64, %b: f64, %c: i32) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %0 = linalg.fill_rng_2d ins(%a, %b, %c : f64, f64, i32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func @broadcast(%a: tensor<4x2xf32>) -> tensor<3x4x2xf32> {
  %e = tensor.empty() : tensor<3x4x2xf32>
  %0 = linalg.broadcast ins(%a : tensor<4x2xf32>) outs(%e : tensor<3x4x2xf32>) dimensions = [0]
  return %0 : tensor<3x4x2xf32>
}
func.func @transpose(%a: tensor<1x4x2xf32>) -> tensor<1x2x4xf32> {
  %e = tensor.empty() : tensor<1x2x4xf32>
  %0 = linalg.transpose ins(%a : tensor<1x4x2xf32>) outs(%e : tensor<1x2x4xf32>) permutation = [0, 2, 1]
  return %0 : tensor<1x2x4xf32>
}
func.func @map(%a: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %e = tensor.empty() : tensor<1x4x4x2xf32>
  %0 = linalg.map { math.exp } ins(%a : tensor<1x4x4x2xf32>) outs(%e : tensor<1x4x4x2xf32>)
  return %0 : tensor<1x4x4x2xf32>
}
func.func @reduce(%a: tensor<1x4x2xf32>) -> tensor<1x2xf32> {
  %e = tensor.empty() : tensor<1x2xf32>
  %init = arith.constant 0.0 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<1x2xf32>) -> tensor<1x2xf32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<1x4x2xf32>) outs(%f : tensor<1x2xf32>) dimensions = [1]
  return %0 : tensor<1x2xf32>
}
func.func @generic(%a: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %e = tensor.empty() : tensor<1x4x4x2xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(n, h, w, c) -> (n, h, w, c)>, affine_map<(n, h, w, c) -> (n, h, w, c)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%a : tensor<1x4x4x2xf32>) outs(%e : tensor<1x4x4x2xf32>) {
  ^bb0(%x: f32, %y: f32):
    %1 = math.absf %x : f32
    linalg.yield %1 : f32
  } -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @index(%a: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xi32> {
  %e = tensor.empty() : tensor<1x4x4x2xi32>
  %0 = linalg.generic {indexing_maps = [affine_map<(n, h, w, c) -> (n, h, w, c)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%e : tensor<1x4x4x2xi32>) {
  ^bb0(%y: i32):
    %1 = linalg.index 1 : index
    %2 = arith.index_cast %1 : index to i32
    linalg.yield %2 : i32
  } -> tensor<1x4x4x2xi32>
  return %0 : tensor<1x4x4x2xi32>
}
func.func @contract(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %e = tensor.empty() : tensor<2x4xf32>
  %init = arith.constant 0.0 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %0 = linalg.contract indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>] ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>) outs(%f : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
func.func @matmul(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %e = tensor.empty() : tensor<2x4xf32>
  %init = arith.constant 0.0 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>) outs(%f : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
func.func @quantized_matmul(%a: tensor<2x3xi8>, %b: tensor<3x4xi8>, %c: i32, %d: i32) -> tensor<2x4xi32> {
  %e = tensor.empty() : tensor<2x4xi32>
  %init = arith.constant 0 : i32
  %f = linalg.fill ins(%init : i32) outs(%e : tensor<2x4xi32>) -> tensor<2x4xi32>
  %0 = linalg.quantized_matmul ins(%a, %b, %c, %d : tensor<2x3xi8>, tensor<3x4xi8>, i32, i32) outs(%f : tensor<2x4xi32>) -> tensor<2x4xi32>
  return %0 : tensor<2x4xi32>
}
func.func @batch_matmul(%a: tensor<1x2x3xf32>, %b: tensor<1x3x4xf32>) -> tensor<1x2x4xf32> {
  %e = tensor.empty() : tensor<1x2x4xf32>
  %init = arith.constant 0.0 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  %0 = linalg.batch_matmul ins(%a, %b : tensor<1x2x3xf32>, tensor<1x3x4xf32>) outs(%f : tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  return %0 : tensor<1x2x4xf32>
}
func.func @quantized_batch_matmul(%a: tensor<1x2x3xi8>, %b: tensor<1x3x4xi8>, %c: i32, %d: i32) -> tensor<1x2x4xi32> {
  %e = tensor.empty() : tensor<1x2x4xi32>
  %init = arith.constant 0 : i32
  %f = linalg.fill ins(%init : i32) outs(%e : tensor<1x2x4xi32>) -> tensor<1x2x4xi32>
  %0 = linalg.quantized_batch_matmul ins(%a, %b, %c, %d : tensor<1x2x3xi8>, tensor<1x3x4xi8>, i32, i32) outs(%f : tensor<1x2x4xi32>) -> tensor<1x2x4xi32>
  return %0 : tensor<1x2x4xi32>
}
func.func @batch_reduce_matmul(%a: tensor<1x2x3xf32>, %b: tensor<1x3x4xf32>) -> tensor<2x4xf32> {
  %e = tensor.empty() : tensor<2x4xf32>
  %init = arith.constant 0.0 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %0 = linalg.batch_reduce_matmul ins(%a, %b : tensor<1x2x3xf32>, tensor<1x3x4xf32>) outs(%f : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
func.func @matvec(%a: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<2xf32> {
  %e = tensor.empty() : tensor<2xf32>
  %init = arith.constant 0.0 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %0 = linalg.matvec ins(%a, %b : tensor<2x3xf32>, tensor<3xf32>) outs(%f : tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func @vecmat(%a: tensor<3xf32>, %b: tensor<3x4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %init = arith.constant 0.0 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %0 = linalg.vecmat ins(%a, %b : tensor<3xf32>, tensor<3x4xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @batch_matvec(%a: tensor<1x2x3xf32>, %b: tensor<1x3xf32>) -> tensor<1x2xf32> {
  %e = tensor.empty() : tensor<1x2xf32>
  %init = arith.constant 0.0 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<1x2xf32>) -> tensor<1x2xf32>
  %0 = linalg.batch_matvec ins(%a, %b : tensor<1x2x3xf32>, tensor<1x3xf32>) outs(%f : tensor<1x2xf32>) -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}
func.func @batch_vecmat(%a: tensor<1x3xf32>, %b: tensor<1x3x4xf32>) -> tensor<1x4xf32> {
  %e = tensor.empty() : tensor<1x4xf32>
  %init = arith.constant 0.0 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<1x4xf32>) -> tensor<1x4xf32>
  %0 = linalg.batch_vecmat ins(%a, %b : tensor<1x3xf32>, tensor<1x3x4xf32>) outs(%f : tensor<1x4xf32>) -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}
func.func @dot(%a: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<f32> {
  %e = tensor.empty() : tensor<f32>
  %init = arith.constant 0.0 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %0 = linalg.dot ins(%a, %b : tensor<3xf32>, tensor<3xf32>) outs(%f : tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @mmt4d(%a: tensor<1x1x2x3xf32>, %b: tensor<1x1x4x3xf32>) -> tensor<1x1x2x4xf32> {
  %e = tensor.empty() : tensor<1x1x2x4xf32>
  %init = arith.constant 0.0 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<1x1x2x4xf32>) -> tensor<1x1x2x4xf32>
  %0 = linalg.mmt4d ins(%a, %b : tensor<1x1x2x3xf32>, tensor<1x1x4x3xf32>) outs(%f : tensor<1x1x2x4xf32>) -> tensor<1x1x2x4xf32>
  return %0 : tensor<1x1x2x4xf32>
}
func.func @batch_mmt4d(%a: tensor<1x1x1x2x3xf32>, %b: tensor<1x1x1x4x3xf32>) -> tensor<1x1x1x2x4xf32> {
  %e = tensor.empty() : tensor<1x1x1x2x4xf32>
  %init = arith.constant 0.0 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<1x1x1x2x4xf32>) -> tensor<1x1x1x2x4xf32>
  %0 = linalg.batch_mmt4d ins(%a, %b : tensor<1x1x1x2x3xf32>, tensor<1x1x1x4x3xf32>) outs(%f : tensor<1x1x1x2x4xf32>) -> tensor<1x1x1x2x4xf32>
  return %0 : tensor<1x1x1x2x4xf32>
}
func.func @conv_1d(%a: tensor<6xf32>, %b: tensor<2xf32>) -> tensor<5xf32> {
  %e = tensor.empty() : tensor<5xf32>
  %init = arith.constant 0.0 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<5xf32>) -> tensor<5xf32>
  %0 = linalg.conv_1d ins(%a, %b : tensor<6xf32>, tensor<2xf32>) outs(%f : tensor<5xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}
func.func @conv_2d(%a: tensor<6x6xf32>, %b: tensor<2x2xf32>) -> tensor<5x5xf32> {
  %e = tensor.empty() : tensor<5x5xf32>
  %init = arith.constant 0.0 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<5x5xf32>) -> tensor<5x5xf32>
  %0 = linalg.conv_2d ins(%a, %b : tensor<6x6xf32>, tensor<2x2xf32>) outs(%f : tensor<5x5xf32>) -> tensor<5x5xf32>
  return %0 : tensor<5x5xf32>
}
func.func @conv_3d(%a: tensor<6x6x6xf32>, %b: tensor<2x2x2xf32>) -> tensor<5x5x5xf32> {
  %e = tensor.empty() : tensor<5x5x5xf32>
  %init = arith.constant 0.0 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<5x5x5xf32>) -> tensor<5x5x5xf32>
  %0 = linalg.conv_3d ins(%a, %b : tensor<6x6x6xf32>, tensor<2x2x2xf32>) outs(%f : tensor<5x5x5xf32>) -> tensor<5x5x5xf32>
  return %0 : tensor<5x5x5xf32>
}
func.func @conv_1d_ncw_fcw(%a: tensor<1x2x6xf32>, %b: tensor<3x2x2xf32>) -> tensor<1x3x5xf32> {
  %e = tensor.empty() : tensor<1x3x5xf32>
  %init = arith.constant 0.0 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<1x3x5xf32>) -> tensor<1x3x5xf32>
  %0 = linalg.conv_1d_ncw_fcw {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a, %b : tensor<1x2x6xf32>, tensor<3x2x2xf32>) outs(%f : tensor<1x3x5xf32>) -> tensor<1x3x5xf32>
  return %0 : tensor<1x3x5xf32>
}
func.func @conv_1d_nwc_wcf(%a: tensor<1x6x2xf32>, %b: tensor<2x2x3xf32>) -> tensor<1x5x3xf32> {
  %e = tensor.empty() : tensor<1x5x3xf32>
  %init = arith.constant 0.0 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<1x5x3xf32>) -> tensor<1x5x3xf32>
  %0 = linalg.conv_1d_nwc_wcf {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a, %b : tensor<1x6x2xf32>, tensor<2x2x3xf32>) outs(%f : tensor<1x5x3xf32>) -> tensor<1x5x3xf32>
  return %0 : tensor<1x5x3xf32>
}
func.func @conv_2d_nchw_fchw(%a: tensor<1x2x6x6xf32>, %b: tensor<3x2x2x2xf32>) -> tensor<1x3x5x5xf32> {
  %e = tensor.empty() : tensor<1x3x5x5xf32>
  %init = arith.constant 0.0 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<1x3x5x5xf32>) -> tensor<1x3x5x5xf32>
  %0 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a, %b : tensor<1x2x6x6xf32>, tensor<3x2x2x2xf32>) outs(%f : tensor<1x3x5x5xf32>) -> tensor<1x3x5x5xf32>
  return %0 : tensor<1x3x5x5xf32>
}
func.func @conv_2d_nchw_fchw_q(%a: tensor<1x2x6x6xi8>, %b: tensor<3x2x2x2xi8>, %c: i32, %d: i32) -> tensor<1x3x5x5xi32> {
  %e = tensor.empty() : tensor<1x3x5x5xi32>
  %init = arith.constant 0 : i32
  %f = linalg.fill ins(%init : i32) outs(%e : tensor<1x3x5x5xi32>) -> tensor<1x3x5x5xi32>
  %0 = linalg.conv_2d_nchw_fchw_q {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a, %b, %c, %d : tensor<1x2x6x6xi8>, tensor<3x2x2x2xi8>, i32, i32) outs(%f : tensor<1x3x5x5xi32>) -> tensor<1x3x5x5xi32>
  return %0 : tensor<1x3x5x5xi32>
}
func.func @conv_2d_nhwc_fhwc(%a: tensor<1x6x6x2xf32>, %b: tensor<3x2x2x2xf32>) -> tensor<1x5x5x3xf32> {
  %e = tensor.empty() : tensor<1x5x5x3xf32>
  %init = arith.constant 0.0 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<1x5x5x3xf32>) -> tensor<1x5x5x3xf32>
  %0 = linalg.conv_2d_nhwc_fhwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a, %b : tensor<1x6x6x2xf32>, tensor<3x2x2x2xf32>) outs(%f : tensor<1x5x5x3xf32>) -> tensor<1x5x5x3xf32>
  return %0 : tensor<1x5x5x3xf32>
}
func.func @conv_2d_nhwc_fhwc_q(%a: tensor<1x6x6x2xi8>, %b: tensor<3x2x2x2xi8>, %c: i32, %d: i32) -> tensor<1x5x5x3xi32> {
  %e = tensor.empty() : tensor<1x5x5x3xi32>
  %init = arith.constant 0 : i32
  %f = linalg.fill ins(%init : i32) outs(%e : tensor<1x5x5x3xi32>) -> tensor<1x5x5x3xi32>
  %0 = linalg.conv_2d_nhwc_fhwc_q {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a, %b, %c, %d : tensor<1x6x6x2xi8>, tensor<3x2x2x2xi8>, i32, i32) outs(%f : tensor<1x5x5x3xi32>) -> tensor<1x5x5x3xi32>
  return %0 : tensor<1x5x5x3xi32>
}
func.func @conv_2d_nhwc_hwcf(%a: tensor<1x6x6x2xf32>, %b: tensor<2x2x2x3xf32>) -> tensor<1x5x5x3xf32> {
  %e = tensor.empty() : tensor<1x5x5x3xf32>
  %init = arith.constant 0.0 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<1x5x5x3xf32>) -> tensor<1x5x5x3xf32>
  %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a, %b : tensor<1x6x6x2xf32>, tensor<2x2x2x3xf32>) outs(%f : tensor<1x5x5x3xf32>) -> tensor<1x5x5x3xf32>
  return %0 : tensor<1x5x5x3xf32>
}
func.func @conv_2d_nhwc_hwcf_q(%a: tensor<1x6x6x2xi8>, %b: tensor<2x2x2x3xi8>, %c: i32, %d: i32) -> tensor<1x5x5x3xi32> {
  %e = tensor.empty() : tensor<1x5x5x3xi32>
  %init = arith.constant 0 : i32
  %f = linalg.fill ins(%init : i32) outs(%e : tensor<1x5x5x3xi32>) -> tensor<1x5x5x3xi32>
  %0 = linalg.conv_2d_nhwc_hwcf_q {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a, %b, %c, %d : tensor<1x6x6x2xi8>, tensor<2x2x2x3xi8>, i32, i32) outs(%f : tensor<1x5x5x3xi32>) -> tensor<1x5x5x3xi32>
  return %0 : tensor<1x5x5x3xi32>
}
func.func @conv_2d_ngchw_fgchw(%a: tensor<1x2x2x6x6xf32>, %b: tensor<3x2x2x2x2xf32>) -> tensor<1x2x3x5x5xf32> {
  %e = tensor.empty() : tensor<1x2x3x5x5xf32>
  %init = arith.constant 0.0 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<1x2x3x5x5xf32>) -> tensor<1x2x3x5x5xf32>
  %0 = linalg.conv_2d_ngchw_fgchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a, %b : tensor<1x2x2x6x6xf32>, tensor<3x2x2x2x2xf32>) outs(%f : tensor<1x2x3x5x5xf32>) -> tensor<1x2x3x5x5xf32>
  return %0 : tensor<1x2x3x5x5xf32>
}
func.func @conv_2d_ngchw_gfchw(%a: tensor<1x2x2x6x6xf32>, %b: tensor<2x3x2x2x2xf32>) -> tensor<1x2x3x5x5xf32> {
  %e = tensor.empty() : tensor<1x2x3x5x5xf32>
  %init = arith.constant 0.0 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<1x2x3x5x5xf32>) -> tensor<1x2x3x5x5xf32>
  %0 = linalg.conv_2d_ngchw_gfchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a, %b : tensor<1x2x2x6x6xf32>, tensor<2x3x2x2x2xf32>) outs(%f : tensor<1x2x3x5x5xf32>) -> tensor<1x2x3x5x5xf32>
  return %0 : tensor<1x2x3x5x5xf32>
}
func.func @conv_2d_ngchw_gfchw_q(%a: tensor<1x2x2x6x6xi8>, %b: tensor<2x3x2x2x2xi8>, %c: i32, %d: i32) -> tensor<1x2x3x5x5xi32> {
  %e = tensor.empty() : tensor<1x2x3x5x5xi32>
  %init = arith.constant 0 : i32
  %f = linalg.fill ins(%init : i32) outs(%e : tensor<1x2x3x5x5xi32>) -> tensor<1x2x3x5x5xi32>
  %0 = linalg.conv_2d_ngchw_gfchw_q {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a, %b, %c, %d : tensor<1x2x2x6x6xi8>, tensor<2x3x2x2x2xi8>, i32, i32) outs(%f : tensor<1x2x3x5x5xi32>) -> tensor<1x2x3x5x5xi32>
  return %0 : tensor<1x2x3x5x5xi32>
}
func.func @conv_2d_nhwgc_gfhwc(%a: tensor<1x6x6x2x2xf32>, %b: tensor<2x3x2x2x2xf32>) -> tensor<1x5x5x2x3xf32> {
  %e = tensor.empty() : tensor<1x5x5x2x3xf32>
  %init = arith.constant 0.0 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<1x5x5x2x3xf32>) -> tensor<1x5x5x2x3xf32>
  %0 = linalg.conv_2d_nhwgc_gfhwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a, %b : tensor<1x6x6x2x2xf32>, tensor<2x3x2x2x2xf32>) outs(%f : tensor<1x5x5x2x3xf32>) -> tensor<1x5x5x2x3xf32>
  return %0 : tensor<1x5x5x2x3xf32>
}
func.func @conv_2d_nhwgc_gfhwc_q(%a: tensor<1x6x6x2x2xi8>, %b: tensor<2x3x2x2x2xi8>, %c: i32, %d: i32) -> tensor<1x5x5x2x3xi32> {
  %e = tensor.empty() : tensor<1x5x5x2x3xi32>
  %init = arith.constant 0 : i32
  %f = linalg.fill ins(%init : i32) outs(%e : tensor<1x5x5x2x3xi32>) -> tensor<1x5x5x2x3xi32>
  %0 = linalg.conv_2d_nhwgc_gfhwc_q {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a, %b, %c, %d : tensor<1x6x6x2x2xi8>, tensor<2x3x2x2x2xi8>, i32, i32) outs(%f : tensor<1x5x5x2x3xi32>) -> tensor<1x5x5x2x3xi32>
  return %0 : tensor<1x5x5x2x3xi32>
}
func.func @conv_3d_ncdhw_fcdhw(%a: tensor<1x2x6x6x6xf32>, %b: tensor<3x2x2x2x2xf32>) -> tensor<1x3x5x5x5xf32> {
  %e = tensor.empty() : tensor<1x3x5x5x5xf32>
  %init = arith.constant 0.0 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<1x3x5x5x5xf32>) -> tensor<1x3x5x5x5xf32>
  %0 = linalg.conv_3d_ncdhw_fcdhw {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%a, %b : tensor<1x2x6x6x6xf32>, tensor<3x2x2x2x2xf32>) outs(%f : tensor<1x3x5x5x5xf32>) -> tensor<1x3x5x5x5xf32>
  return %0 : tensor<1x3x5x5x5xf32>
}
func.func @conv_3d_ndhwc_dhwcf(%a: tensor<1x6x6x6x2xf32>, %b: tensor<2x2x2x2x3xf32>) -> tensor<1x5x5x5x3xf32> {
  %e = tensor.empty() : tensor<1x5x5x5x3xf32>
  %init = arith.constant 0.0 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<1x5x5x5x3xf32>) -> tensor<1x5x5x5x3xf32>
  %0 = linalg.conv_3d_ndhwc_dhwcf {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%a, %b : tensor<1x6x6x6x2xf32>, tensor<2x2x2x2x3xf32>) outs(%f : tensor<1x5x5x5x3xf32>) -> tensor<1x5x5x5x3xf32>
  return %0 : tensor<1x5x5x5x3xf32>
}
func.func @conv_3d_ndhwc_dhwcf_q(%a: tensor<1x6x6x6x2xi8>, %b: tensor<2x2x2x2x3xi8>, %c: i32, %d: i32) -> tensor<1x5x5x5x3xi32> {
  %e = tensor.empty() : tensor<1x5x5x5x3xi32>
  %init = arith.constant 0 : i32
  %f = linalg.fill ins(%init : i32) outs(%e : tensor<1x5x5x5x3xi32>) -> tensor<1x5x5x5x3xi32>
  %0 = linalg.conv_3d_ndhwc_dhwcf_q {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%a, %b, %c, %d : tensor<1x6x6x6x2xi8>, tensor<2x2x2x2x3xi8>, i32, i32) outs(%f : tensor<1x5x5x5x3xi32>) -> tensor<1x5x5x5x3xi32>
  return %0 : tensor<1x5x5x5x3xi32>
}
func.func @depthwise_conv_1d_ncw_cw(%a: tensor<1x2x6xf32>, %b: tensor<2x2xf32>) -> tensor<1x2x5xf32> {
  %e = tensor.empty() : tensor<1x2x5xf32>
  %init = arith.constant 0.0 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<1x2x5xf32>) -> tensor<1x2x5xf32>
  %0 = linalg.depthwise_conv_1d_ncw_cw {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a, %b : tensor<1x2x6xf32>, tensor<2x2xf32>) outs(%f : tensor<1x2x5xf32>) -> tensor<1x2x5xf32>
  return %0 : tensor<1x2x5xf32>
}
func.func @depthwise_conv_1d_nwc_wc(%a: tensor<1x6x2xf32>, %b: tensor<2x2xf32>) -> tensor<1x5x2xf32> {
  %e = tensor.empty() : tensor<1x5x2xf32>
  %init = arith.constant 0.0 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<1x5x2xf32>) -> tensor<1x5x2xf32>
  %0 = linalg.depthwise_conv_1d_nwc_wc {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a, %b : tensor<1x6x2xf32>, tensor<2x2xf32>) outs(%f : tensor<1x5x2xf32>) -> tensor<1x5x2xf32>
  return %0 : tensor<1x5x2xf32>
}
func.func @depthwise_conv_1d_nwc_wcm(%a: tensor<1x6x2xf32>, %b: tensor<2x2x3xf32>) -> tensor<1x5x2x3xf32> {
  %e = tensor.empty() : tensor<1x5x2x3xf32>
  %init = arith.constant 0.0 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<1x5x2x3xf32>) -> tensor<1x5x2x3xf32>
  %0 = linalg.depthwise_conv_1d_nwc_wcm {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a, %b : tensor<1x6x2xf32>, tensor<2x2x3xf32>) outs(%f : tensor<1x5x2x3xf32>) -> tensor<1x5x2x3xf32>
  return %0 : tensor<1x5x2x3xf32>
}
func.func @depthwise_conv_2d_nchw_chw(%a: tensor<1x2x6x6xf32>, %b: tensor<2x2x2xf32>) -> tensor<1x2x5x5xf32> {
  %e = tensor.empty() : tensor<1x2x5x5xf32>
  %init = arith.constant 0.0 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
  %0 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a, %b : tensor<1x2x6x6xf32>, tensor<2x2x2xf32>) outs(%f : tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
  return %0 : tensor<1x2x5x5xf32>
}
func.func @depthwise_conv_2d_nhwc_hwc(%a: tensor<1x6x6x2xf32>, %b: tensor<2x2x2xf32>) -> tensor<1x5x5x2xf32> {
  %e = tensor.empty() : tensor<1x5x5x2xf32>
  %init = arith.constant 0.0 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<1x5x5x2xf32>) -> tensor<1x5x5x2xf32>
  %0 = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a, %b : tensor<1x6x6x2xf32>, tensor<2x2x2xf32>) outs(%f : tensor<1x5x5x2xf32>) -> tensor<1x5x5x2xf32>
  return %0 : tensor<1x5x5x2xf32>
}
func.func @depthwise_conv_2d_nhwc_hwc_q(%a: tensor<1x6x6x2xi8>, %b: tensor<2x2x2xi8>, %c: i32, %d: i32) -> tensor<1x5x5x2xi32> {
  %e = tensor.empty() : tensor<1x5x5x2xi32>
  %init = arith.constant 0 : i32
  %f = linalg.fill ins(%init : i32) outs(%e : tensor<1x5x5x2xi32>) -> tensor<1x5x5x2xi32>
  %0 = linalg.depthwise_conv_2d_nhwc_hwc_q {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a, %b, %c, %d : tensor<1x6x6x2xi8>, tensor<2x2x2xi8>, i32, i32) outs(%f : tensor<1x5x5x2xi32>) -> tensor<1x5x5x2xi32>
  return %0 : tensor<1x5x5x2xi32>
}
func.func @depthwise_conv_2d_nhwc_hwcm(%a: tensor<1x6x6x2xf32>, %b: tensor<2x2x2x3xf32>) -> tensor<1x5x5x2x3xf32> {
  %e = tensor.empty() : tensor<1x5x5x2x3xf32>
  %init = arith.constant 0.0 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<1x5x5x2x3xf32>) -> tensor<1x5x5x2x3xf32>
  %0 = linalg.depthwise_conv_2d_nhwc_hwcm {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a, %b : tensor<1x6x6x2xf32>, tensor<2x2x2x3xf32>) outs(%f : tensor<1x5x5x2x3xf32>) -> tensor<1x5x5x2x3xf32>
  return %0 : tensor<1x5x5x2x3xf32>
}
func.func @depthwise_conv_2d_nhwc_hwcm_q(%a: tensor<1x6x6x2xi8>, %b: tensor<2x2x2x3xi8>, %c: i32, %d: i32) -> tensor<1x5x5x2x3xi32> {
  %e = tensor.empty() : tensor<1x5x5x2x3xi32>
  %init = arith.constant 0 : i32
  %f = linalg.fill ins(%init : i32) outs(%e : tensor<1x5x5x2x3xi32>) -> tensor<1x5x5x2x3xi32>
  %0 = linalg.depthwise_conv_2d_nhwc_hwcm_q {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a, %b, %c, %d : tensor<1x6x6x2xi8>, tensor<2x2x2x3xi8>, i32, i32) outs(%f : tensor<1x5x5x2x3xi32>) -> tensor<1x5x5x2x3xi32>
  return %0 : tensor<1x5x5x2x3xi32>
}
func.func @depthwise_conv_3d_ncdhw_cdhw(%a: tensor<1x2x6x6x6xf32>, %b: tensor<2x2x2x2xf32>) -> tensor<1x2x5x5x5xf32> {
  %e = tensor.empty() : tensor<1x2x5x5x5xf32>
  %init = arith.constant 0.0 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<1x2x5x5x5xf32>) -> tensor<1x2x5x5x5xf32>
  %0 = linalg.depthwise_conv_3d_ncdhw_cdhw {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%a, %b : tensor<1x2x6x6x6xf32>, tensor<2x2x2x2xf32>) outs(%f : tensor<1x2x5x5x5xf32>) -> tensor<1x2x5x5x5xf32>
  return %0 : tensor<1x2x5x5x5xf32>
}
func.func @depthwise_conv_3d_ndhwc_dhwc(%a: tensor<1x6x6x6x2xf32>, %b: tensor<2x2x2x2xf32>) -> tensor<1x5x5x5x2xf32> {
  %e = tensor.empty() : tensor<1x5x5x5x2xf32>
  %init = arith.constant 0.0 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<1x5x5x5x2xf32>) -> tensor<1x5x5x5x2xf32>
  %0 = linalg.depthwise_conv_3d_ndhwc_dhwc {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%a, %b : tensor<1x6x6x6x2xf32>, tensor<2x2x2x2xf32>) outs(%f : tensor<1x5x5x5x2xf32>) -> tensor<1x5x5x5x2xf32>
  return %0 : tensor<1x5x5x5x2xf32>
}
func.func @depthwise_conv_3d_ndhwc_dhwcm(%a: tensor<1x6x6x6x2xf32>, %b: tensor<2x2x2x2x3xf32>) -> tensor<1x5x5x5x2x3xf32> {
  %e = tensor.empty() : tensor<1x5x5x5x2x3xf32>
  %init = arith.constant 0.0 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<1x5x5x5x2x3xf32>) -> tensor<1x5x5x5x2x3xf32>
  %0 = linalg.depthwise_conv_3d_ndhwc_dhwcm {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%a, %b : tensor<1x6x6x6x2xf32>, tensor<2x2x2x2x3xf32>) outs(%f : tensor<1x5x5x5x2x3xf32>) -> tensor<1x5x5x5x2x3xf32>
  return %0 : tensor<1x5x5x5x2x3xf32>
}
func.func @pooling_nchw_max(%a: tensor<1x2x6x6xf32>) -> tensor<1x2x5x5xf32> {
  %w = tensor.empty() : tensor<2x2xf32>
  %e = tensor.empty() : tensor<1x2x5x5xf32>
  %init = arith.constant 0xFF800000 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
  %0 = linalg.pooling_nchw_max {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a, %w : tensor<1x2x6x6xf32>, tensor<2x2xf32>) outs(%f : tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
  return %0 : tensor<1x2x5x5xf32>
}
func.func @pooling_nchw_sum(%a: tensor<1x2x6x6xf32>) -> tensor<1x2x5x5xf32> {
  %w = tensor.empty() : tensor<2x2xf32>
  %e = tensor.empty() : tensor<1x2x5x5xf32>
  %init = arith.constant 0.0 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
  %0 = linalg.pooling_nchw_sum {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a, %w : tensor<1x2x6x6xf32>, tensor<2x2xf32>) outs(%f : tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
  return %0 : tensor<1x2x5x5xf32>
}
func.func @pooling_nhwc_max(%a: tensor<1x6x6x2xf32>) -> tensor<1x5x5x2xf32> {
  %w = tensor.empty() : tensor<2x2xf32>
  %e = tensor.empty() : tensor<1x5x5x2xf32>
  %init = arith.constant 0xFF800000 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<1x5x5x2xf32>) -> tensor<1x5x5x2xf32>
  %0 = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a, %w : tensor<1x6x6x2xf32>, tensor<2x2xf32>) outs(%f : tensor<1x5x5x2xf32>) -> tensor<1x5x5x2xf32>
  return %0 : tensor<1x5x5x2xf32>
}
func.func @pooling_nhwc_sum(%a: tensor<1x6x6x2xf32>) -> tensor<1x5x5x2xf32> {
  %w = tensor.empty() : tensor<2x2xf32>
  %e = tensor.empty() : tensor<1x5x5x2xf32>
  %init = arith.constant 0.0 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<1x5x5x2xf32>) -> tensor<1x5x5x2xf32>
  %0 = linalg.pooling_nhwc_sum {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a, %w : tensor<1x6x6x2xf32>, tensor<2x2xf32>) outs(%f : tensor<1x5x5x2xf32>) -> tensor<1x5x5x2xf32>
  return %0 : tensor<1x5x5x2xf32>
}
func.func @pooling_nhwc_min(%a: tensor<1x6x6x2xf32>) -> tensor<1x5x5x2xf32> {
  %w = tensor.empty() : tensor<2x2xf32>
  %e = tensor.empty() : tensor<1x5x5x2xf32>
  %init = arith.constant 0x7F800000 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<1x5x5x2xf32>) -> tensor<1x5x5x2xf32>
  %0 = linalg.pooling_nhwc_min {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a, %w : tensor<1x6x6x2xf32>, tensor<2x2xf32>) outs(%f : tensor<1x5x5x2xf32>) -> tensor<1x5x5x2xf32>
  return %0 : tensor<1x5x5x2xf32>
}
func.func @pooling_nhwc_max_unsigned(%a: tensor<1x6x6x2xi8>) -> tensor<1x5x5x2xi8> {
  %w = tensor.empty() : tensor<2x2xi8>
  %e = tensor.empty() : tensor<1x5x5x2xi8>
  %init = arith.constant 0 : i8
  %f = linalg.fill ins(%init : i8) outs(%e : tensor<1x5x5x2xi8>) -> tensor<1x5x5x2xi8>
  %0 = linalg.pooling_nhwc_max_unsigned {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a, %w : tensor<1x6x6x2xi8>, tensor<2x2xi8>) outs(%f : tensor<1x5x5x2xi8>) -> tensor<1x5x5x2xi8>
  return %0 : tensor<1x5x5x2xi8>
}
func.func @pooling_nhwc_min_unsigned(%a: tensor<1x6x6x2xi8>) -> tensor<1x5x5x2xi8> {
  %w = tensor.empty() : tensor<2x2xi8>
  %e = tensor.empty() : tensor<1x5x5x2xi8>
  %init = arith.constant 127 : i8
  %f = linalg.fill ins(%init : i8) outs(%e : tensor<1x5x5x2xi8>) -> tensor<1x5x5x2xi8>
  %0 = linalg.pooling_nhwc_min_unsigned {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a, %w : tensor<1x6x6x2xi8>, tensor<2x2xi8>) outs(%f : tensor<1x5x5x2xi8>) -> tensor<1x5x5x2xi8>
  return %0 : tensor<1x5x5x2xi8>
}
func.func @pooling_ncw_max(%a: tensor<1x2x6xf32>) -> tensor<1x2x5xf32> {
  %w = tensor.empty() : tensor<2xf32>
  %e = tensor.empty() : tensor<1x2x5xf32>
  %init = arith.constant 0xFF800000 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<1x2x5xf32>) -> tensor<1x2x5xf32>
  %0 = linalg.pooling_ncw_max {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a, %w : tensor<1x2x6xf32>, tensor<2xf32>) outs(%f : tensor<1x2x5xf32>) -> tensor<1x2x5xf32>
  return %0 : tensor<1x2x5xf32>
}
func.func @pooling_ncw_sum(%a: tensor<1x2x6xf32>) -> tensor<1x2x5xf32> {
  %w = tensor.empty() : tensor<2xf32>
  %e = tensor.empty() : tensor<1x2x5xf32>
  %init = arith.constant 0.0 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<1x2x5xf32>) -> tensor<1x2x5xf32>
  %0 = linalg.pooling_ncw_sum {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a, %w : tensor<1x2x6xf32>, tensor<2xf32>) outs(%f : tensor<1x2x5xf32>) -> tensor<1x2x5xf32>
  return %0 : tensor<1x2x5xf32>
}
func.func @pooling_nwc_max(%a: tensor<1x6x2xf32>) -> tensor<1x5x2xf32> {
  %w = tensor.empty() : tensor<2xf32>
  %e = tensor.empty() : tensor<1x5x2xf32>
  %init = arith.constant 0xFF800000 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<1x5x2xf32>) -> tensor<1x5x2xf32>
  %0 = linalg.pooling_nwc_max {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a, %w : tensor<1x6x2xf32>, tensor<2xf32>) outs(%f : tensor<1x5x2xf32>) -> tensor<1x5x2xf32>
  return %0 : tensor<1x5x2xf32>
}
func.func @pooling_nwc_sum(%a: tensor<1x6x2xf32>) -> tensor<1x5x2xf32> {
  %w = tensor.empty() : tensor<2xf32>
  %e = tensor.empty() : tensor<1x5x2xf32>
  %init = arith.constant 0.0 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<1x5x2xf32>) -> tensor<1x5x2xf32>
  %0 = linalg.pooling_nwc_sum {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a, %w : tensor<1x6x2xf32>, tensor<2xf32>) outs(%f : tensor<1x5x2xf32>) -> tensor<1x5x2xf32>
  return %0 : tensor<1x5x2xf32>
}
func.func @pooling_nwc_min(%a: tensor<1x6x2xf32>) -> tensor<1x5x2xf32> {
  %w = tensor.empty() : tensor<2xf32>
  %e = tensor.empty() : tensor<1x5x2xf32>
  %init = arith.constant 0x7F800000 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<1x5x2xf32>) -> tensor<1x5x2xf32>
  %0 = linalg.pooling_nwc_min {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a, %w : tensor<1x6x2xf32>, tensor<2xf32>) outs(%f : tensor<1x5x2xf32>) -> tensor<1x5x2xf32>
  return %0 : tensor<1x5x2xf32>
}
func.func @pooling_nwc_max_unsigned(%a: tensor<1x6x2xi8>) -> tensor<1x5x2xi8> {
  %w = tensor.empty() : tensor<2xi8>
  %e = tensor.empty() : tensor<1x5x2xi8>
  %init = arith.constant 0 : i8
  %f = linalg.fill ins(%init : i8) outs(%e : tensor<1x5x2xi8>) -> tensor<1x5x2xi8>
  %0 = linalg.pooling_nwc_max_unsigned {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a, %w : tensor<1x6x2xi8>, tensor<2xi8>) outs(%f : tensor<1x5x2xi8>) -> tensor<1x5x2xi8>
  return %0 : tensor<1x5x2xi8>
}
func.func @pooling_nwc_min_unsigned(%a: tensor<1x6x2xi8>) -> tensor<1x5x2xi8> {
  %w = tensor.empty() : tensor<2xi8>
  %e = tensor.empty() : tensor<1x5x2xi8>
  %init = arith.constant 127 : i8
  %f = linalg.fill ins(%init : i8) outs(%e : tensor<1x5x2xi8>) -> tensor<1x5x2xi8>
  %0 = linalg.pooling_nwc_min_unsigned {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a, %w : tensor<1x6x2xi8>, tensor<2xi8>) outs(%f : tensor<1x5x2xi8>) -> tensor<1x5x2xi8>
  return %0 : tensor<1x5x2xi8>
}
func.func @pooling_ndhwc_max(%a: tensor<1x6x6x6x2xf32>) -> tensor<1x5x5x5x2xf32> {
  %w = tensor.empty() : tensor<2x2x2xf32>
  %e = tensor.empty() : tensor<1x5x5x5x2xf32>
  %init = arith.constant 0xFF800000 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<1x5x5x5x2xf32>) -> tensor<1x5x5x5x2xf32>
  %0 = linalg.pooling_ndhwc_max {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%a, %w : tensor<1x6x6x6x2xf32>, tensor<2x2x2xf32>) outs(%f : tensor<1x5x5x5x2xf32>) -> tensor<1x5x5x5x2xf32>
  return %0 : tensor<1x5x5x5x2xf32>
}
func.func @pooling_ndhwc_sum(%a: tensor<1x6x6x6x2xf32>) -> tensor<1x5x5x5x2xf32> {
  %w = tensor.empty() : tensor<2x2x2xf32>
  %e = tensor.empty() : tensor<1x5x5x5x2xf32>
  %init = arith.constant 0.0 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<1x5x5x5x2xf32>) -> tensor<1x5x5x5x2xf32>
  %0 = linalg.pooling_ndhwc_sum {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%a, %w : tensor<1x6x6x6x2xf32>, tensor<2x2x2xf32>) outs(%f : tensor<1x5x5x5x2xf32>) -> tensor<1x5x5x5x2xf32>
  return %0 : tensor<1x5x5x5x2xf32>
}
func.func @pooling_ndhwc_min(%a: tensor<1x6x6x6x2xf32>) -> tensor<1x5x5x5x2xf32> {
  %w = tensor.empty() : tensor<2x2x2xf32>
  %e = tensor.empty() : tensor<1x5x5x5x2xf32>
  %init = arith.constant 0x7F800000 : f32
  %f = linalg.fill ins(%init : f32) outs(%e : tensor<1x5x5x5x2xf32>) -> tensor<1x5x5x5x2xf32>
  %0 = linalg.pooling_ndhwc_min {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%a, %w : tensor<1x6x6x6x2xf32>, tensor<2x2x2xf32>) outs(%f : tensor<1x5x5x5x2xf32>) -> tensor<1x5x5x5x2xf32>
  return %0 : tensor<1x5x5x5x2xf32>
}
func.func @softmax(%a: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %e = tensor.empty() : tensor<2x4xf32>
  %0 = linalg.softmax dimension(1) ins(%a : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
func.func @winograd_filter_transform(%a: tensor<3x3x3x2xf32>) -> tensor<6x6x2x3xf32> {
  %e = tensor.empty() : tensor<6x6x2x3xf32>
  %0 = linalg.winograd_filter_transform fmr(F_4_3) ins(%a : tensor<3x3x3x2xf32>) outs(%e : tensor<6x6x2x3xf32>) -> tensor<6x6x2x3xf32>
  return %0 : tensor<6x6x2x3xf32>
}
func.func @winograd_input_transform(%a: tensor<1x6x6x2xf32>) -> tensor<6x6x1x1x1x2xf32> {
  %e = tensor.empty() : tensor<6x6x1x1x1x2xf32>
  %0 = linalg.winograd_input_transform fmr(F_4_3) ins(%a : tensor<1x6x6x2xf32>) outs(%e : tensor<6x6x1x1x1x2xf32>) -> tensor<6x6x1x1x1x2xf32>
  return %0 : tensor<6x6x1x1x1x2xf32>
}
func.func @winograd_output_transform(%a: tensor<6x6x1x1x1x3xf32>) -> tensor<1x4x4x3xf32> {
  %e = tensor.empty() : tensor<1x4x4x3xf32>
  %0 = linalg.winograd_output_transform fmr(F_4_3) ins(%a : tensor<6x6x1x1x1x3xf32>) outs(%e : tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  return %0 : tensor<1x4x4x3xf32>
}
func.func @pack(%a: tensor<4x4xf32>) -> tensor<2x2x2x2xf32> {
  %e = tensor.empty() : tensor<2x2x2x2xf32>
  %0 = linalg.pack %a inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %e : tensor<4x4xf32> -> tensor<2x2x2x2xf32>
  return %0 : tensor<2x2x2x2xf32>
}
func.func @unpack(%a: tensor<2x2x2x2xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %0 = linalg.unpack %a inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %e : tensor<2x2x2x2xf32> -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
