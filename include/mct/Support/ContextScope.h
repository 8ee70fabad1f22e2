// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_SUPPORT_CONTEXTSCOPE_H
#define MCT_SUPPORT_CONTEXTSCOPE_H

#include <map>
#include <mutex>

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace mct::support {

/// While it lives, `find` of its context is the object: a context cannot carry
/// anything of ours. One at a time for each context and type. Thread safe.
template <typename T> class ContextScope {
public:
  ContextScope(mlir::MLIRContext *context, T &object) : context(context) {
    std::lock_guard<std::mutex> lock(all().mutex);
    all().open[context] = &object;
  }
  ~ContextScope() {
    std::lock_guard<std::mutex> lock(all().mutex);
    all().open.erase(context);
  }
  ContextScope(const ContextScope &) = delete;
  ContextScope &operator=(const ContextScope &) = delete;

  /// Null: there is none.
  static T *find(mlir::MLIRContext *context) {
    std::lock_guard<std::mutex> lock(all().mutex);
    auto found = all().open.find(context);
    return found == all().open.end() ? nullptr : found->second;
  }

private:
  struct Objects {
    std::mutex mutex;
    std::map<mlir::MLIRContext *, T *> open;
  };
  static Objects &all() {
    static Objects objects;
    return objects;
  }

  mlir::MLIRContext *context;
};

} // namespace mct::support

#endif // MCT_SUPPORT_CONTEXTSCOPE_H
