import { createRoot } from "react-dom/client";

import { takePageSecret } from "./api/page-secret";
import { applyTheme, storedTheme } from "./lib/theme";
import { Routes } from "./routes";
import "./ui/tokens.css";
import "./ui/base.css";

takePageSecret(window.location, window.history);
applyTheme(storedTheme());

const root = document.getElementById("root");
if (root) createRoot(root).render(<Routes />);
