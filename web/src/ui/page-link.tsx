import type { AnchorHTMLAttributes, ReactNode } from "react";
import { Link } from "wouter";

import { useProjectId, withProject } from "../lib/project-address";

interface PageLinkProps extends Omit<AnchorHTMLAttributes<HTMLAnchorElement>, "href"> {
  href: string;
  /** The workspace it leads to; the open one unless it says another. */
  projectId?: string | undefined;
  children: ReactNode;
}

/** A link within the page, which stays in its workspace. */
export function PageLink({ href, projectId, ...rest }: PageLinkProps) {
  const current = useProjectId();
  return <Link href={withProject(href, projectId ?? current)} {...rest} />;
}
