(() => {
"use strict";
const page = document.documentElement;
page.classList.add("js");
const words = document.getElementById("find-words");
const owner = document.getElementById("find-owner");
const tracker = document.getElementById("find-tracker");
const status = document.querySelector(".status");
const nothing = document.querySelector(".nothing");
const all = status.textContent;
const contents = document.querySelector("nav details");

const plain = text => text.normalize("NFKC").toLowerCase();
const textOf = (article, chapter) => {
  const copy = article.cloneNode(true);
  for (const part of copy.querySelectorAll("button, details, dt, h4")) part.remove();
  return plain(copy.textContent + " " + chapter.dataset.owner);
};
const chapters = [...document.querySelectorAll("section.chapter")];
const events = chapters.flatMap(chapter => [...chapter.querySelectorAll("article")].map(article => ({
  article,
  entry: document.querySelector(`nav a[href="#${CSS.escape(article.id)}"]`).parentElement,
  owner: chapter.dataset.owner,
  trackers: [...article.querySelectorAll(".tracker")].map(name => name.textContent.toLowerCase()),
  text: textOf(article, chapter),
})));

// Highlights the matches, in browsers that can.
const mark = (wanted, articles) => {
  if (!globalThis.Highlight || !CSS.highlights) return;
  const ranges = [];
  for (const article of wanted.length ? articles : []) {
    const texts = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const node = texts.currentNode;
      if (node.parentElement.closest("button, details, dt, h4")) continue;
      const text = node.data.toLowerCase();
      for (const word of wanted) {
        for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
          if (at + word.length > node.length) break;
          const range = new Range();
          range.setStart(node, at);
          range.setEnd(node, at + word.length);
          ranges.push(range);
        }
      }
    }
  }
  CSS.highlights.set("found", new Highlight(...ranges));
};

const apply = () => {
  const wanted = plain(words.value).split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const event of events) {
    const matches = wanted.every(word => event.text.includes(word))
      && (!owner.value || event.owner === owner.value)
      && (!tracker.value || event.trackers.includes(tracker.value));
    event.article.hidden = event.entry.hidden = !matches;
    if (matches) shown += 1;
  }
  chapters.forEach((chapter, index) => {
    const isEmpty = !chapter.querySelector("article:not([hidden])");
    chapter.hidden = isEmpty;
    document.querySelector(`nav a[href="#chapter-${index + 1}"]`).parentElement.hidden = isEmpty;
  });
  mark(wanted, events.map(event => event.article).filter(article => !article.hidden));
  nothing.hidden = shown > 0 || events.length === 0;
  status.textContent = shown === events.length ? all : `${shown} of ${all}`;
};

const search = () => new URLSearchParams(Object.entries({
  q: words.value.trim(), owner: owner.value, tracker: tracker.value,
}).filter(([, value]) => value)).toString();
const changed = () => {
  apply();
  const wanted = search();
  history.replaceState(null, "", wanted ? "#" + wanted : location.pathname + location.search);
};
const reset = () => {
  words.value = owner.value = tracker.value = "";
  changed();
};
const choose = (select, value) => {
  select.value = value;
  if (select.selectedIndex < 0) select.value = "";
};
const follow = () => {
  const hash = location.hash.slice(1);
  if (/^(q|owner|tracker)=/.test(hash)) {
    const wanted = new URLSearchParams(hash);
    words.value = wanted.get("q") || "";
    choose(owner, wanted.get("owner") || "");
    choose(tracker, wanted.get("tracker") || "");
    apply();
    return;
  }
  let id = hash;
  try { id = decodeURIComponent(hash); } catch { }
  const target = id && document.getElementById(id);
  if (!target || !target.closest("[hidden]")) return;
  words.value = owner.value = tracker.value = "";
  apply();
  target.scrollIntoView();
};

words.addEventListener("input", changed);
owner.addEventListener("change", changed);
tracker.addEventListener("change", changed);
document.querySelector(".finder").addEventListener("submit", event => event.preventDefault());
document.querySelector(".reset").addEventListener("click", () => { reset(); words.focus(); });
addEventListener("hashchange", follow);
addEventListener("keydown", event => {
  const isTyping = event.target instanceof Element && event.target.closest("input, select, textarea");
  if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    words.focus();
    words.select();
  } else if (event.key === "Escape" && event.target === words) {
    reset();
  }
});

document.querySelector("main").addEventListener("click", async event => {
  const button = event.target.closest(".copy");
  if (!button) return;
  const id = button.closest("article").id;
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(location.href.split("#")[0] + "#" + encodeURIComponent(id));
    button.textContent = "Copied";
  } catch {
    location.hash = id;
    button.textContent = "See the address bar";
  }
  setTimeout(() => { button.textContent = label; }, 2000);
});

let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("details:not([open])")];
  for (const part of opened) part.open = true;
});
addEventListener("afterprint", () => {
  for (const part of opened) part.open = false;
});
if (matchMedia("(max-width: 60rem)").matches) contents.open = false;
follow();
})();
