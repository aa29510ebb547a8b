// What the browser keeps for a page, where storage is not switched off.

export const SINGLE_KEYS = "veritrail.review.keys"; // "off": single keys do nothing (WCAG 2.1.4)

export function stored(storage, name) {
  try {
    return storage.getItem(name);
  } catch {
    return null; // storage may be switched off
  }
}
