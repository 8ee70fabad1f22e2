// SPDX-License-Identifier: Apache-2.0
// The target of the precompiled header needs a source.
