// SPDX-License-Identifier: Apache-2.0
//
// Sony IMX500 of MCT 2.2, version 2 with kernels of 4 and 2 bits as tables of values.

tpc.derive @imx500_lut_tp_model from "imx500_v1_lut" version 2, 0 metadata = true
