import { BLANKS } from "../lib/visible-text";
import { Icon } from "./icon";
import type { IconName } from "./icon";
import styles from "./tag.module.css";
import { Visible } from "./visible";

interface TagProps {
  icon: IconName;
  /** What the picture says, for those who listen. */
  spoken: string;
  text: string;
}

/** A name beside what it belongs to. The name is nobody's to trust: what it hides is shown. */
export function Tag({ icon, spoken, text }: TagProps) {
  return (
    <span className={styles.tag} title={`${spoken} ${text}`}>
      <Icon name={icon} />
      <span className="visually-hidden">{spoken} </span>
      <span className={styles.text}>
        <Visible text={text} blanks={BLANKS} />
      </span>
    </span>
  );
}
