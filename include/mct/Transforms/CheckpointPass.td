// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_TRANSFORMS_CHECKPOINTPASS_TD
#define MCT_TRANSFORMS_CHECKPOINTPASS_TD

include "mlir/Pass/PassBase.td"

def CheckpointPass : Pass<"mct-checkpoint", "::mlir::ModuleOp"> {
  let summary = "Run pipelines in order, and resume where an earlier run ended";
  let description = [{
    Runs the stages, and saves the module after each of them in `module.mlirbc` of the folder `directory`, which is
    created if it does not exist: a run that was killed or cancelled is resumed after the last completed stage, with the
    same bytes as a result, and emits the warnings and remarks of the earlier stages again. The file gets its name when
    it is complete, and has a digest of its contents: a damaged file is an error. Other files in the folder are ignored.
    `mct-ptq` and `mct-correct` use this pass for theirs if they get `checkpoint=DIR`; a stage ends after each pass that
    runs the network.

    A folder belongs to one run. Another version of the compiler, another network, other options of the passes, and
    other contents of the files that they name, including samples, are errors. Names of files do not count, and neither
    do options that change no result: threads, batches, limits of memory, remarks, and files that are written. Other
    files that a finished stage has written (`statistics-out`) are not written again.

    Before:
    ```mlir
    %0 = tosa.exp %arg0 : (tensor<4xf32>) -> tensor<4xf32> loc(unknown)
    ```

    After:
    ```mlir
    %0 = tosa.exp %arg0 : (tensor<4xf32>) -> tensor<4xf32> loc("exp")
    ```
  }];
  let options = [
    Option<"directory", "directory", "std::string", /*default=*/"", "Folder of the checkpoint">,
    ListOption<"stages", "stages", "::mlir::OpPassManager", "Pipelines in order: builtin.module(PASSES),…">,
  ];
}

#endif // MCT_TRANSFORMS_CHECKPOINTPASS_TD
