import { fetched } from "./fetched.js";

// A claim in the text and the same claim in the list light up together.

const byClaim = new Map();
for (const one of document.querySelectorAll("[data-claim]")) {
  const id = one.dataset.claim;
  if (!byClaim.has(id)) byClaim.set(id, []);
  byClaim.get(id).push(one);
}

function light(event, isOn) {
  const found = event.target.closest?.("[data-claim]");
  if (!found) return;
  for (const one of byClaim.get(found.dataset.claim) ?? []) one.classList.toggle("lit", isOn);
}

for (const [name, isOn] of [["pointerover", true], ["pointerout", false], ["focusin", true], ["focusout", false]]) {
  document.addEventListener(name, (event) => light(event, isOn));
}

// From one claim that is not fully supported to the next one, or back.
const jumps = [...document.querySelectorAll("[data-jump]")];

function jump(step) {
  const here = jumps.findIndex((one) => one.hash === location.hash);
  const to = here < 0 ? (step > 0 ? 0 : jumps.length - 1) : (here + step + jumps.length) % jumps.length;
  jumps[to].click();
}

for (const button of document.querySelectorAll("[data-jump-by]")) {
  if (jumps.length < 2) continue;
  button.hidden = false;
  button.addEventListener("click", () => jump(Number(button.dataset.jumpBy)));
}

// The picture of the claim that is pointed at, or gone to.
const side = document.querySelector("[data-pictures]");
const pictures = new Map();
let wanted = null;

async function picture(id) {
  if (!pictures.has(id)) {
    const address = `${side.dataset.pictures}/${encodeURIComponent(id)}/picture`;
    pictures.set(id, fetched(address).then((page) => page.querySelector("[data-picture]")));
  }
  try {
    const found = await pictures.get(id);
    if (!found || wanted !== id) return;
    side.querySelector("[data-picture]").replaceChildren(...found.cloneNode(true).childNodes);
    side.scrollTop = 0;
  } catch {
    pictures.delete(id); // the picture before stays; the next try may work
  }
}

function show(id, after) {
  if (!side || !id || wanted === id) return;
  wanted = id;
  setTimeout(() => wanted === id && side.open && picture(id), after);
}

function ofAddress() {
  if (location.hash.startsWith("#in-")) show(decodeURIComponent(location.hash.slice(4)), 0);
}

for (const name of ["pointerover", "focusin"]) {
  document.addEventListener(name, (event) => show(event.target.closest?.("[data-claim]")?.dataset.claim, 200));
}
addEventListener("hashchange", ofAddress);
ofAddress();

// The menu closes when one goes on elsewhere.
const menu = document.querySelector("[data-menu]");
addEventListener("click", (event) => {
  if (menu && !menu.contains(event.target)) menu.open = false;
});
menu?.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !menu.open) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});
