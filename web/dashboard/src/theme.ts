// Light or dark: the system's choice until the person makes one, which this browser keeps.

export type Theme = 'system' | 'light' | 'dark';
const KEPT_AS = 'tempinbox.theme';

export function chosenTheme(): Theme {
  try {
    const kept = localStorage.getItem(KEPT_AS);
    return kept === 'light' || kept === 'dark' ? kept : 'system';
  } catch {
    return 'system'; // a browser that keeps nothing
  }
}

function show(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}

export function chooseTheme(theme: Theme): void {
  show(theme);
  try {
    if (theme === 'system') localStorage.removeItem(KEPT_AS);
    else localStorage.setItem(KEPT_AS, theme);
  } catch {
    // It holds for this page then.
  }
}

show(chosenTheme());
