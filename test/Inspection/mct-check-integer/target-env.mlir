// No text says this: only tosa-attach-target makes it, in memory.
// RUN: not mct-opt %s --tosa-attach-target="profiles=pro_int level=8k specification_version=1.0" --mct-check-integer -o /dev/null 2>&1 | FileCheck %s
// RUN: mct-opt %s --tosa-attach-target="profiles=pro_int extensions=int4 level=8k specification_version=1.0" --mct-check-integer -o /dev/null 2>&1 | FileCheck %s --check-prefix=NAMED --allow-empty

// CHECK: error: has a 'tosa.target_env' without extensions, which no parser reads back
// CHECK: note: remove the attribute before the module is written; attach it where it is validated
// NAMED-NOT: error
func.func @main(%arg0: tensor<4xi8>) -> tensor<4xi8> {
  return %arg0 : tensor<4xi8>
}
