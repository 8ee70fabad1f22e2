// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_SUPPORT_CONTEXTSCOPE_H
#define MCT_SUPPORT_CONTEXTSCOPE_H

#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectInterface.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/DenseMap.h"

#include <mutex>

namespace mct::support {

/// Objects of callers that are registered with a context by their types. The
/// context owns the table, as an interface of its builtin dialect, but not the
/// objects. Thread safe.
class ContextObjects : public mlir::DialectInterface::Base<ContextObjects> {
public:
  explicit ContextObjects(mlir::Dialect *dialect) : Base(dialect) {}

  /// Returns the table of the context, and creates it if there is none; the
  /// first call for a context must not be concurrent with other uses of it.
  static ContextObjects &get(mlir::MLIRContext *context) {
    auto *builtin = context->getLoadedDialect<mlir::BuiltinDialect>();
    if (auto *known = builtin->getRegisteredInterface<ContextObjects>())
      return *known;
    return builtin->addInterface<ContextObjects>();
  }

  /// Sets the object of a type; null removes it.
  template <typename T> void set(T *object) {
    std::lock_guard<std::mutex> lock(mutex);
    objects[mlir::TypeID::get<T>()] =
        const_cast<std::remove_const_t<T> *>(object);
  }
  /// Returns null if there is no object of that type.
  template <typename T> static T *find(mlir::MLIRContext *context) {
    auto *builtin = context->getLoadedDialect<mlir::BuiltinDialect>();
    auto *table = builtin->getRegisteredInterface<ContextObjects>();
    if (!table)
      return nullptr;
    std::lock_guard<std::mutex> lock(table->mutex);
    return static_cast<T *>(table->objects.lookup(mlir::TypeID::get<T>()));
  }

private:
  std::mutex mutex;
  llvm::DenseMap<mlir::TypeID, void *> objects;
};

/// Registers an object with a context while it lives: `find` returns it. There
/// may be one at a time for each context and type.
template <typename T> class ContextScope {
public:
  ContextScope(mlir::MLIRContext *context, T &object) : context(context) {
    ContextObjects::get(context).set(&object);
  }
  ~ContextScope() { ContextObjects::get(context).set<T>(nullptr); }
  ContextScope(const ContextScope &) = delete;
  ContextScope &operator=(const ContextScope &) = delete;

  /// Returns null if there is none.
  static T *find(mlir::MLIRContext *context) {
    return ContextObjects::find<T>(context);
  }

private:
  mlir::MLIRContext *context;
};

} // namespace mct::support

#endif // MCT_SUPPORT_CONTEXTSCOPE_H
