// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_SUPPORT_CONTEXTFILES_H
#define MCT_SUPPORT_CONTEXTFILES_H

#include "mct/Support/ContextScope.h"
#include "mct/Support/InputFile.h"
#include "mct/Support/MappedFile.h"
#include "mlir/IR/DialectRegistry.h"

namespace mct::support {

/// Registers an object with the contexts of a registry (`ContextObjects`). The
/// object must outlive them.
template <typename T>
class ContextExtension
    : public mlir::DialectExtension<ContextExtension<T>, mlir::BuiltinDialect> {
public:
  static void addTo(mlir::DialectRegistry &registry, T &object) {
    registry.addExtension(
        mlir::TypeID::get<ContextExtension<T>>(),
        std::unique_ptr<ContextExtension>(new ContextExtension(object)));
  }
  void apply(mlir::MLIRContext *context, mlir::BuiltinDialect *) const final {
    ContextObjects::get(context).set(object);
  }

private:
  explicit ContextExtension(T &object) : object(&object) {}

  T *object;
};

/// Releases the memory of the mapped files of the tool, if it has any.
inline void releaseMappedFiles(mlir::MLIRContext *context) {
  if (auto *files = ContextObjects::find<MappedFiles>(context))
    files->release();
}

/// Checks the output files of a pass, also against those of the tool.
inline llvm::Error checkOutputFiles(mlir::MLIRContext *context,
                                    llvm::ArrayRef<std::string> outputs,
                                    llvm::ArrayRef<std::string> inputs) {
  const auto *tool = ContextObjects::find<const ToolFiles>(context);
  return checkOutputFiles(outputs, inputs, tool ? *tool : ToolFiles());
}

} // namespace mct::support

#endif // MCT_SUPPORT_CONTEXTFILES_H
