// RUN: echo '{"format": "mct-shards", "version": 1, "parts": []}' > %t.a.json
// RUN: cp %t.a.json %t.b.json
// RUN: mct-opt %s --mct-merge-shards="shards-in=%t.a.json,%t.b.json shards-out=%t.json" | FileCheck %s
// RUN: FileCheck %s --check-prefix=FILE < %t.json
// FILE: {"format":"mct-shards","version":1,"parts":[]}

// CHECK: module {
// CHECK-NEXT: }
module {
}
