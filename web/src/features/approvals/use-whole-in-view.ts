// Whether what is to be approved has been in view to its end, with nothing of it folded away.
//
// What belongs to it is marked with `data-part`, what hides some of it with `data-hides`. Both are read from the page itself, so
// that a new kind of picture cannot forget to say how much of it was drawn.
import { useEffect, useLayoutEffect, useRef } from "react";
import type { RefObject } from "react";

/** What keeps a card from being approved. */
export type Missing = "end" | "folded" | null;

interface Frame {
  scroller: RefObject<HTMLElement | null>;
  artefact: RefObject<HTMLElement | null>;
  /** Whether it is itself in a sheet, which hides everything else. */
  isInSheet?: boolean;
}

/** Calls `onChange` with what is missing, whenever that may be another. `key` names what is on screen; once it was seen, nobody looks again. */
export function useWholeInView({ scroller, artefact, isInSheet = false }: Frame, key: string, isSeen: boolean, onChange: (missing: Missing) => void) {
  const latest = useRef(onChange);
  useLayoutEffect(() => {
    latest.current = onChange;
  });
  useEffect(() => {
    const frame = scroller.current;
    const content = artefact.current;
    if (!frame || !content || isSeen) return;
    const measure = () => {
      if (canBeSeen(isInSheet)) latest.current(missingOf(frame, content));
    };
    measure();
    const sizes = new ResizeObserver(measure);
    sizes.observe(frame);
    sizes.observe(content);
    const changes = new MutationObserver(measure);
    changes.observe(content, { childList: true, subtree: true, attributes: true, attributeFilter: ["data-hides", "open"] });
    frame.addEventListener("scroll", measure, { passive: true });
    document.addEventListener("visibilitychange", measure);
    return () => {
      sizes.disconnect();
      changes.disconnect();
      frame.removeEventListener("scroll", measure);
      document.removeEventListener("visibilitychange", measure);
    };
  }, [scroller, artefact, key, isSeen, isInSheet]);
}

/** A hidden tab shows nothing, and neither does a page below a sheet. */
function canBeSeen(isInSheet: boolean): boolean {
  return document.visibilityState === "visible" && (isInSheet || document.querySelector("dialog[open]") === null);
}

function missingOf(frame: HTMLElement, content: HTMLElement): Missing {
  if (firstHider(content) !== null) return "folded";
  const last = partsIn(content).at(-1);
  if (last === undefined) return null;
  const { bottom } = last.getBoundingClientRect();
  const view = frame.getBoundingClientRect();
  const isInView = bottom <= Math.min(view.bottom, window.innerHeight) + SLACK_PX && bottom >= view.top;
  return isInView ? null : "end";
}

/** Fractions of a pixel, and a border, say nothing. */
const SLACK_PX = 2;

function partsIn(content: HTMLElement): HTMLElement[] {
  return [...content.querySelectorAll<HTMLElement>("[data-part]")].filter(counts);
}

/** The first thing that folds away some of what will run; what stands beside it does not count. */
function firstHider(content: HTMLElement): HTMLElement | null {
  return [...content.querySelectorAll<HTMLElement>("[data-hides]")].find(counts) ?? null;
}

function counts(element: HTMLElement): boolean {
  return element.closest("[data-beside]") === null;
}

/** A little less than a screenful, so that the last line seen is the first of the next look. */
const PAGE = 0.85;

/** Goes on towards what is missing: to what is folded, or a page further down. */
export function showMissing({ scroller, artefact }: Frame) {
  const frame = scroller.current;
  const hider = artefact.current && firstHider(artefact.current);
  if (hider) hider.scrollIntoView({ block: "center" });
  else frame?.scrollBy({ top: frame.clientHeight * PAGE });
}
