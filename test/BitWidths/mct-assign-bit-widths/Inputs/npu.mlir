// SPDX-License-Identifier: Apache-2.0
tpc.device @my_npu configurations ["my-npu"] {
  tpc.cost_table "costs.json"
}
