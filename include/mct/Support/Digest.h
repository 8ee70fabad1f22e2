// SPDX-License-Identifier: Apache-2.0
//
// Digests of content that identify files and networks.
#ifndef MCT_SUPPORT_DIGEST_H
#define MCT_SUPPORT_DIGEST_H

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/raw_ostream.h"

namespace mct::support {

/// Stream that hashes its input (BLAKE3).
class DigestStream : public llvm::raw_ostream {
public:
  ~DigestStream() override { flush(); }

  /// Returns the first 128 bits of the digest as 32 hexadecimal digits.
  std::string digits() {
    flush();
    return llvm::toHex(hash.final<16>(), /*LowerCase=*/true);
  }

private:
  void write_impl(const char *data, size_t size) override {
    hash.update(llvm::StringRef(data, size));
    written += size;
  }
  uint64_t current_pos() const override { return written; }

  llvm::BLAKE3 hash;
  uint64_t written = 0;
};

} // namespace mct::support

#endif // MCT_SUPPORT_DIGEST_H
