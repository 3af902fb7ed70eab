// Passkeys: a button asks the browser for one, and sends its form with the answer. Without script,
// or in a browser that lacks them, the buttons stay hidden, and codes do. It holds no words.
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const known = "parseRequestOptionsFromJSON" in (globalThis.PublicKeyCredential ?? {});

async function options(address, form) {
  const headers = { "X-CSRF-Token": form.elements.csrf_token.value };
  const answer = await fetch(address, { method: "POST", headers });
  if (!answer.ok) throw new Error(answer.status);
  return answer.json();
}
async function use(address, form) {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(await options(address, form));
  return JSON.stringify((await navigator.credentials.get({ publicKey })).toJSON());
}
async function make(address, form) {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(await options(address, form));
  return JSON.stringify((await navigator.credentials.create({ publicKey })).toJSON());
}

async function answer(button) {
  const { form, dataset } = button;
  const { passkey, field, proves, creates } = dataset;
  const own = form.elements.own_passkey;
  // A passkey stands for what else proves the owner; a new one does not. Without it that is asked.
  const proof = all("[data-or-passkey]", form).filter((each) => creates === undefined && each.required);
  const require = (is) => proof.forEach((each) => (each.required = is));
  require(false);
  if (!form.reportValidity()) return require(true);
  const failed = form.querySelector("[data-passkey-failed]");
  if (failed) failed.hidden = true;
  button.setAttribute("aria-busy", "true");
  try {
    if (proves && !form.elements.password?.value) own.value ||= await use(proves, form);
    form.elements[field].value = await (creates === undefined ? use : make)(passkey, form);
    form.requestSubmit(button.type === "submit" ? button : null);
  } catch {
    button.removeAttribute("aria-busy");
    // What sends its form anyway does so the next time, and is asked for a code.
    if ("elseCode" in dataset) delete dataset.passkey;
    if (failed) failed.hidden = false;
  } finally {
    require(true);
  }
}

if (known) {
  all("[data-passkey-place]").forEach((each) => (each.hidden = false));
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-passkey]");
    if (!button || button.hasAttribute("aria-busy")) return;
    event.preventDefault();
    answer(button);
  });
}
