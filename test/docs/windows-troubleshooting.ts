import type { WindowsSignature } from '../../src/windows/problems/problem.ts';
import { windowsSignatures } from '../../src/windows/problems/problems.ts';

const INTRODUCTION = `# Troubleshooting Windows workers

<!-- Generated from src/windows/problems by "npm run docs:windows"; do not edit. -->

This page lists known problems of Windows workers, with their causes and remedies. \`kbuild status\` names a problem that it observes
on a host. The report of a failed run names a problem that a program printed. The page was written from documentation and source
code, and tested on simulated hosts only: see [windows.md](windows.md). An example of \`kbuild status\`:
`;

/** A problem as the last part of `kbuild status` shows it. */
const example = ({ name, cause, remedy }: WindowsSignature): string =>
  ['```', 'trouble', `  win1: kubelet not running (${name}): ${cause}`, `    → ${remedy}`, '```', ''].join('\n');

const MENDS: Readonly<Record<string, string>> = {
  limit: 'nothing: a limit of Windows',
  nothing: 'nothing: you must do it',
};

const section = ({ name, symptom, see, cause, remedy, mends }: WindowsSignature): string =>
  [
    `## ${name}\n`,
    `${symptom}.\n`,
    `- **How to see it:** ${see}`,
    `- **Cause:** ${cause}`,
    `- **What to do:** ${remedy}`,
    `- **What kbuild does:** ${MENDS[mends] ?? mends}\n`,
  ].join('\n');

/** docs/windows-troubleshooting.md */
export function windowsTroubleshooting(): string {
  const rows = windowsSignatures.map(({ name, symptom, cause }) => `| ${symptom} | ${cause} | [${name}](#${name}) |`);
  return [
    INTRODUCTION,
    example(windowsSignatures.find(({ name }) => name === 'services-not-running')!),
    `| you notice | cause | more |\n| --- | --- | --- |\n${rows.join('\n')}\n`,
    ...windowsSignatures.map(section),
  ].join('\n');
}
