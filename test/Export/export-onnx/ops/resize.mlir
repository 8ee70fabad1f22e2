// RUN: mct-translate --export-onnx --onnx-profile=mct_quantizers --onnx-format=text %s | FileCheck %s

// CHECK: main (float[1,2,3,4] arg0) => (float[1,2,6,8] nearest, float[1,2,6,8] half_pixel, float[1,2,6,8] asymmetric, float[1,2,9,10] align_corners, float[1,2,10,8] sizes)
// CHECK: float[4] nearest/scales =
// CHECK: float[4] half_pixel/scales =
// CHECK: float[4] asymmetric/scales =
// CHECK: float[4] align_corners/scales =
// CHECK: {{^[{]$}}
// CHECK-NEXT: [nearest] nearest = Resize <mode = "nearest", coordinate_transformation_mode = "asymmetric", nearest_mode = "floor"> (arg0, , nearest/scales)
// CHECK-NEXT: [half_pixel] half_pixel = Resize <mode = "linear", coordinate_transformation_mode = "half_pixel"> (arg0, , half_pixel/scales)
// CHECK-NEXT: [asymmetric] asymmetric = Resize <mode = "linear", coordinate_transformation_mode = "asymmetric"> (arg0, , asymmetric/scales)
// CHECK-NEXT: [align_corners] align_corners = Resize <mode = "linear", coordinate_transformation_mode = "align_corners"> (arg0, , align_corners/scales)
// CHECK-NEXT: [sizes] sizes = Resize <mode = "linear", coordinate_transformation_mode = "half_pixel"> (arg0, , , sizes/sizes)
// CHECK-NEXT: {{^[}]$}}
func.func @main(%x: tensor<1x3x4x2xf32>) -> (tensor<1x6x8x2xf32>, tensor<1x6x8x2xf32>, tensor<1x6x8x2xf32>, tensor<1x9x10x2xf32>, tensor<1x10x8x2xf32>) {
  %sca = tosa.const_shape {values = dense<[4, 2, 4, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %ofa = tosa.const_shape {values = dense<[-1, -1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %boa = tosa.const_shape {values = dense<[1, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %a = tosa.resize %x, %sca, %ofa, %boa {mode = NEAREST_NEIGHBOR} : (tensor<1x3x4x2xf32>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x6x8x2xf32> loc("nearest")
  %scb = tosa.const_shape {values = dense<[4, 2, 4, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %ofb = tosa.const_shape {values = dense<[-1, -1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %bob = tosa.const_shape {values = dense<[1, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %b = tosa.resize %x, %scb, %ofb, %bob {mode = BILINEAR} : (tensor<1x3x4x2xf32>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x6x8x2xf32> loc("half_pixel")
  %scc = tosa.const_shape {values = dense<[2, 1, 2, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %ofc = tosa.const_shape {values = dense<[0, 0]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %boc = tosa.const_shape {values = dense<[1, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %c = tosa.resize %x, %scc, %ofc, %boc {mode = BILINEAR} : (tensor<1x3x4x2xf32>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x6x8x2xf32> loc("asymmetric")
  %scd = tosa.const_shape {values = dense<[4, 1, 3, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %ofd = tosa.const_shape {values = dense<[0, 0]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %bod = tosa.const_shape {values = dense<[0, 0]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %d = tosa.resize %x, %scd, %ofd, %bod {mode = BILINEAR} : (tensor<1x3x4x2xf32>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x9x10x2xf32> loc("align_corners")
  %sce = tosa.const_shape {values = dense<[20, 6, 4, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %ofe = tosa.const_shape {values = dense<[-7, -1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %boe = tosa.const_shape {values = dense<[7, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %e = tosa.resize %x, %sce, %ofe, %boe {mode = BILINEAR} : (tensor<1x3x4x2xf32>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x10x8x2xf32> loc("sizes")
  return %a, %b, %c, %d, %e : tensor<1x6x8x2xf32>, tensor<1x6x8x2xf32>, tensor<1x6x8x2xf32>, tensor<1x9x10x2xf32>, tensor<1x10x8x2xf32>
}
