// Shows push messages and opens the page that one leads to: on our own origin alone.
self.addEventListener("push", (event) => {
  const { body, link, tag } = event.data.json();
  event.waitUntil(self.registration.showNotification("pixgate", { body, tag, data: link }));
});
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const to = new URL(event.notification.data, self.location.origin);
  if (to.origin === self.location.origin) event.waitUntil(self.clients.openWindow(to.href));
});
