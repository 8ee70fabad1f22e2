// SPDX-License-Identifier: Apache-2.0
#ifndef TPC_DIALECT_TRANSFORMS_PASSES_TD
#define TPC_DIALECT_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def Tpc_TargetOption :
    Option<"target", "target", "std::string", /*default=*/"\"default\"",
           "A name of --tpc-list-targets, or path of a file with a tpc.platform, a tpc.derive or MCT's JSON">;

def AttachTargetPass : Pass<"tpc-attach-target", "::mlir::ModuleOp"> {
  let summary = "Attach the description of a target platform to the module";
  let description = [{
    Copies the `tpc.platform`, `tpc.binding` and `tpc.framework` ops of a target to the beginning of the module and
    names the platform in the module attribute `tpc.target`. From then on the module states its target. A target that
    was attached before is replaced. A `tpc.derive` becomes the platform that it describes. A target without a
    `tpc.binding` gets the stock ones, restricted to the operator sets that the platform defines. The stock
    `tpc.framework`s are added after the target's own: the first description of an op counts.

    The target is checked as a whole: errors for a binding that names ops, attributes, operands or subgraphs which do
    not exist, or one pattern in two operator sets with different options; warnings for what is legal but probably
    unintended, such as an operator set without ops.

    Source: MCT `get_target_platform_capabilities` and `AttachTpcToFramework`.

    Before:
    ```mlir
    module {
      func.func @relu(%x: tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32> {
        %0 = tosa.clamp %x {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32}
               : (tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
        return %0 : tensor<1x8x8x16xf32>
      }
    }
    ```

    After:
    ```mlir
    module attributes {tpc.target = @imx500_tpc} {
      tpc.platform @imx500_tpc type("imx500") version 1, 0 simd_padding default(#options) operator_sets [...]
      tpc.binding @imx500_tpc_on_tosa for @imx500_tpc [...]
      tpc.framework @tosa [...]
      func.func @relu(%x: tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32> {
        %0 = tosa.clamp %x {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32}
               : (tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
        return %0 : tensor<1x8x8x16xf32>
      }
    }
    ```

    Fails if the target is neither known nor a readable file, or does not define exactly one platform.
  }];
  let options = [Tpc_TargetOption];
  let dependentDialects = ["::mct::tpc::TpcDialect", "::mlir::tosa::TosaDialect"];
}

#endif // TPC_DIALECT_TRANSFORMS_PASSES_TD
