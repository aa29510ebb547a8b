// Follows a job: whenever something happens in it, the page is loaded anew from our own server, and
// what changed is put in place. What it looks like is decided there alone.

import { fetched } from "./fetched.js";

const KINDS = [
  "claim.started", "iteration.finished", "claim.finished", "job.finished", "job.resumed",
  "sentence.started", "sentence.finished", "turn.started", "turn.finished",
];
const LEAST_WAIT = 700;
const STREAM_WAIT = 2000;
const LONGEST_WAIT = 60000;
const MOST_FAILURES = 20;
const LOOK_AGAIN = 15000;  // after the end: somebody else may take the job up again
const LATER = [408, 425, 429];  // of the answers 4xx those that may be others in a while

let isLoading = false;
let isWanted = false;
let isOver = false;
let isGivenUp = false;
let failures = 0;
let events = null;

const backedOff = (wait, times) => Math.min(wait * 2 ** times, LONGEST_WAIT);

// An element stays where it is and takes over what is new in it: what has the focus keeps it, a
// button can be pressed meanwhile, and a line that is read out is the same line.
function become(old, made) {
  const isKept = old.nodeType === made.nodeType && old.nodeName === made.nodeName
    && old.getAttribute?.("action") === made.getAttribute?.("action");
  if (!isKept) {
    old.replaceWith(document.adoptNode(made));
  } else if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== made.data) old.data = made.data;
  } else if (old.name !== "form_token" && !old.matches("form[aria-busy]")) {
    for (const { name } of [...old.attributes]) if (!made.hasAttribute(name)) old.removeAttribute(name);
    for (const { name, value } of made.attributes) {
      if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    }
    const before = [...old.childNodes];
    const after = [...made.childNodes];
    after.forEach((one, place) => {
      if (place < before.length) become(before[place], one);
      else old.append(document.adoptNode(one));
    });
    for (const one of before.slice(after.length)) one.remove();
  }
}

function fresh(page) {
  for (const old of document.querySelectorAll("[data-live]")) {
    const found = page.querySelector(`[data-live="${old.dataset.live}"]`);
    if (!found) continue;
    const isFocused = old.contains(document.activeElement);
    become(old, found);
    if (isFocused && !old.contains(document.activeElement)) old.querySelector("button, a")?.focus();
  }
  document.title = page.title;
}

function say(words) {
  const main = document.querySelector("main");
  let line = main.querySelector(":scope > .failed-line");
  if (!line) {
    line = document.createElement("p");
    line.className = "failed-line";
    line.setAttribute("role", "alert");
    main.prepend(line);
  }
  line.textContent = words;
}

function giveUp(words) {
  isGivenUp = true;
  events?.close();
  say(words);
}

function failed(error) {
  if (error.status === 401) {
    location.reload();  // signed out meanwhile
    isGivenUp = true;
    return;
  }
  if (error.status === 404) return giveUp("This job is not there any more.");
  if (error.status >= 400 && error.status < 500 && !LATER.includes(error.status)) {
    return giveUp(`This is not followed any more: ${error.message}. Load the page again.`);
  }
  failures += 1;
  isWanted = true;  // the service is away; it is asked again
  if (failures >= MOST_FAILURES) giveUp("The service does not answer. Load the page again to see the state.");
}

async function load() {
  if (isGivenUp) return;
  if (isLoading) {
    isWanted = true;
    return;
  }
  isLoading = true;
  isWanted = false;
  const begun = performance.now();
  try {
    const page = await fetched(location.href);
    failures = 0;
    fresh(page);
    followed();
  } catch (error) {
    failed(error);
  }
  const took = performance.now() - begun;
  setTimeout(() => {
    isLoading = false;
    if (isWanted) load();
  }, backedOff(Math.max(LEAST_WAIT, 3 * took), failures));
}

let lost = 0;
function follow(address) {
  events = new EventSource(address);
  const mine = events;
  mine.addEventListener("open", () => { lost = 0; });
  for (const kind of KINDS) {
    mine.addEventListener(kind, () => {
      isOver = kind === "job.finished";
      if (isOver) mine.close();
      load();
    });
  }
  mine.addEventListener("error", () => {
    // The browser connects again automatically, unless the answer was no stream of events.
    if (mine.readyState !== EventSource.CLOSED || isOver || isGivenUp) return;
    isFollowed = false;
    setTimeout(load, backedOff(STREAM_WAIT, lost));
    lost += 1;
  });
}

// A job that is open has an address of its events; one that was taken up again has it anew.
let isFollowed = false;
function followed() {
  const address = document.querySelector("[data-events]")?.dataset.events;
  if (!address) {
    isFollowed = false;
    return;
  }
  if (isFollowed && !isOver) return;
  isFollowed = true;
  isOver = false;
  follow(address);
}

followed();
setInterval(() => {
  const state = document.querySelector("[data-status]")?.dataset.status;
  const isAtRest = state === "cancelled" || state === "failed";
  if (isAtRest && document.visibilityState === "visible") load();
}, LOOK_AGAIN);
