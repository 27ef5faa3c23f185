// When to look again: something was told of, the tab came back, or a while has passed.
import { useEffect } from "react";

/** A burst of messages is one reason to look. */
const CALM_MS = 300;
/** Nobody tells us how calls of other conversations go on, or of those that asked nobody; so we look now and then. */
const NOW_AND_THEN_MS = 15_000;
/** The same while a call on screen is still to go on. */
const SOON_MS = 4000;

/** `version` is anything that changes when calls may have; `isOpen` says whether one is still to go on. */
export function useLooks(version: number, isOpen: boolean, look: () => void) {
  useEffect(() => {
    const timer = setTimeout(look, CALM_MS);
    return () => clearTimeout(timer);
  }, [version, look]);

  useEffect(() => {
    const lookIfSeen = () => {
      if (document.visibilityState === "visible") look();
    };
    const timer = setInterval(lookIfSeen, isOpen ? SOON_MS : NOW_AND_THEN_MS);
    document.addEventListener("visibilitychange", lookIfSeen);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", lookIfSeen);
    };
  }, [look, isOpen]);
}
