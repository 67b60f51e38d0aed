// Loaded before anything is drawn: what was chosen by hand wins over what the system prefers.
(() => {
  try {
    const theme = localStorage.getItem("lydite-theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch { /* storage is off: the system's preference holds */ }
})();
