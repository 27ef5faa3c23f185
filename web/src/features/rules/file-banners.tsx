// What stands between a file of rules and its rules holding.
import type { RuleFile, RuleView } from "../../api/rules";
import { Button } from "../../ui/button";
import { Prose } from "../../ui/prose";
import { Visible } from "../../ui/visible";
import { useIsChangingRules, useTrustFile } from "./queries";
import { RuleText } from "./rule-text";
import styles from "./rules.module.css";

interface FileBannersProps {
  projectId: string;
  files: readonly RuleFile[];
  rules: readonly RuleView[];
}

export function FileBanners({ projectId, files, rules }: FileBannersProps) {
  return files
    .filter(({ present }) => present)
    .map((file) => (
      <div key={file.path} className={styles.banners}>
        {file.broken !== null && <Broken file={file} why={file.broken} />}
        {!file.trusted && <Untrusted projectId={projectId} file={file} rules={rules} />}
        {file.problems.length > 0 && <Problems file={file} />}
      </div>
    ));
}

function Broken({ file, why }: { file: RuleFile; why: string }) {
  return (
    <section className={styles.banner} data-tone="danger" aria-label={`Broken: ${file.path}`}>
      <p>
        <strong>Everything asks until it is mended:</strong> <Prose text={why} />
      </p>
      <FilePath file={file} />
    </section>
  );
}

function Untrusted({ projectId, file, rules }: { projectId: string; file: RuleFile; rules: readonly RuleView[] }) {
  const isBusy = useIsChangingRules(projectId);
  const trust = useTrustFile(projectId);
  const { digest } = file;
  const allows = rules.filter(({ source, effect }) => source === file.source && effect === "allow");
  return (
    <section className={styles.banner} data-tone="warn" aria-label={`Not trusted: ${file.path}`}>
      <p>
        <strong>Not trusted:</strong> what this file allows does not hold until you have read it.
      </p>
      <FilePath file={file} />
      {allows.length > 0 ? (
        <>
          <p>It would allow, without asking:</p>
          <ul className={styles.plainList}>
            {allows.map(({ rule }) => (
              <li key={rule}>
                <RuleText text={rule} />
              </li>
            ))}
          </ul>
        </>
      ) : (
        <p>It allows nothing by itself.</p>
      )}
      {digest !== null && (
        <div>
          <Button disabled={isBusy} onClick={() => trust.mutate(digest)}>
            Trust this content
          </Button>
        </div>
      )}
    </section>
  );
}

function Problems({ file }: { file: RuleFile }) {
  return (
    <section className={styles.banner} data-tone="warn" aria-label={`Problems in ${file.path}`}>
      <p>
        <strong>Some lines of this file are not as they should be.</strong>
      </p>
      <FilePath file={file} />
      <ul className={styles.plainList}>
        {file.problems.map(({ rule, why, outcome }) => (
          <li key={`${outcome} ${rule}`}>
            {outcome} <RuleText text={rule} />: <Prose text={why} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function FilePath({ file }: { file: RuleFile }) {
  return (
    <p className={styles.path}>
      <Visible text={file.path} />
    </p>
  );
}
