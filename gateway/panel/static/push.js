// Subscribes this browser to push messages. Where it has none of them the form stays hidden.
const form = document.querySelector("#subscribe");
const bytes = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (each) => each.charCodeAt(0));
const subscribe = async () => {
  const registration = await navigator.serviceWorker.register("/panel/worker.js");
  const former = await registration.pushManager.getSubscription();
  await former?.unsubscribe(); // it may be of a key of before
  return registration.pushManager.subscribe({
    userVisibleOnly: true,
    applicationServerKey: bytes(form.dataset.key),
  });
};
if (form && "serviceWorker" in navigator && "PushManager" in window) {
  form.hidden = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      const { endpoint, keys } = (await subscribe()).toJSON();
      form.elements.endpoint.value = endpoint;
      form.elements.public.value = keys.p256dh;
      form.elements.auth.value = keys.auth;
      form.submit();
    } catch {
      document.querySelector("#push-denied").hidden = false;
    }
  });
}
