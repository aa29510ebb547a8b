// Review by keyboard. Every key does what a link or a button of the page does; without this file
// the links and buttons are there all the same.

import { SINGLE_KEYS, stored } from "./stored.js";

const work = document.querySelector("[data-review]");
const form = document.querySelector("[data-form]");
const told = document.querySelector("[data-told]");
const dialog = document.querySelector("[data-keys]");
const MOVED = "veritrail.review.moved";
const SCROLL = "veritrail.review.scroll";

function store(storage, name, value) {
  try {
    if (value === null) storage.removeItem(name);
    else storage.setItem(name, value);
    return true;
  } catch {
    return false;
  }
}

function tell(words) {
  if (told) told.textContent = words;
}

// Single keys (WCAG 2.1.4): they can be switched off, and never fire while somebody types.

let isOn = stored(localStorage, SINGLE_KEYS) !== "off";

function types(target) {
  if (!(target instanceof Element)) return false;
  if (target.closest("textarea, select, [contenteditable]")) return true;
  const input = target.closest("input");
  return input !== null && !["radio", "checkbox", "button", "submit"].includes(input.type);
}

function follow(rel) {
  const link = document.querySelector(`.review-work a[rel="${rel}"]`);
  if (link) {
    store(sessionStorage, MOVED, "1");
    link.click();
  }
  else tell(rel === "next" ? "This is the last claim of the list." : "This is the first claim of the list.");
}

function toLevel(step) {
  const levels = [...document.querySelectorAll("[data-levels] > li")];
  if (!levels.length) return tell("No sentence was picked for this claim.");
  const here = levels.indexOf(document.activeElement?.closest("[data-levels] > li"));
  const to = here < 0 ? (step > 0 ? 0 : levels.length - 1) : here + step;
  if (!levels[to]) return tell(step > 0 ? "This is the stage next to the answer." : "These are the sources.");
  levels[to].focus({ preventScroll: true });
  levels[to].scrollIntoView({ block: "nearest", inline: "nearest" });
}

function choose(key) {
  const radio = form?.querySelector(`input[data-key="${key}"]`);
  if (!radio) return tell("There is no form: say who you are first.");
  if (radio.disabled) return tell("This claim has no verdict of a judge; only 4 can be said of it.");
  radio.checked = true;
  radio.dispatchEvent(new Event("change", { bubbles: true }));
  tell(`${radio.closest("label").querySelector("span").textContent}. Control and Enter saves.`);
}

function openKeys() {
  if (!dialog.open) dialog.showModal();
}

const SINGLE = {
  j: () => follow("next"),
  k: () => follow("prev"),
  ArrowLeft: () => toLevel(-1),
  ArrowRight: () => toLevel(1),
  1: () => choose(1),
  2: () => choose(2),
  3: () => choose(3),
  4: () => choose(4),
  r: () => form?.querySelector("[data-reason]").focus(),
  "?": openKeys,
};

function send() {
  if (!form || form.getAttribute("aria-busy")) return;
  const button = form.querySelector("button.main");
  const chosen = form.querySelector("input[name=verdict]:checked");
  const reason = form.querySelector("[data-reason]");
  if (!chosen) return tell("Choose a verdict first: 1, 2, 3 or 4.");
  const kinds = { FULLY_SUPPORTED: "supported", NOT_FULLY_SUPPORTED: "not-supported", INCONCLUSIVE: "inconclusive" };
  const differs = form.dataset.model && kinds[chosen.value] !== form.dataset.model;
  if (!reason.value.trim() && (differs || chosen.value === "UNCLEAR")) {
    reason.focus();
    return tell("A reason is needed here.");
  }
  store(sessionStorage, MOVED, "1");
  form.requestSubmit(button);
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing || event.repeat && event.key !== "j" && event.key !== "k") return;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey) {
    if (dialog?.open) return;
    event.preventDefault();
    send();
    return;
  }
  if (event.key === "Escape" && event.target === form?.querySelector("[data-reason]")) {
    event.target.blur();
    return;
  }
  if (!isOn || event.ctrlKey || event.metaKey || event.altKey || dialog?.open || types(event.target)) return;
  const isArrow = event.key.startsWith("Arrow");
  if (isArrow && event.target instanceof Element && event.target.closest("input[type=radio]")) return;
  const act = SINGLE[event.key];
  if (!act || (isArrow && event.shiftKey)) return;
  event.preventDefault();
  act();
});

function keys() {
  const button = document.querySelector("[data-keys-button]");
  if (button && dialog) {
    button.hidden = false;
    button.addEventListener("click", openKeys);
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close();
    });
  }
  const choice = document.querySelector("[data-keys-choice]");
  const box = document.querySelector("[data-keys-on]");
  if (!choice || !box) return;
  choice.hidden = false;
  box.checked = isOn;
  box.addEventListener("change", () => {
    isOn = box.checked;
    store(localStorage, SINGLE_KEYS, isOn ? null : "off");
    tell(isOn ? "Single keys are on." : "Single keys are off; Control and Enter still saves.");
  });
}

// What somebody typed outlives a fault, a reload and a session that ran out, in this tab.

function draftName(claim) {
  return `veritrail.review.draft ${JSON.stringify([work.dataset.process, claim, work.dataset.who])}`;
}

function drafts() {
  const saved = document.querySelector("[data-saved]");
  if (saved) store(sessionStorage, draftName(saved.dataset.saved), null);
  if (!form) return;
  const name = draftName(work.dataset.claim);
  const reason = form.querySelector("[data-reason]");
  const mark = form.querySelector("[data-draft]");
  const left = stored(sessionStorage, name);
  const isFresh = !reason.value && !form.querySelector("input[name=verdict]:checked");
  if (left && isFresh) {
    const draft = JSON.parse(left);
    reason.value = draft.reason;
    const radio = [...form.querySelectorAll("input[name=verdict]")].find((one) => one.value === draft.verdict);
    if (radio && !radio.disabled) radio.checked = true;
    mark.hidden = false;
  }
  form.addEventListener("input", keep);
  form.addEventListener("change", keep);
  function keep() {
    const verdict = form.querySelector("input[name=verdict]:checked")?.value ?? "";
    const isEmpty = !verdict && !reason.value;
    const draft = isEmpty ? null : JSON.stringify({ verdict, reason: reason.value });
    mark.hidden = !store(sessionStorage, name, draft) || isEmpty;
  }
}

// A reviewer who moves on by key is taken to the claim, so that a screen reader reads it.

function arrive() {
  const saved = document.querySelector("[data-saved]");
  if (saved) setTimeout(() => tell(saved.innerText.replace(/\s+/g, " ")), 150);
  if (stored(sessionStorage, MOVED) === null) return;
  store(sessionStorage, MOVED, null);
  document.querySelector("#claim-heading")?.focus({ preventScroll: true });
}

// The list stays where it was when another claim is opened.

function list() {
  const rows = document.querySelector(".review-rows");
  if (!rows) return;
  const before = stored(sessionStorage, SCROLL);
  if (before !== null) rows.scrollTop = Number(before);
  const open = rows.querySelector(".is-open");
  if (open) {
    const above = open.getBoundingClientRect().top - rows.getBoundingClientRect().top;
    const isSeen = above >= 0 && above + open.offsetHeight <= rows.clientHeight;
    if (!isSeen) rows.scrollTop += above - rows.clientHeight / 3;
  }
  addEventListener("pagehide", () => store(sessionStorage, SCROLL, String(rows.scrollTop)));
}

// A page that comes back from the browser's own store is another form.
addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  for (const field of document.querySelectorAll("input[name=once]")) {
    field.value = crypto.randomUUID?.() ?? String(Math.random());
  }
});

if (work) {
  keys();
  drafts();
  list();
  arrive();
}
