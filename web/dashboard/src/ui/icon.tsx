// Line pictures on a 20 x 20 grid, in the color of the text beside them.
const PATHS = {
  overview: 'M3 10.5V17h4.5v-4.5h5V17H17v-6.5M2 11l8-7.5L18 11',
  inbox: 'M2.5 11.5h4l1.2 2.5h4.6l1.2-2.5h4M2.5 11.5 5 4h10l2.5 7.5V16h-15z',
  key: 'M8.5 11.5 16 4m-2.5 2.5L16 9m-2-4.5M6.5 17a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7z',
  webhook:
    'M10 6.5a2.5 2.5 0 1 0-2.3-1.5L5 11.5m0 0A2.5 2.5 0 1 0 7.5 14H14m0 0a2.5 2.5 0 1 0 1-2L11.5 6',
  rule: 'M4 3v14M4 6h6.5a3 3 0 0 1 3 3v0M4 14h6.5a3 3 0 0 0 3-3v-2m-2 2.5 2 2 2-2',
  account: 'M10 10a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zm-6.5 7.5c.5-3.5 3-5 6.5-5s6 1.5 6.5 5',
  copy: 'M7 7V3.5h9.5V13H13M3.5 7H13v9.5H3.5z',
  check: 'm4 10.5 4 4 8-9',
  plus: 'M10 4v12M4 10h12',
  close: 'm5 5 10 10M15 5 5 15',
  clock: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zm0-11v4l2.5 2',
  trash: 'M3.5 5.5h13M8 5.5V3.5h4v2m-6.5 0 .7 11h7.6l.7-11M8.5 8.5v5m3-5v5',
  menu: 'M3 5.5h14M3 10h14M3 14.5h14',
  sun: 'M10 13.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM10 2v1.5M10 16.5V18M2 10h1.5M16.5 10H18M4.3 4.3l1.1 1.1M14.6 14.6l1.1 1.1M4.3 15.7l1.1-1.1M14.6 5.4l1.1-1.1',
  moon: 'M16.5 12A7 7 0 0 1 8 3.5a7 7 0 1 0 8.5 8.5z',
  system: 'M3 4h14v9.5H3zM7 17h6m-3-3.5V17',
  back: 'M12.5 4.5 7 10l5.5 5.5',
  more: 'M7.5 4.5 13 10l-5.5 5.5',
  paperclip:
    'm15.5 9-5.8 5.8a3.2 3.2 0 0 1-4.5-4.5l6.3-6.3a2.2 2.2 0 0 1 3.1 3.1l-6.2 6.2a1.1 1.1 0 0 1-1.6-1.6l5.3-5.2',
  download: 'M10 3v9.5m0 0 3.5-3.5M10 12.5 6.5 9M3.5 16.5h13',
  out: 'M12 6V3.5H3.5v13H12V14m-4-4h9m0 0-3-3m3 3-3 3',
  warn: 'M10 3 2 16.5h16zM10 8v4m0 2.3v.2',
  refresh: 'M16 10a6 6 0 1 1-1.8-4.3L16 7.5M16 3.5v4h-4',
  send: 'M17 3 9 11M17 3l-5 14-3-6-6-3z',
  search: 'M9 14.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11zm4-1.5 4 4',
  image: 'M3 4h14v12H3zm0 9 4-3.5 3 2.5 3-3 4 3.5M7 8h.01',
  lock: 'M5 9h10v7.5H5zM7 9V6.5a3 3 0 0 1 6 0V9',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg
      class="icon"
      viewBox="0 0 20 20"
      width="18"
      height="18"
      aria-hidden="true"
      focusable="false"
    >
      <path
        d={PATHS[name]}
        fill="none"
        stroke="currentColor"
        stroke-width="1.5"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}
