// RUN: mct-opt %s --mct-report-resources --verify-diagnostics -o /dev/null | count 0

// expected-error @below {{'func.func' op has several blocks, so that the order of its ops is not a schedule; its resources are not known}}
func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^next
^next:
  return %x : tensor<4xf32>
}
