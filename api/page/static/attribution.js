// A sentence that is opened lights up what it rests on without loading the page anew. What the page
// shows is decided on the server alone: the same address is fetched, and what changed is put in place.

import { fetched } from "./fetched.js";

const desk = document.querySelector("[data-reading]");
const told = document.querySelector("[data-told]");
let latest = 0;
let edge = ""; // what was said of an end of the list since the last sentence was asked for

const links = () => [...desk.querySelectorAll(".sentence-link")];
const current = () => desk.querySelector('.sentence-link[aria-current="true"]');

// The first marked sentence comes into sight; where the sources are below, the sentence stays there.
function light() {
  const sources = desk.querySelector("[data-sources]");
  const lit = sources?.querySelector(".lit");
  if (!lit || getComputedStyle(sources).overflowY !== "auto") return;
  const above = lit.getBoundingClientRect().top - sources.getBoundingClientRect().top;
  sources.scrollTop += above - sources.clientHeight / 4;
}

function tell() {
  const row = current()?.closest(".sentence-row");
  if (!row) return;
  const state = row.querySelector(".sentence-state").innerText;
  const rests = [...row.querySelectorAll(".rests-on > li")].map((one) => one.innerText);
  told.textContent = `${edge} ${state}. ${rests.length ? rests.join(". ") : "It rests on nothing."}`.replace(/\s+/g, " ").trim();
}

async function open(address, isNew) {
  const turn = ++latest;
  edge = "";
  desk.setAttribute("aria-busy", "true");
  try {
    const page = await fetched(address);
    if (turn !== latest) return; // another sentence was opened meanwhile
    const made = page.querySelector("[data-reading]");
    if (!made) throw new Error("nothing to read there");
    const hadFocus = desk.contains(document.activeElement);
    desk.replaceChildren(...[...made.childNodes].map((one) => document.importNode(one, true)));
    if (isNew) history.pushState(null, "", address);
    if (hadFocus) current()?.focus({ preventScroll: true });
    current()?.scrollIntoView({ block: "nearest" });
    light();
    tell();
  } catch {
    if (turn === latest) location.assign(address); // the server says what is wrong
  } finally {
    if (turn === latest) desk.removeAttribute("aria-busy");
  }
}

function move(step) {
  const all = links();
  const here = all.indexOf(document.activeElement.closest(".sentence-link"));
  const to = all[here + step];
  if (here < 0) return false;
  if (!to) {
    edge = step > 0 ? "This is the last sentence here." : "This is the first sentence here.";
    told.textContent = edge;
  } else {
    to.focus();
    open(to.href, true);
  }
  return true;
}

if (desk) {
  desk.addEventListener("click", (event) => {
    const link = event.target.closest(".sentence-link");
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    link.focus({ preventScroll: true });
    open(link.href, true);
  });
  desk.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && move(step)) event.preventDefault();
  });
  addEventListener("popstate", () => open(location.href, false));
  light();
}
