// Every address of the page. What is shown is in the address, so reload and back work.
import { QueryClientProvider } from "@tanstack/react-query";
import { Redirect, Route, Switch } from "wouter";

import { queryClient } from "./api/query-client";
import { useProjectId, withProject } from "./lib/project-address";
import { AgentPage } from "./routes/agent-page";
import { HistoryPage } from "./routes/history-page";
import { RulesPage } from "./routes/rules-page";
import { SettingsPage } from "./routes/settings-page";

/** Whatever else the address says, its workspace stays. */
function ToConversations() {
  return <Redirect to={withProject("/agent", useProjectId())} replace />;
}

export function Routes() {
  return (
    <QueryClientProvider client={queryClient}>
      <Pages />
    </QueryClientProvider>
  );
}

function Pages() {
  return (
    <Switch>
      {/* One route, so that the page stays mounted when a new conversation gets its name. */}
      <Route path="/agent/:id?">
        {({ id }) => <AgentPage sessionId={id === undefined ? null : decodeURIComponent(id)} />}
      </Route>
      <Route path="/rules/:tab?">{({ tab }) => <RulesPage tab={tab ?? ""} />}</Route>
      <Route path="/settings">
        <SettingsPage />
      </Route>
      <Route path="/history">
        <HistoryPage />
      </Route>
      <Route>
        <ToConversations />
      </Route>
    </Switch>
  );
}
