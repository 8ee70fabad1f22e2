// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_SUPPORT_CONTEXTFILES_H
#define MCT_SUPPORT_CONTEXTFILES_H

#include "mct/Support/ContextScope.h"
#include "mct/Support/InputFile.h"
#include "mlir/IR/DialectRegistry.h"

namespace mct::support {

/// Registers the files that the tool reads and writes with the contexts of a
/// registry. The object must outlive them.
class ToolFilesExtension
    : public mlir::DialectExtension<ToolFilesExtension, mlir::BuiltinDialect> {
public:
  explicit ToolFilesExtension(const ToolFiles &files) : files(&files) {}
  void apply(mlir::MLIRContext *context, mlir::BuiltinDialect *) const final {
    ContextObjects::get(context).set(files);
  }

private:
  const ToolFiles *files;
};

/// Checks the output files of a pass, also against those of the tool.
inline llvm::Error checkOutputFiles(mlir::MLIRContext *context,
                                    llvm::ArrayRef<std::string> outputs,
                                    llvm::ArrayRef<std::string> inputs) {
  const auto *tool = ContextObjects::find<const ToolFiles>(context);
  return checkOutputFiles(outputs, inputs, tool ? *tool : ToolFiles());
}

} // namespace mct::support

#endif // MCT_SUPPORT_CONTEXTFILES_H
