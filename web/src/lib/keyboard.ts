// What a key press means, apart from what it does.

/** A bare key: no chord (that belongs to the browser), no repeat (a held key decides nothing). */
export function bareKey(event: KeyboardEvent): string | null {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.isComposing) return null;
  return event.key;
}

/** Whether the person is writing, so that letters are letters. */
export function isEditing(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  // What is only ticked takes no letters.
  if (target instanceof HTMLInputElement && /^(radio|checkbox)$/.test(target.type)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

/** Moves between the page and the card that waits; the usual key for going from pane to pane. */
export const HOP_KEY = "F6";

/** A key that writes a letter, digit or sign where it is pressed in a field. */
export function isPrintable(key: string): boolean {
  return key.length === 1 && key !== " ";
}
