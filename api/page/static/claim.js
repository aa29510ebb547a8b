// The trail of a claim: what is pointed at lights its way to the answer and to the sources, what is
// clicked stays lit, and what was left out is loaded where it belongs.

import { fetched } from "./fetched.js";

const cards = new Map();
const into = new Map();
for (const card of document.querySelectorAll("[data-node]")) {
  if (card.dataset.node === "") continue;
  cards.set(card.dataset.node, card);
}
for (const [number, card] of cards) {
  for (const target of (card.dataset.feeds ?? "").trim().split(/\s+/)) {
    if (!target) continue;
    if (!into.has(target)) into.set(target, []);
    into.get(target).push(number);
  }
}
const out = (number) => (cards.get(number)?.dataset.feeds ?? "").trim().split(/\s+/).filter(Boolean);
const back = (number) => into.get(number) ?? [];

function reach(start, step) {
  const found = new Set([start]);
  const waiting = [start];
  while (waiting.length) {
    for (const next of step(waiting.pop())) {
      if (!found.has(next)) {
        found.add(next);
        waiting.push(next);
      }
    }
  }
  return found;
}

let pinned = null;

function light(number) {
  const pair = document.querySelector(".claim-pair");
  if (!pair) return;
  const lit = number === null ? new Set() : new Set([...reach(number, out), ...reach(number, back)]);
  pair.classList.toggle("lighting", lit.size > 1);
  for (const [name, card] of cards) card.classList.toggle("lit", lit.has(name));
}

function unfold(element) {
  for (let folded = element.closest("details"); folded; folded = folded.parentElement.closest("details")) folded.open = true;
}

// A card in a folded stage is opened before it is gone to.
function goTo(element) {
  unfold(element);
  element.scrollIntoView({ block: "nearest", inline: "center" });
}

function cardOf(element) {
  const card = element.closest?.("[data-node]");
  return card && card.dataset.node !== "" ? card : null;
}

function pin(card, sentence) {
  for (const one of document.querySelectorAll(".pinned")) one.classList.remove("pinned");
  pinned = card ? card.dataset.node : null;
  card?.classList.add("pinned");
  sentence?.classList.add("pinned");
  light(pinned);
}

function fromAddress() {
  let target = null;
  try {
    target = location.hash ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null;
  } catch {
    return;
  }
  const card = target && cardOf(target);
  if (!card) return;
  if (card.closest("details:not([open])")) goTo(target);
  pin(card, target.matches(".ev") ? target : null);
}

// In another tab or window, or not a click of the main button: the browser knows what to do.
const isElsewhere = (event) => event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button !== 0;

function pointing() {
  const pair = document.querySelector(".claim-pair");
  if (!pair) return;
  for (const [begin, end] of [["pointerover", "pointerout"], ["focusin", "focusout"]]) {
    pair.addEventListener(begin, (event) => {
      const link = event.target.closest?.("[data-to]");
      const card = link ? cards.get(link.dataset.to) : cardOf(event.target);
      if (card && event.pointerType !== "touch") light(card.dataset.node);
    });
    pair.addEventListener(end, () => light(pinned));
  }
  pair.addEventListener("click", (event) => {
    if (isElsewhere(event)) return;
    const sentence = event.target.closest("a.ev");
    const link = event.target.closest("[data-to]");
    if (sentence) {
      event.preventDefault();
      const card = cardOf(sentence);
      const again = sentence.classList.contains("pinned");
      history.replaceState(null, "", again ? location.pathname + location.search : sentence.hash);
      pin(again ? null : card, again ? null : sentence);
      if (!again) goTo(sentence);
    } else if (link) {
      const card = cards.get(link.dataset.to);
      if (!card) return;
      event.preventDefault();
      history.replaceState(null, "", link.hash);
      pin(card, null);
      goTo(card);
      card.querySelector("a")?.focus({ preventScroll: true });
    }
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || pinned === null) return;
    history.replaceState(null, "", location.pathname + location.search);
    pin(null, null);
  });
  addEventListener("hashchange", fromAddress);
  fromAddress();
}

function tell(line, words) {
  const status = document.createElement("span");
  status.className = "status-line";
  status.setAttribute("role", "status");
  status.textContent = words;
  line.append(" ", status);
  return status;
}

async function load(link) {
  const line = link.closest(".more") ?? link;
  line.querySelector(".status-line")?.remove();
  link.setAttribute("aria-busy", "true");
  const status = tell(line, "Loading …");
  try {
    const asked = new URL(link.href);
    asked.searchParams.set("fragment", "1");
    const further = (await fetched(asked)).querySelector(".further");
    if (!further) throw new Error("nothing came back");
    further.tabIndex = -1;
    line.replaceWith(further);
    further.focus({ preventScroll: true });
  } catch (error) {
    link.removeAttribute("aria-busy");
    status.textContent = `This could not be loaded: ${error.reason ?? error.message}`;
  }
}

addEventListener("click", (event) => {
  const link = event.target.closest?.("a[data-more]");
  if (!link || isElsewhere(event)) return;
  event.preventDefault();
  if (link.getAttribute("aria-busy") !== "true") load(link);
});

// The claim is in the middle of its box, however long the text before it is.
function centre() {
  const box = document.querySelector(".answer-box");
  const claim = box?.querySelector(".u");
  if (!claim) return;
  const place = claim.getBoundingClientRect().top - box.getBoundingClientRect().top;
  box.scrollTop += place - box.clientHeight / 3;
}

centre();
pointing();
