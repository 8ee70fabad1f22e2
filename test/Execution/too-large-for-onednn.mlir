// oneDNN divides by sizes that it has cut to 32 bits: 0 for 2^31 rows of 8 elements, which was the end of the process.
// RUN: not mct-run %s --function=convolution --input=%mct_data/digits_test.npy --max-memory=1G 2>&1 | FileCheck %s --check-prefix=CONV
// RUN: not mct-run %s --function=product --input=%mct_data/digits_test.npy --max-memory=1G 2>&1 | FileCheck %s --check-prefix=PRODUCT

// CONV: remark: 'tosa.conv2d' op runs without oneDNN, slowly: a tensor is too large for oneDNN
// CONV: error: the network needs {{.*}} more than the 1073741824 bytes there are
func.func @convolution(%x: tensor<1x2147483648x4x2xf32>) -> tensor<1x2147483648x4x2xf32> {
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %x, %kernel, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2147483648x4x2xf32>, tensor<2x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2147483648x4x2xf32>
  return %0 : tensor<1x2147483648x4x2xf32>
}

// PRODUCT: remark: 'tosa.matmul' op runs without oneDNN, slowly: a factor is too large for oneDNN
// PRODUCT: error: the network needs {{.*}} more than the 1073741824 bytes there are
func.func @product(%x: tensor<1x2147483648x2xf32>) -> tensor<1x2147483648x2xf32> {
  %y = "tosa.const"() <{values = dense<1.0> : tensor<1x2x2xf32>}> : () -> tensor<1x2x2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.matmul %x, %y, %zero, %zero : (tensor<1x2147483648x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2147483648x2xf32>
  return %0 : tensor<1x2147483648x2xf32>
}
