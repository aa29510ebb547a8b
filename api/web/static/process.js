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
