import "@testing-library/jest-dom/vitest";
import { notifyManager } from "@tanstack/react-query";
import { cleanup, configure } from "@testing-library/react";
import { afterEach } from "vitest";

// How long to wait for what must come: a busy machine may take its time, a passing test does not notice.
configure({ asyncUtilTimeout: 10_000 });

// What a click changes in the cache is drawn with the click, not a task later: tests need not wait for it.
notifyManager.setScheduler((notify) => notify());

afterEach(() => {
  cleanup();
  localStorage.clear();
  sessionStorage.clear();
});
