// What a device names has to exist.
// RUN: split-file %s %t
// RUN: not mct-opt %t/network.mlir --mct-check-integer=profile=%t/op.mlir 2>&1 | FileCheck %s --check-prefix=OP
// RUN: not mct-opt %t/network.mlir --mct-check-integer=profile=%t/attribute.mlir 2>&1 | FileCheck %s --check-prefix=ATTRIBUTE
// RUN: not mct-opt %t/network.mlir --mct-check-integer=profile=%t/derived.mlir 2>&1 | FileCheck %s --check-prefix=DERIVED
// RUN: not mct-opt %t/network.mlir --mct-check-integer=profile=%t/network.mlir 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not mct-opt %t/network.mlir --mct-check-integer=profile=%t/absent.mlir 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: not mct-opt %t/network.mlir --mct-check-integer=profile=ethos-u56 2>&1 | FileCheck %s --check-prefix=NEAR
// RUN: not mct-opt %t/network.mlir --mct-check-integer=profile=ethos-u55-32 2>&1 | FileCheck %s --check-prefix=SMALLER
// RUN: not mct-opt %t/network.mlir --mct-check-integer=profile=tflite_v1 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not mct-opt %t/network.mlir --tpc-attach-target=target=ethos-u85-256 2>&1 | FileCheck %s --check-prefix=DEVICE
// The vendor's name of a configuration is one of its device.
// RUN: mct-opt %t/network.mlir --mct-check-integer=profile=ethos-u55-256 | FileCheck %s --check-prefix=KNOWN
// RUN: mct-opt %t/network.mlir --mct-check-integer=profile=ethos-u85-256 | FileCheck %s --check-prefix=KNOWN

// OP: error: 'tpc.refuse' op names 'tosa.matmull', which is not an op of dialect 'tosa'
// ATTRIBUTE: error: 'tosa.resize' has no attribute 'mod'; known: mode
// DERIVED: error: filters by unknown name '$bit'; known: $kernel_h,
// NONE: error: '{{.*}}network.mlir' must define one tpc.device, but has 0
// ABSENT: error: cannot read device file '{{.*}}absent.mlir': No such file or directory
// NEAR: error: unknown device 'ethos-u56'; did you mean 'ethos-u55'?; known: none, ethos-u55, ethos-u85, imx500, pro_int, or the path of a file
// SMALLER: error: unknown device 'ethos-u55-32'; did you mean 'ethos-u55'?
// TARGET: error: unknown device 'tflite_v1'; known: none,
// TARGET: note: 'tflite' is a target: it is given by target=tflite
// DEVICE: error: unknown target 'ethos-u85-256'; known: default,
// DEVICE: note: 'ethos-u85' is a device: it is given by device=ethos-u85
// KNOWN: func.func @main

//--- op.mlir
tpc.device @toy {
  tpc.refuse ["tosa.matmull"] reason("multiplies") remedy("add")
}

//--- attribute.mlir
tpc.device @toy {
  tpc.refuse ["tosa.resize"] where(#tpc.predicate<mod eq 1>) reason("resizes") remedy("do not")
}

//--- derived.mlir
tpc.device @toy {
  tpc.refuse where(#tpc.predicate<"$bit" eq 1>) reason("reads bits") remedy("read bytes")
}

//--- network.mlir
func.func @main(%x: tensor<4xi8>) -> tensor<4xi8> {
  return %x : tensor<4xi8>
}
