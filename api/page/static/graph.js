// Drawings of a process: opening without leaving, arrow keys from node to node, text beside it.
// Everything here works by links without it.

import { fetched } from "./fetched.js";

const MOST_FAILURES = 8;
let under = 0;

const room = () => document.querySelector("[data-live] .drawing-room");
const nodes = () => [...document.querySelectorAll("[data-picture] a.n")];
const nodeAt = (place) => nodes().find((one) => one.dataset.p === place);

function centre(node) {
  const box = node.getBoundingClientRect();
  return { x: box.left + box.width / 2, y: box.top + box.height / 2 };
}

// Puts a node of the new drawing where it stood in the old one.
function keep(place, before) {
  const node = nodeAt(place);
  const view = room();
  if (!node || !view || !before) return;
  const now = centre(node);
  view.scrollLeft += now.x - before.x;
  view.scrollTop += now.y - before.y;
}

function show(node) {
  const view = room();
  if (!node || !view) return;
  const box = node.getBoundingClientRect();
  const frame = view.getBoundingClientRect();
  if (box.left < frame.left + 30) view.scrollLeft += box.left - frame.left - 90;
  if (box.right > frame.right - 30) view.scrollLeft += box.right - frame.right + 90;
  if (box.top < frame.top + 40) view.scrollTop += box.top - frame.top - 80;
  if (box.bottom > frame.bottom - 20) view.scrollTop += box.bottom - frame.bottom + 60;
}

function middle(node, view = room()) {
  if (!node || !view) return;
  const box = node.getBoundingClientRect();
  const frame = view.getBoundingClientRect();
  view.scrollLeft += box.left + box.width / 2 - frame.left - frame.width / 2;
  view.scrollTop += box.top + box.height / 2 - frame.top - frame.height / 2;
}

// Takes what is drawn, and the list, from another state of the page.
async function go(address, { place = null, push = true, focus = null } = {}) {
  const live = document.querySelector("[data-live]");
  const mine = ++under;
  const old = place && nodeAt(place);
  const before = old ? centre(old) : null;
  const was = room() && { left: room().scrollLeft, top: room().scrollTop };
  live.setAttribute("aria-busy", "true");
  let page;
  try {
    page = await fetched(address);
  } catch {
    if (mine === under) location.assign(address);
    return;
  }
  if (mine !== under) return;
  const fresh = page.querySelector("[data-live]");
  if (!fresh) {
    location.assign(address);
    return;
  }
  live.replaceWith(document.adoptNode(fresh));
  const list = page.querySelector("#list");
  if (list) document.querySelector("#list").replaceWith(document.adoptNode(list));
  if (push) history.pushState(null, "", address);
  if (was) room().scrollTo(was.left, was.top);
  if (before) keep(place, before);
  wake();
  const target = focus && nodeAt(focus);
  if (target) target.focus({ preventScroll: true });
}

function placeOf(link) {
  // A stub is drawn behind its node.
  let one = link;
  while (one && !(one.matches && one.matches("a.n"))) one = one.previousElementSibling;
  return one ? one.dataset.p : null;
}

function looking(place) {
  const address = new URL(location.href);
  address.searchParams.set("at", place);
  address.hash = "";
  return address.href;
}

function clicked(event) {
  if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = event.target.closest("[data-live] a");
  if (!link) return;
  const isOpening = link.hasAttribute("data-open");
  const isNode = link.matches("[data-picture] a.n");
  if (!isOpening && !isNode) return;
  // The second click on the node that is looked at goes to its page.
  if (isNode && link.classList.contains("at")) return;
  event.preventDefault();
  const place = isNode ? link.dataset.p : placeOf(link) ?? document.querySelector("a.n.at")?.dataset.p;
  const address = isNode ? looking(place) : link.href?.baseVal ?? link.href;
  go(address.split("#")[0], { place, focus: place });
}

// Arrow keys: up and down within a column, left and right along an edge.
function pressed(event) {
  const node = event.target.closest?.("[data-picture] a.n");
  if (!node || event.ctrlKey || event.metaKey || event.altKey) return;
  const step = { ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right" }[event.key];
  if (!step) return;
  event.preventDefault();
  const next = neighbour(node, step);
  if (next) {
    next.focus({ preventScroll: true });
    show(next);
  }
}

function neighbour(node, step) {
  const all = nodes();
  if (step === "up" || step === "down") {
    const column = all.filter((one) => one.dataset.l === node.dataset.l);
    return column[column.indexOf(node) + (step === "up" ? -1 : 1)];
  }
  const number = node.id.slice(1);
  const ends = [...document.querySelectorAll("[data-picture] path[data-e]")].map((line) => line.dataset.e.split(" "));
  const joined = ends
    .filter(([source, target]) => (step === "left" ? target : source) === number)
    .map(([source, target]) => document.getElementById(`n${step === "left" ? source : target}`));
  const from = centre(node);
  const far = (one) => Math.hypot(centre(one).x - from.x, 2 * (centre(one).y - from.y));
  return joined.sort((one, other) => far(one) - far(other))[0];
}

function near(event) {
  const node = event.target.closest?.("[data-picture] a.n");
  const number = node && event.type !== "mouseout" && event.type !== "focusout" ? node.id.slice(1) : null;
  for (const line of document.querySelectorAll("[data-picture] path[data-e]")) {
    line.classList.toggle("near", number !== null && line.dataset.e.split(" ").includes(number));
  }
}

// The whole beginning of the text, beside the drawing.
async function text() {
  const looked = document.querySelector("[data-looked]");
  if (!looked) return;
  try {
    const page = await fetched(`${looked.dataset.looked}?part=text`);
    const found = page.querySelector("[data-text]");
    if (found && looked.isConnected) looked.querySelector("[data-text]").replaceWith(document.adoptNode(found));
  } catch {
    // The beginning that is shown is enough.
  }
}

function wake() {
  if (!room()) return;
  text();
}

function failed(place, words) {
  const line = document.createElement("p");
  line.className = "failed-line";
  line.setAttribute("role", "status");
  line.textContent = words;
  place.append(line);
}

async function count() {
  const part = document.querySelector("[data-counting]");
  if (!part) return;
  const stop = (words) => failed(part, words);
  let failures = 0;
  for (let wait = 800; part.isConnected; wait = Math.min(wait * 1.5, 5000)) {
    await new Promise((done) => setTimeout(done, wait));
    try {
      const page = await fetched(location.href);
      const still = page.querySelector("[data-counting]");
      if (still) continue;
      const left = part.querySelector(".drawing-room").scrollLeft;
      document.querySelector("main").replaceWith(document.adoptNode(page.querySelector("main")));
      document.querySelector("main .drawing-room").scrollLeft = left;
      return;
    } catch (error) {
      failures += 1;
      if (error.status === 404) return stop("This process is not stored any more.");
      if (error.status === 401) return stop("You are signed out; load the page again to sign in.");
      if (failures === MOST_FAILURES) return stop("The service does not answer. Load the page again to see the edges.");
    }
  }
}

function lazily() {
  const place = document.querySelector("[data-lazy]:not([data-lazy=''])");
  if (!place) return;
  const fill = async (address) => {
    place.setAttribute("aria-busy", "true");
    place.querySelector(".failed-line")?.remove();
    try {
      const page = await fetched(address);
      place.replaceChildren(...[...page.body.childNodes].map((one) => document.adoptNode(one)));
    } catch (error) {
      // The link does the same, and stays.
      failed(place, `This could not be loaded: ${error.status ? error.message : "the service cannot be reached"}.`);
    }
    place.removeAttribute("aria-busy");
  };
  const seen = new IntersectionObserver((entries) => {
    if (!entries.some((one) => one.isIntersecting)) return;
    seen.disconnect();
    fill(place.dataset.lazy);
  }, { rootMargin: "200px" });
  seen.observe(place);
  place.addEventListener("click", (event) => {
    const more = event.target.closest("[data-lazy-more]");
    if (!more || event.button || event.metaKey || event.ctrlKey) return;
    event.preventDefault();
    const address = new URL(more.href);
    address.searchParams.set("part", "rest");
    fill(address.href);
  });
}

if (document.querySelector("[data-live]")) {
  document.addEventListener("click", clicked);
  document.addEventListener("keydown", pressed);
  for (const kind of ["mouseover", "mouseout", "focusin", "focusout"]) document.addEventListener(kind, near);
  addEventListener("popstate", () => go(location.href, { push: false }));
  const start = document.querySelector("[data-picture] a.n.at") ?? document.querySelector("[data-picture] a.n");
  middle(start);
  wake();
}
const worst = document.querySelector("[data-worst]");
middle(worst, worst?.closest(".drawing-room"));
count();
lazily();
