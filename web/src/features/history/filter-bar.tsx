import { useId, useState } from "react";

import type { ExecutionFilter } from "../../api/executions";
import { Button } from "../../ui/button";
import { Icon } from "../../ui/icon";
import { isFiltered } from "./filter";
import styles from "./filter-bar.module.css";
import { STATUS_OPTIONS } from "./words";

const RISK_OPTIONS: [string, string][] = [
  ["LOW", "Low risk"],
  ["MEDIUM", "Medium risk"],
  ["HIGH", "High risk"],
];

interface FilterBarProps {
  filter: ExecutionFilter;
  /** Names to choose from. */
  tools: ReadonlySet<string>;
  onChange: (change: Partial<ExecutionFilter>) => void;
  onClear: () => void;
}

export function FilterBar({ filter, tools, onChange, onClear }: FilterBarProps) {
  return (
    <div role="search" className={styles.bar} aria-label="Which calls">
      <Choice label="Status" all="Any status" options={STATUS_OPTIONS} value={filter.status} onChange={(status) => onChange({ status })} />
      <Choice label="Risk" all="Any risk" options={RISK_OPTIONS} value={filter.risk} onChange={(risk) => onChange({ risk })} />
      <ToolField value={filter.tool} tools={tools} onChange={(tool) => onChange({ tool })} />
      {filter.session !== "" && (
        <Button size="small" className={styles.session} onClick={() => onChange({ session: "" })} title={filter.session}>
          One conversation only <Icon name="close" />
          <span className="visually-hidden">: show all conversations</span>
        </Button>
      )}
      {isFiltered(filter) && (
        <Button look="quiet" size="small" onClick={onClear}>
          Clear
        </Button>
      )}
    </div>
  );
}

interface ChoiceProps {
  label: string;
  all: string;
  options: readonly (readonly [string, string])[];
  value: string;
  onChange: (value: string) => void;
}

function Choice({ label, all, options, value, onChange }: ChoiceProps) {
  const id = useId();
  const isKnown = value === "" || options.some(([name]) => name === value);
  return (
    <div>
      <label htmlFor={id}>{label}</label>
      <select id={id} value={value} data-set={value !== ""} onChange={(event) => onChange(event.target.value)}>
        <option value="">{all}</option>
        {options.map(([name, word]) => (
          <option key={name} value={name}>
            {word}
          </option>
        ))}
        {/* An address may say anything; what it says is what is asked for. */}
        {!isKnown && <option>{value}</option>}
      </select>
    </div>
  );
}

/** A name is sent once it is whole: picked, or ended with Enter or by leaving the field. */
function ToolField({ value, tools, onChange }: { value: string; tools: ReadonlySet<string>; onChange: (tool: string) => void }) {
  const id = useId();
  const [text, setText] = useState(value);
  const [known, setKnown] = useState(value);
  if (known !== value) {
    setKnown(value);
    setText(value);
  }
  const commit = (name: string) => {
    if (name.trim() !== value) onChange(name.trim());
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        commit(text);
      }}
    >
      <label htmlFor={id}>Tool</label>
      <input
        id={id}
        list={`${id}-names`}
        value={text}
        data-set={value !== ""}
        placeholder="Any tool"
        spellCheck={false}
        autoCapitalize="off"
        autoComplete="off"
        onChange={(event) => {
          setText(event.target.value);
          if (tools.has(event.target.value) || event.target.value === "") commit(event.target.value);
        }}
        onBlur={() => commit(text)}
      />
      <datalist id={`${id}-names`}>
        {[...tools].toSorted().map((name) => (
          <option key={name}>{name}</option>
        ))}
      </datalist>
    </form>
  );
}
