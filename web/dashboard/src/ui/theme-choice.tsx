import { useState } from 'preact/hooks';
import { chooseTheme, chosenTheme, type Theme } from '../theme';
import { Icon, type IconName } from './icon';

const THEMES: [Theme, string, IconName][] = [
  ['system', 'As the system', 'system'],
  ['light', 'Light', 'sun'],
  ['dark', 'Dark', 'moon'],
];

export function ThemeChoice() {
  const [chosen, setChosen] = useState(chosenTheme());
  return (
    <div class="theme" role="group" aria-label="Colors">
      {THEMES.map(([theme, label, icon]) => (
        <button
          key={theme}
          type="button"
          aria-pressed={chosen === theme}
          aria-label={label}
          title={label}
          onClick={() => {
            chooseTheme(theme);
            setChosen(theme);
          }}
        >
          <Icon name={icon} />
        </button>
      ))}
    </div>
  );
}
