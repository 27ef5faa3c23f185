// The page's few drawings, on a 16 px grid, in the colour of the text around them.

const PATHS = {
  panel: "M2.5 3.5h11v9h-11zM6.5 3.5v9",
  plus: "M8 3v10M3 8h10",
  sun: "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6M8 1.2v1.4M8 13.4v1.4M1.2 8h1.4M13.4 8h1.4M3.2 3.2l1 1M11.8 11.8l1 1M12.8 3.2l-1 1M4.2 11.8l-1 1",
  moon: "M13 9.6A5.4 5.4 0 0 1 6.4 3a5.4 5.4 0 1 0 6.6 6.6z",
  auto: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 2v12M8 5a3 3 0 0 1 0 6",
  chevron: "M6 3.5 10.5 8 6 12.5",
  down: "M8 3v10M3.8 8.8 8 13l4.2-4.2",
  up: "M8 13V3M3.8 7.2 8 3l4.2 4.2",
  previous: "M10 3.5 5.5 8l4.5 4.5",
  minimise: "M3.5 8h9",
  stop: "M4.5 4.5h7v7h-7z",
  computer: "M3.5 3.5h9v6.5h-9zM1.5 12.8h13",
  code: "M5.6 4.4 2 8l3.6 3.6M10.4 4.4 14 8l-3.6 3.6",
  close: "M4 4l8 8M12 4l-8 8",
  folder: "M2 4.5h4l1.5 1.5H14v7H2z",
  branch: "M5 2.5v11M5 10.5c0-3 6-2 6-5M9 4.5a2 2 0 1 0 4 0 2 2 0 0 0-4 0",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  );
}
