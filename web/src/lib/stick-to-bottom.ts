// Keeps a growing scroller at its end, until the person scrolls up to read.
import { useCallback, useEffect, useRef, useState } from "react";

const NEAR_PX = 48;

export interface Stick {
  scroller: React.RefObject<HTMLDivElement | null>;
  content: React.RefObject<HTMLDivElement | null>;
  isAway: boolean;
  toBottom: () => void;
}

export function useStickToBottom(): Stick {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const sticks = useRef(true);
  const [isAway, setAway] = useState(false);

  const toBottom = useCallback(() => {
    sticks.current = true;
    setAway(false);
    const element = scroller.current;
    if (element) element.scrollTop = element.scrollHeight;
  }, []);

  useEffect(() => {
    const element = scroller.current;
    const inner = content.current;
    if (!element || !inner) return;
    let lastTop = element.scrollTop;
    const onScroll = () => {
      const gap = element.scrollHeight - element.scrollTop - element.clientHeight;
      // Only a move upwards lets go: growth below also changes the gap, and must not.
      if (gap <= NEAR_PX) sticks.current = true;
      else if (element.scrollTop < lastTop) sticks.current = false;
      lastTop = element.scrollTop;
      setAway(!sticks.current);
    };
    const follow = () => {
      if (!sticks.current) return;
      element.scrollTop = element.scrollHeight;
      // Noted at once: the scroll event comes a frame later, and a move up before it must be seen as one.
      lastTop = element.scrollTop;
    };
    const observer = new ResizeObserver(follow);
    observer.observe(inner);
    observer.observe(element);
    element.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", onScroll);
    };
  }, []);

  return { scroller, content, isAway, toBottom };
}
