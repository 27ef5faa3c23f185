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

/**
 * Calls `onChange` with what is missing, whenever that may be another. `key` names what is on screen; once it was seen, nobody
 * looks again. Returns how far it was in view, for `showMissing`.
 */
export function useWholeInView(
  { scroller, artefact, isInSheet = false }: Frame,
  key: string,
  isSeen: boolean,
  onChange: (missing: Missing) => void,
): RefObject<number> {
  const latest = useRef(onChange);
  const seenTo = useRef(0);
  useLayoutEffect(() => {
    latest.current = onChange;
  });
  useEffect(() => {
    const frame = scroller.current;
    const content = artefact.current;
    if (!frame || !content || isSeen) return;
    const reader = new Reader(frame, content);
    const measure = () => {
      if (!canBeSeen(isInSheet)) return;
      const missing = reader.look();
      seenTo.current = reader.seenTo;
      latest.current(missing);
    };
    measure();
    const onFocus = ({ target }: FocusEvent) => target !== frame && reader.jumps();
    const sizes = new ResizeObserver(measure);
    sizes.observe(frame);
    sizes.observe(content);
    const changes = new MutationObserver(measure);
    changes.observe(content, { childList: true, subtree: true, attributes: true, attributeFilter: ["data-hides", "open"] });
    frame.addEventListener("scroll", measure, { passive: true });
    frame.addEventListener("focusin", onFocus);
    document.addEventListener("visibilitychange", measure);
    return () => {
      sizes.disconnect();
      changes.disconnect();
      frame.removeEventListener("scroll", measure);
      frame.removeEventListener("focusin", onFocus);
      document.removeEventListener("visibilitychange", measure);
    };
  }, [scroller, artefact, key, isSeen, isInSheet]);
  return seenTo;
}

/** Follows how far down a person has come, from the beginning of what will run and without a gap. */
class Reader {
  /** In pixels from the beginning. */
  seenTo = 0;
  private lastTop = 0;
  private layout = "";
  private isJump = false;

  constructor(
    private readonly frame: HTMLElement,
    private readonly content: HTMLElement,
  ) {}

  /** The focus goes somewhere else in the frame, which may scroll there: nobody has read what lies between. */
  jumps() {
    this.isJump = true;
    // The browser tells of such a scroll with its next frame.
    requestAnimationFrame(() => requestAnimationFrame(() => (this.isJump = false)));
  }

  look(): Missing {
    const parts = partsIn(this.content);
    const [first, last] = [parts[0], parts.at(-1)];
    const hider = firstHider(this.content);
    if (!first || !last) return hider === null ? null : "folded";
    const start = first.getBoundingClientRect().top;
    const view = this.frame.getBoundingClientRect();
    this.pass(view.top - start, Math.min(view.bottom, window.innerHeight) - start, layoutOf(last));
    if (hider !== null) {
      this.seenTo = Math.min(this.seenTo, hider.getBoundingClientRect().top - start);
      return "folded";
    }
    return this.seenTo >= last.getBoundingClientRect().bottom - start - SLACK_PX ? null : "end";
  }

  /** The frame shows this stretch now. Whoever scrolled there has passed what lies between; a jump has not. */
  private pass(top: number, bottom: number, layout: string) {
    if (layout !== this.layout) this.seenTo = 0;
    const from = this.isJump || layout !== this.layout ? top : Math.min(top, this.lastTop);
    if (from <= this.seenTo + SLACK_PX) this.seenTo = Math.max(this.seenTo, bottom);
    this.lastTop = top;
    this.layout = layout;
  }
}

/** In another layout the same lines are elsewhere. */
function layoutOf(part: HTMLElement): string {
  return `${part.dataset["view"] ?? ""} ${Math.round(part.getBoundingClientRect().width)}`;
}

/** A hidden tab shows nothing, and neither does a page below a sheet. */
function canBeSeen(isInSheet: boolean): boolean {
  return document.visibilityState === "visible" && (isInSheet || document.querySelector("dialog[open]") === null);
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

/** How much of what was seen stays in view, so that the last line seen is among the first of the next look. */
const OVERLAP = 0.15;

/** Goes on towards what is missing: to what is folded, or to where the person has come so far. */
export function showMissing({ scroller, artefact }: Frame, seenTo: number) {
  const frame = scroller.current;
  const content = artefact.current;
  if (!frame || !content) return;
  const hider = firstHider(content);
  if (hider) return hider.scrollIntoView({ block: "center" });
  const start = (partsIn(content)[0] ?? content).getBoundingClientRect().top - frame.getBoundingClientRect().top;
  frame.scrollBy({ top: start + seenTo - frame.clientHeight * OVERLAP });
}
