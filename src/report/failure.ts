import { KbuildError } from '../errors.ts';
import { diagnosis } from './signatures.ts';

/** A failure with what was gathered about it. */
export interface FailureReport {
  readonly error: Error;
  /** What the host said afterwards, in sections that begin with `== `; empty when it was not asked. */
  readonly lastWords: string;
}

/** Lines of last words that are shown for each section. */
const SHOWN = 8;

/** One cause, one fix: the first error, the known cause and its remedy, the end of what the host says. */
export function failureText({ error, lastWords }: FailureReport): string {
  const all = error as { readonly stderr?: string; readonly stdout?: string };
  const known = diagnosis([all.stderr ?? '', all.stdout ?? '', error.message, lastWords]);
  const remedy = known?.remedy ?? (error instanceof KbuildError ? error.remedy : undefined);
  const lines = [
    `✖ ${error.message}`,
    ...(known === undefined ? [] : [`  cause: ${known.cause}`]),
    ...(remedy === undefined ? [] : [`  → ${remedy}`]),
    ...sections(lastWords).flatMap(({ title, lines: said }) => [
      `  last words of ${title}:`,
      ...said.slice(-SHOWN).map((line) => `    ${line}`),
    ]),
  ];
  return `${lines.join('\n')}\n`;
}

/** Sections that said something. */
function sections(text: string): readonly { readonly title: string; readonly lines: readonly string[] }[] {
  return text
    .split(/^== /m)
    .slice(1)
    .map((section) => {
      const [title, ...lines] = section.trimEnd().split('\n');
      return { title: title!, lines: lines.filter((line) => line.trim() !== '' && line !== '-- No entries --') };
    })
    .filter(({ lines }) => lines.length > 0);
}
