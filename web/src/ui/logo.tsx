/** A ring left open, closed by a check mark. */
export function Logo({ size = 24 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <g fill="none" strokeLinecap="round" strokeLinejoin="round">
        <path d="M24.4 22.6A11 11 0 1 1 22.9 7.4" stroke="currentColor" strokeWidth="2.6" />
        <path d="M10.6 16.4l4.6 4.6L29 7" stroke="var(--accent)" strokeWidth="3.4" />
      </g>
    </svg>
  );
}
