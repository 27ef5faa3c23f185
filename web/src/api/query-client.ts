// What the server has answered, for as long as the page lives.
import { QueryClient } from "@tanstack/react-query";

export function createQueryClient(): QueryClient {
  // The server may be on this machine: being offline says nothing about it.
  const networkMode = "always";
  return new QueryClient({
    defaultOptions: {
      // The stream tells what is stale, and every error has a button or the next event to try again.
      queries: { networkMode, retry: false, refetchOnWindowFocus: false, refetchOnReconnect: false },
      mutations: { networkMode },
    },
  });
}

/** One for the page, so that the socket can reach it outside of components. */
export const queryClient = createQueryClient();
