// SPDX-License-Identifier: Apache-2.0
// What this tab may do: what it may not is not offered.
import { signal } from "@preact/signals";
import { get } from "./api";

export interface Me { name: string; role: string; open: boolean; supervised: boolean }
export const me = signal<Me | undefined>(undefined);

const kRanks = ["viewer", "operator", "admin"];

export function may(role: "operator" | "admin"): boolean {
  return me.value !== undefined && kRanks.indexOf(me.value.role) >= kRanks.indexOf(role);
}

export async function loadMe() {
  try {
    me.value = await get("v1/me");
  } catch {
    setTimeout(loadMe, 2000);
  }
}
