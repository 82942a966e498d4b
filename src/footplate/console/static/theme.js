// Before the page is drawn: the theme that the reader has chosen.
try {
  const theme = localStorage.getItem("footplate-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Without storage the system's theme is used.
}
