// What shortens ways: every page reads, filters and acts without it. It holds no words: texts come
// from the page, in its language.
const root = document.documentElement;
const body = document.body;
const one = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const shut = (keep, within = document) =>
  all("details.drop[open]", within).forEach((each) => each.contains(keep) || (each.open = false));
root.classList.add("js");

// ---- telling: only what the person just did
function announce(text) {
  const place = one(".toasts");
  if (!place || !text) return;
  const toast = Object.assign(document.createElement("div"), { className: "toast", textContent: text });
  place.replaceChildren(toast);
  setTimeout(() => toast.remove(), 4000);
}

async function copy(button) {
  const from = button.dataset.copyFrom;
  const words = one(".toasts")?.dataset ?? {};
  try {
    await navigator.clipboard.writeText(from ? one(from).innerText.trim() : button.dataset.copy);
    announce(button.dataset.copied || words.copied);
  } catch {
    announce(words.refused);
  }
}

// ---- the theme: turned at once, kept by the form around the button
function turnTheme(event, button) {
  const system = matchMedia("(prefers-color-scheme: dark)").matches;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : system;
  root.dataset.theme = dark ? "light" : "dark";
  body.dispatchEvent(new Event("panel:theme"));
  if (!button.form) return;
  event.preventDefault();
  const sent = new URLSearchParams(new FormData(button.form));
  sent.set(button.name, root.dataset.theme);
  fetch(button.form.action, { method: "POST", body: sent, redirect: "manual" });
}

// ---- a file of what the page shows: elements with data-line
function download(button) {
  const lines = all("[data-line]").map((each) => `${each.dataset.line && `${each.dataset.line}=`}${each.textContent.trim()}\n`);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([button.value, ...lines]));
  link.download = button.dataset.download;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// ---- secrets leave the page: when it is left, when the dialog closes, when their time is up
const secrets = () => all("[data-secret]");
function forget() {
  const place = secrets()[0]?.dataset.secret;
  secrets().forEach((each) => each.remove());
  if (place) location.replace(place);
}
if (secrets().length) {
  // Going back, or loading anew, asks for the list and sends no form a second time.
  history.replaceState(null, "", secrets()[0].dataset.secret);
  addEventListener("pagehide", () => secrets().forEach((each) => each.remove()));
  addEventListener("pageshow", (event) => event.persisted && location.reload());
}

// What a form was answered with has no address of its own: going back asks for the page of the form.
if (body.dataset.here && !secrets().length) history.replaceState(null, "", body.dataset.here);

// ---- the chosen one of many tabs is seen
const showTab = () => one(".tabs [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });
showTab();

// ---- clicks
document.addEventListener("click", (event) => {
  shut(event.target);
  const button = event.target.closest("button, [data-forget]");
  if (!button) return;
  if (button.matches("[data-copy], [data-copy-from]")) copy(button);
  if (button.matches("[data-theme-turn]")) turnTheme(event, button);
  if (button.matches("[data-download]")) download(button);
  if (button.matches("[data-print]")) print();
  if (button.matches("[data-stay]")) stay(button);
  if (button.matches("[data-forget]") && secrets().length) {
    event.preventDefault();
    forget();
  }
});

// ---- a button that ends something stays off until the tick is set or the words are typed exactly
function guard(field) {
  const open = field.type === "checkbox" ? field.checked : field.value === field.dataset.words;
  const button = one(field.dataset.opens);
  if (button) button.disabled = !open;
}
document.addEventListener("input", (event) => {
  const field = event.target.closest("[data-opens]");
  if (field) guard(field);
});
document.addEventListener("change", ({ target }) => {
  if (target.matches("[data-submits]")) target.form.requestSubmit();
  tell(target);
});
// A choice says what another place shows; going back may bring another than the page had.
function tell({ dataset, selectedOptions, value }) {
  if (dataset.tells) one(dataset.tells).textContent = selectedOptions[0].dataset.tell;
  if ("shows" in dataset) all("[data-of]").forEach((each) => (each.hidden = !each.dataset.of.includes(value)));
}
addEventListener("pageshow", () => all("[data-tells], [data-shows]").forEach(tell));
// A period and two days rule each other out: before the form is sent, so while the event goes down.
document.addEventListener("change", ({ target }) => {
  if (target.matches("[data-clears]") && target.value) all(target.dataset.clears).forEach((each) => (each.value = ""));
}, true);
// A filter that was changed before the scripts ran says so.
function late(form) {
  for (const each of all("input, select", form)) {
    const was = each.options ? (one("[selected]", each) ?? each[0]).value : each.defaultValue;
    if (each.value === was && each.checked === each.defaultChecked) continue;
    for (const type of ["input", "change"]) each.dispatchEvent(new Event(type, { bubbles: true }));
  }
}
document.addEventListener("htmx:after:init", ({ target }) => target.matches("form") && late(target));
all("form[autocomplete=off]").forEach(late);
const guardAll = (within) => all("[data-opens]", within).forEach(guard);
guardAll(document);

// ---- a form is sent once; its button works until the answer is there
document.addEventListener("submit", (event) => {
  const form = event.target;
  shut(null, form);
  if (form.method !== "post" || event.defaultPrevented) return;
  if (form.dataset.sent) return event.preventDefault();
  form.dataset.sent = "1";
  event.submitter?.setAttribute("aria-busy", "true");
});
function release() {
  all("form[data-sent]").forEach((form) => delete form.dataset.sent);
  all("button[aria-busy]").forEach((button) => button.removeAttribute("aria-busy"));
}
addEventListener("pageshow", release);
document.addEventListener("htmx:finally:request", release);

// ---- parts that were swapped: guards, focus, counts. What the person asked for is told at once, what
// changed by itself once a minute
let inList = false;
let said = 0;
const counts = () => [one("#list [data-count]"), ...all("#side a:has([data-count])")].map((each) => each?.textContent.trim());
let known = counts();
// How much waits stands before the title of the tab, as in "(3) ".
function titled() {
  const waiting = one("#waiting");
  if (waiting) document.title = waiting.dataset.waiting + document.title.replace(/^\([\d.]+\) /, "");
}
document.addEventListener("htmx:before:swap", () => {
  inList = Boolean(document.activeElement?.closest("#list"));
});
document.addEventListener("htmx:after:swap", (event) => {
  guardAll(document);
  showTab();
  titled();
  if (inList && !document.activeElement?.closest("#list")) one("#list a.to")?.focus();
  const now = counts();
  const told = now.filter((each) => each && !known.includes(each)).join(", ");
  // What going back restores was not asked for by an event.
  const byItself = event.detail?.ctx?.sourceEvent?.type?.startsWith("panel:");
  if (told && byItself && Date.now() - said < 60000) return;
  known = now;
  const place = one("#said");
  if (!place || !told) return;
  place.textContent = told;
  if (byItself) said = Date.now();
});
// After the session's end what was typed stays where it is: its form leads to the sign-in, and back.
let typed = false;
document.addEventListener("input", (event) => {
  typed ||= event.target.form?.method === "post" && Boolean(event.target.closest("#main"));
});
function over() {
  one("#idle").hidden = true;
  one("#over").hidden = false;
}
document.addEventListener("htmx:after:request", (event) => {
  if (event.detail?.ctx?.response?.status !== 401 || !typed) return;
  event.preventDefault();
  over();
});
function signIn() {
  const door = body.dataset.signIn;
  if (door) location.assign(`${door}?next=${encodeURIComponent(location.pathname + location.search)}`);
}
document.addEventListener("htmx:response:error", ({ detail }) => detail?.ctx?.response?.status === 401 && signIn());

// ---- keys: / searches, j and k walk the rows, c copies, g and a letter go, ? lists them
let going = -1000;
function walk(rows, step) {
  const at = rows.indexOf(document.activeElement);
  rows[Math.min(rows.length - 1, Math.max(0, at + step))]?.focus();
}
function single(event) {
  const went = event.timeStamp - going < 1000;
  going = -1000;
  if (went) return one(`[data-key="${CSS.escape(event.key)}"]`)?.click();
  const rows = all("a.to");
  if (event.key === "/") {
    event.preventDefault();
    one("#q")?.focus();
  } else if (event.key === "j") walk(rows, 1);
  else if (event.key === "k") walk(rows, -1);
  else if (event.key === "g") going = event.timeStamp;
  else if (event.key === "?") one("#keys")?.showModal?.();
  else if (event.key === "c") {
    one("[data-copy]", document.activeElement.closest("tr, li, .head") ?? one(".head") ?? document)?.click();
  }
}
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select, dialog[open]");
  if (event.key === "Escape") {
    // Chromium lets a page refuse one close of a dialog, not the next; the key it lets refuse always.
    if (one("[data-secret] dialog[open]")) event.preventDefault();
    if (typing?.matches("input, textarea")) typing.blur();
    shut(null);
  }
  if (typing || event.ctrlKey || event.metaKey || event.altKey || body.dataset.keys === "off") return;
  single(event);
});

// ---- dialogs that the server sent open become modal; one with a secret does not close by Escape
for (const dialog of all("dialog[data-modal]")) {
  dialog.removeAttribute("open");
  dialog.showModal();
}
document.addEventListener("close", (event) => event.target.closest("[data-secret]") && forget(), true);

// ---- time: what is open asks for itself every 5 s, badges every 30 s, banks every minute; while
// nobody looks, badges alone, every minute, for the title. Nothing while a form is on its way
let ticks = 0;
let counted = Date.now();
setInterval(() => {
  if (one("form[data-sent]")) return;
  const looks = document.visibilityState === "visible";
  if (looks) body.dispatchEvent(new Event("panel:tick"));
  if (looks && ++ticks % 12 === 0) body.dispatchEvent(new Event("panel:minute"));
  if (Date.now() - counted < (looks ? 30000 : 60000)) return;
  counted = Date.now();
  body.dispatchEvent(new Event("panel:badges"));
}, 5000);

// An element with data-until (ms since 1970) counts down; {} in its words is the time left.
function countDown(each) {
  const left = Math.max(0, Math.round((each.dataset.until - Date.now()) / 1000));
  const two = (number) => String(number).padStart(2, "0");
  const hours = Math.floor(left / 3600);
  const minutes = Math.floor(left / 60) % 60;
  const shown = hours ? `${hours} h ${two(minutes)} min` : `${minutes} min ${two(left % 60)} s`;
  each.textContent = (each.dataset.text || "{}").replace("{}", shown);
  if (!left && each.closest("[data-secret]")) forget();
  const mark = left ? null : each.closest("[data-over]"); // says what holds then
  if (mark) Object.assign(mark, { className: "b warn", textContent: mark.dataset.over });
}
// Two minutes before the session's idle end the page offers to stay; then to sign in.
let ends = Number(body.dataset.idleEnds || 0);
function watchIdle() {
  const left = ends - Date.now();
  const note = one("#idle");
  if (!ends || !note) return;
  note.hidden = left > 120000;
  if (left < 0 && typed) over();
  else if (left < 0) signIn();
}
async function stay(button) {
  const answer = await fetch(button.dataset.stay, { headers: { "HX-Request": "true" } });
  const until = Number(answer.headers.get("X-Idle-Ends"));
  if (answer.ok && until) ends = until;
  watchIdle();
}
setInterval(() => {
  all("[data-until]").forEach(countDown);
  watchIdle();
}, 1000);
