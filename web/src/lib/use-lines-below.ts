// How much of something is still below the edge of its scroller.
import { useEffect, useState } from "react";
import type { RefObject } from "react";

/** Our code is set at about this height; the number is a hint, not a count. */
const LINE_PX = 20;

/** About how many lines of `content` are below what `scroller` shows; zero once its end is in view. */
export function useLinesBelow(scroller: RefObject<HTMLElement | null>, content: RefObject<HTMLElement | null>): number {
  const [lines, setLines] = useState(0);
  useEffect(() => {
    const frame = scroller.current;
    const inner = content.current;
    if (!frame || !inner) return;
    const measure = () => {
      const hidden = inner.getBoundingClientRect().bottom - frame.getBoundingClientRect().bottom;
      setLines(Math.max(0, Math.round(hidden / LINE_PX)));
    };
    const observer = new ResizeObserver(measure);
    observer.observe(frame);
    observer.observe(inner);
    frame.addEventListener("scroll", measure, { passive: true });
    return () => {
      observer.disconnect();
      frame.removeEventListener("scroll", measure);
    };
  }, [scroller, content]);
  return lines;
}
