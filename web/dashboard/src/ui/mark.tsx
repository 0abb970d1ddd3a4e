export function Mark() {
  return (
    <svg
      class="mark"
      viewBox="0 0 32 32"
      width="28"
      height="28"
      aria-hidden="true"
      focusable="false"
    >
      <rect class="mark-ground" width="32" height="32" rx="8" />
      <path
        class="mark-line"
        d="M7 17.5h5.2l1.6 3h4.4l1.6-3H25M7 17.5 10.4 9h11.2L25 17.5V23a1.5 1.5 0 0 1-1.5 1.5h-15A1.5 1.5 0 0 1 7 23z"
      />
    </svg>
  );
}
