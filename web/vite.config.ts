/// <reference types="vitest/config" />
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// Where `npm run dev` finds a running server.
const server = "http://127.0.0.1:4180";

export default defineConfig({
  plugins: [react()],
  build: {
    // The page is served with `script-src 'self'` and no `data:` fonts: every asset stays a file.
    assetsInlineLimit: 0,
    // The polyfill would be an inline script.
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: {
    proxy: {
      "/api": { target: server, ws: true, changeOrigin: true },
      "/my": { target: server, changeOrigin: true },
    },
  },
  test: {
    environment: "happy-dom",
    include: ["src/**/*.test.{ts,tsx}"],
    setupFiles: ["src/test-setup.ts"],
    testTimeout: 30_000,
    css: { modules: { classNameStrategy: "non-scoped" } },
  },
});
