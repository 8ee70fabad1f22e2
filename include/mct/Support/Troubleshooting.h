// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_SUPPORT_TROUBLESHOOTING_H
#define MCT_SUPPORT_TROUBLESHOOTING_H

namespace mct::support {

/// Text at the end of a note whose remedy needs more than a line, followed by
/// the anchor of a heading of that page: `<< kTroubleshooting << "anchor"`.
/// test/python/test_docs.py checks that the page has every anchor.
inline constexpr char kTroubleshooting[] =
    "; see docs/guide/troubleshooting.md#";

} // namespace mct::support

#endif // MCT_SUPPORT_TROUBLESHOOTING_H
