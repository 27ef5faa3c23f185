// Gathers items and hands them over once per frame: a burst of messages costs one render.

/** `flush` gets the items in order. A hidden tab has no frames, so there a timer takes over. */
export function createBatch<T>(flush: (items: T[]) => void): (item: T) => void {
  let waiting: T[] = [];
  let scheduled = false;

  function run() {
    if (!scheduled) return;
    scheduled = false;
    const items = waiting;
    waiting = [];
    flush(items);
  }

  return (item) => {
    waiting.push(item);
    if (scheduled) return;
    scheduled = true;
    if (document.visibilityState === "visible") requestAnimationFrame(run);
    // Also when visible: a tab hidden right now would never get its frame.
    setTimeout(run, 100);
  };
}
