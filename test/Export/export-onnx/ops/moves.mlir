// RUN: mct-translate --export-onnx --onnx-profile=mct_quantizers --onnx-format=text %s | FileCheck %s

// CHECK: main (float[1,2,3,2] arg0) => (float[1,5,5,3] pad, float[1,6,4,2] tile, float[1,2,3,2] max_pool2d, float[1,6,2] positions/transposed, float[1,3,4,1] mixed, float[1,2,3,2] abs, float[1,2,3,2] abs/output)
// CHECK: {{^[{]$}}
// CHECK-NEXT: [max_pool2d] max_pool2d = MaxPool <kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0]> (arg0)
// CHECK-NEXT: [concat] concat = Concat <axis = 1> (max_pool2d, concat/constant)
// CHECK-NEXT: [slice] slice = Slice (concat, slice/starts, slice/ends, slice/axes)
// CHECK-NEXT: [pad] pad = Pad <mode = "constant"> (slice, pad/pads, pad/value)
// CHECK-NEXT: [tile] tile = Tile (slice, tile/repeats)
// CHECK-NEXT: [positions] positions = Reshape (max_pool2d, positions/shape)
// CHECK-NEXT: [max_pool2d/transposed] max_pool2d/transposed = Transpose <perm = [0, 2, 3, 1]> (max_pool2d)
// CHECK-NEXT: [mixed] mixed = Reshape (max_pool2d/transposed, mixed/shape)
// CHECK-NEXT: [abs] abs = Abs (arg0)
// CHECK-NEXT: [positions/transposed] positions/transposed = Transpose <perm = [0, 2, 1]> (positions)
// CHECK-NEXT: [abs/output] abs/output = Identity (abs)
// CHECK-NEXT: {{^[}]$}}
func.func @main(%x: tensor<1x3x2x2xf32>) -> (tensor<1x5x3x5xf32>, tensor<1x4x2x6xf32>, tensor<1x2x3x2xf32>, tensor<1x6x2xf32>, tensor<1x3x4x1xf32>, tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>) {
  %p = tosa.max_pool2d %x {kernel = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
  %k = "tosa.const"() <{values = dense<[[[[-0.125], [-0.0]], [[-1.375], [1.75]], [[1.5], [-0.5]]]]> : tensor<1x3x2x1xf32>}> : () -> tensor<1x3x2x1xf32>
  %c = tosa.concat %p, %k {axis = 3 : i32} : (tensor<1x3x2x2xf32>, tensor<1x3x2x1xf32>) -> tensor<1x3x2x3xf32> loc("concat")
  %b = tosa.const_shape {values = dense<[0, 1, 0, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %sz = tosa.const_shape {values = dense<[1, 2, 2, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %s = tosa.slice %c, %b, %sz : (tensor<1x3x2x3xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x2x2x2xf32> loc("slice")
  %b0 = tosa.const_shape {values = dense<[0, 0, 0, 0]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %all = tosa.const_shape {values = dense<[1, 2, 2, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %s0 = tosa.slice %s, %b0, %all : (tensor<1x2x2x2xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x2x2x2xf32> loc("whole")
  %pads = tosa.const_shape {values = dense<[0, 0, 1, 2, 0, 1, 3, 0]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %fill = "tosa.const"() <{values = dense<0.5> : tensor<1xf32>}> : () -> tensor<1xf32>
  %pd = tosa.pad %s0, %pads, %fill : (tensor<1x2x2x2xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x5x3x5xf32> loc("pad")
  %rep = tosa.const_shape {values = dense<[1, 2, 1, 3]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %t = tosa.tile %s, %rep : (tensor<1x2x2x2xf32>, !tosa.shape<4>) -> tensor<1x4x2x6xf32> loc("tile")
  %tr = tosa.transpose %p {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x3x2x2xf32>) -> tensor<1x2x3x2xf32> loc("transpose")
  %r1 = tosa.const_shape {values = dense<[1, 6, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %re = tosa.reshape %p, %r1 : (tensor<1x3x2x2xf32>, !tosa.shape<3>) -> tensor<1x6x2xf32> loc("positions")
  %r2 = tosa.const_shape {values = dense<[1, 3, 4, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %rf = tosa.reshape %p, %r2 : (tensor<1x3x2x2xf32>, !tosa.shape<4>) -> tensor<1x3x4x1xf32> loc("mixed")
  %w = tosa.abs %x : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32> loc("abs")
  return %pd, %t, %tr, %re, %rf, %w, %w : tensor<1x5x3x5xf32>, tensor<1x4x2x6xf32>, tensor<1x2x3x2xf32>, tensor<1x6x2xf32>, tensor<1x3x4x1xf32>, tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>
}
