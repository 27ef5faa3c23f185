// Components that ask the server, for tests: each with a cache of its own.
import { QueryClientProvider } from "@tanstack/react-query";
import { render } from "@testing-library/react";
import type { ReactNode } from "react";

import { createQueryClient } from "../api/query-client";

export function renderWithQueries(view: ReactNode) {
  const client = createQueryClient();
  const wrapper = ({ children }: { children: ReactNode }) => <QueryClientProvider client={client}>{children}</QueryClientProvider>;
  return { ...render(view, { wrapper }), client };
}
