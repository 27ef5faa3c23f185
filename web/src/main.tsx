import { createRoot } from "react-dom/client";

import { applyTheme, storedTheme } from "./lib/theme";
import { Routes } from "./routes";
import "./ui/tokens.css";
import "./ui/base.css";

applyTheme(storedTheme());

const root = document.getElementById("root");
if (root) createRoot(root).render(<Routes />);
