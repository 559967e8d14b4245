import { parse } from 'yaml';

/** The names of an inventory that command lines use. */
export interface NamesInInventory {
  readonly cluster: string | undefined;
  readonly hosts: readonly { readonly name: string; readonly role: string }[];
  readonly groups: readonly string[];
}

/** Names of hosts, groups and clusters. What matches it means itself in every shell. */
const NAME = /^[a-z0-9](?:[a-z0-9.-]{0,61}[a-z0-9])?$/;

const isName = (value: unknown): value is string => typeof value === 'string' && NAME.test(value);

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as readonly unknown[]) : []);

/**
 * The names in an inventory that need not be valid: what an operator writes who is not done. Anything that is no name
 * is left out. Reads no secret, runs no command and opens no other file. @throws Error for YAML that cannot be read at
 * all
 */
export function namesIn(text: string): NamesInInventory {
  const { name, hosts, groups } = fieldsOf(parse(text, { logLevel: 'silent' }));
  return {
    cluster: isName(name) ? name : undefined,
    hosts: listOf(hosts).flatMap((host) => {
      const fields = fieldsOf(host);
      return isName(fields['name'])
        ? [{ name: fields['name'], role: isName(fields['role']) ? fields['role'] : '' }]
        : [];
    }),
    groups: Object.keys(fieldsOf(groups)).filter(isName),
  };
}
