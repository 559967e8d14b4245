import { selects } from '../topology/select.ts';

/** A host as far as selecting it goes. */
interface Selectable {
  readonly name: string;
  readonly role: string;
  readonly groups: readonly string[];
}

/** Hosts that one selector means: `all`, a role, a group, a name or a pattern with `*`. */
export const selected = <H extends Selectable>(hosts: readonly H[], selector: string): readonly H[] =>
  hosts.filter(
    ({ name, role, groups }) =>
      selector === 'all' || selector === role || groups.includes(selector) || selects([selector], name),
  );

/** A text or a list of texts, as a list. */
export const asList = (value: string | readonly string[]): readonly string[] =>
  typeof value === 'string' ? [value] : value;
