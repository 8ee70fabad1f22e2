#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Exit status 1 for a module that mct-opt reads and that has a shift: what mct-reduce calls interesting.
mct-opt "$1" -o /dev/null 2>/dev/null || exit 0
! grep -q arithmetic_right_shift "$1"
