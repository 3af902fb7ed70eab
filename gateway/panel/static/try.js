// Swagger UI over the partners' interface of this sandbox. Nothing that is typed is kept: a credential
// lives until the page is left, and goes to our own address alone.
const place = document.querySelector("#try");
window.SwaggerUIBundle?.({
  url: place.dataset.document,
  domNode: place,
  persistAuthorization: false,
  validatorUrl: null,
  queryConfigEnabled: false,
  withCredentials: false,
  docExpansion: "list",
  supportedSubmitMethods: place.dataset.calls.split(" ").filter(Boolean),
});
