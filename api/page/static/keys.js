// Single keys on the pages of processes and claims: each does what a link or a button there does.
// n and p lead to the next and the previous claim that is not fully supported, j and k to the next
// and the previous claim. Who switches single keys off on the review page has none here, either
// (WCAG 2.1.4); they never fire while somebody types.

import { SINGLE_KEYS, stored } from "./stored.js";

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  if (event.target.closest?.("input, textarea, select, [contenteditable]") || !/^[jknp]$/.test(event.key) || stored(localStorage, SINGLE_KEYS) === "off") return;
  const found = document.querySelector(`[aria-keyshortcuts="${event.key}"]:not([hidden])`);
  if (!found) return;
  event.preventDefault();
  found.click();
});
