// RUN: mct-translate --export-onnx --onnx-profile=imx500 --onnx-format=text --onnx-nms=0.25:0.75:3 %s | FileCheck %s --check-prefixes=CHECK,FIRST
// RUN: mct-translate --export-onnx --onnx-profile=imx500 --onnx-format=text --onnx-nms=0.25:0.75:3:Sony --function=joined %s | FileCheck %s --check-prefixes=CHECK,JOINED
// RUN: not mct-translate --export-onnx --onnx-profile=imx500 --onnx-nms=0.25:0.75:3 --function=alone %s 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: not mct-translate --export-onnx --onnx-profile=qdq --onnx-nms=0.25:0.75:3 %s 2>&1 | FileCheck %s --check-prefix=QDQ
// RUN: not mct-translate --export-onnx --onnx-profile=imx500 --onnx-nms=0.25:0.75 %s 2>&1 | FileCheck %s --check-prefix=WORDS

// The camera's checks hold: boxes and scores are on grids, in whichever order they are returned, and the op reads them as they are.
// FIRST: opset_import: ["" : 20, "mct_quantizers" : 1, "EdgeMDT" : 1]
// JOINED: opset_import: ["" : 20, "mct_quantizers" : 1, "Sony" : 1]
// CHECK: => (float[1,3,4] detections/boxes, float[1,3] detections/scores, int32[1,3] detections/labels, int32[1,1] detections/n_valid)
// CHECK-NOT: Concat
// CHECK-DAG: [boxes/quantized] [[BOXES:.*]] = mct_quantizers.ActivationPOTQuantizer
// CHECK-DAG: [scores/quantized] [[SCORES:.*]] = mct_quantizers.ActivationPOTQuantizer
// FIRST: [nms] detections/boxes, detections/scores, detections/labels, detections/n_valid = EdgeMDT.MultiClassNMS <score_threshold = 0.25, iou_threshold = 0.75, max_detections = 3> ([[BOXES]], [[SCORES]])
// JOINED: [nms] {{.*}} = Sony.MultiClassNMS <{{.*}}> ([[BOXES]], [[SCORES]])
// CHECK-NEXT: {{^[}]$}}

// ALONE: error: 'func.func' op cannot end with MultiClassNMS: expected boxes [batch, n, 4] and scores [batch, n, classes] as results, or the concatenation of both, found 'tensor<1x5x4xf32>'
// ALONE: note: heads have no boxes: with decode=quantize, what decodes them is a part of the network; see docs/guide/troubleshooting.md#an-op-cannot-be-exported-to-onnx
// QDQ: error: 'func.func' op cannot end with MultiClassNMS: files of profile 'qdq' have ops of ONNX itself alone
// QDQ: note: choose a device, or profile 'mct_quantizers'
// WORDS: error: onnx-nms: expected SCORE:OVERLAP:DETECTIONS[:DOMAIN], as in 0.25:0.7:300, with shares from 0 to 1, found '0.25:0.75'

func.func @main(%scores: tensor<1x5x2xf32>, %boxes: tensor<1x5x4xf32>) -> (tensor<1x5x2xf32>, tensor<1x5x4xf32>) {
  %0 = tpc.quantize %scores as "scores" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8>) : tensor<1x5x2xf32>
  %1 = tpc.quantize %boxes as "boxes" activation parameters(#tpc.power_of_two<threshold = [64.0], bits = 8>) : tensor<1x5x4xf32>
  return %0, %1 : tensor<1x5x2xf32>, tensor<1x5x4xf32>
}

func.func @joined(%scores: tensor<1x5x2xf32>, %boxes: tensor<1x5x4xf32>) -> tensor<1x5x6xf32> {
  %0 = tpc.quantize %scores as "scores" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8>) : tensor<1x5x2xf32>
  %1 = tpc.quantize %boxes as "boxes" activation parameters(#tpc.power_of_two<threshold = [64.0], bits = 8>) : tensor<1x5x4xf32>
  %2 = tosa.concat %1, %0 {axis = 2 : i32} : (tensor<1x5x4xf32>, tensor<1x5x2xf32>) -> tensor<1x5x6xf32>
  return %2 : tensor<1x5x6xf32>
}

func.func @alone(%boxes: tensor<1x5x4xf32>) -> tensor<1x5x4xf32> {
  %1 = tpc.quantize %boxes as "boxes" activation parameters(#tpc.power_of_two<threshold = [64.0], bits = 8>) : tensor<1x5x4xf32>
  return %1 : tensor<1x5x4xf32>
}
