import { filesOf } from '../machine.ts';
import type { Answer } from '../script.ts';

interface Section {
  readonly title: string;
  readonly kind: string;
  readonly name: string;
  /** A pattern of whole paths. */
  readonly match?: string;
}

const matches = (path: string, pattern: string): boolean =>
  new RegExp(
    `^${pattern
      .split('*')
      .map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'))
      .join('.*')}$`,
    'i',
  ).test(path);

export const answer: Answer = (machine, params) => {
  const files = filesOf(machine);
  const text = ({ kind, name, match = '*' }: Section): string => {
    if (kind === 'file') return files.text(name) ?? `not to be had: Cannot find path '${name}'`;
    if (kind === 'newest')
      return files
        .under(name)
        .filter((path) => matches(path, match))
        .map((path) => `-- ${path}\n${files.text(path) ?? ''}`)
        .join('\n');
    if (kind === 'list') return files.under(name).join('\n');
    if (kind === 'services')
      return [...machine.services.values()].map(({ name: one, state, path }) => `${one}: ${state}: ${path}`).join('\n');
    if (kind === 'hns') return JSON.stringify({ networks: machine.networks, endpoints: machine.endpoints });
    return '';
  };
  return (params['Sections'] as unknown as readonly Section[]).map((section) => ({
    title: section.title,
    text: text(section),
  }));
};
