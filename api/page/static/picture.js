// A click on a box of a picture opens the text of its node below the picture.

import { fetched } from "./fetched.js";

const isElsewhere = (event) => event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button !== 0;

function placeIn(figure) {
  let place = figure.querySelector(".vp-reader");
  if (!place) {
    place = document.createElement("section");
    place.className = "vp-reader";
    place.tabIndex = -1;
    place.setAttribute("aria-live", "polite");
    figure.querySelector(".vp-words").before(place);
  }
  return place;
}

async function open(link, figure) {
  const place = placeIn(figure);
  const address = link.getAttribute("href");
  if (place.dataset.of === address) {
    place.remove();
    return;
  }
  place.dataset.of = address;
  const whole = document.createElement("a");
  whole.href = address;
  whole.className = "small";
  whole.textContent = "The page of this text";
  place.replaceChildren("Loading …");
  try {
    const text = (await fetched(`${address}?part=text`)).querySelector("[data-text]");
    if (!text) throw new Error("nothing came back");
    place.replaceChildren(text, whole);
  } catch (error) {
    place.replaceChildren(`This could not be loaded: ${error.reason ?? error.message} `, whole);
  }
  place.focus({ preventScroll: true });
}

addEventListener("click", (event) => {
  const link = event.target.closest?.("a.vp-link");
  const figure = link?.closest(".vp-figure");
  if (!figure || isElsewhere(event)) return;
  event.preventDefault();
  open(link, figure);
});
