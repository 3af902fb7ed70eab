// Swagger UI over the partners' interface of this sandbox. Nothing that is typed is kept: a credential
// lives until the page is left, and goes to our own address alone.
const place = document.querySelector("#try");
const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();
const toUs = (request) => {
  const { pathname, search } = new URL(request.url, location.href);
  request.url = location.origin + pathname + search;
  return request;
};
window.SwaggerUIBundle?.({
  url: place.dataset.document,
  domNode: place,
  persistAuthorization: false,
  validatorUrl: null,
  queryConfigEnabled: false,
  withCredentials: false,
  requestInterceptor: toUs,
  docExpansion: "list",
  supportedSubmitMethods: place.dataset.calls.split(" ").filter(Boolean),
});
