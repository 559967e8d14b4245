import { windowsSignatures } from '../../src/windows/signatures.ts';
import type { WindowsSignature } from '../../src/windows/signatures/signature.ts';

const INTRODUCTION = `# Trouble with Windows workers

<!-- Generated from src/windows/signatures by "npm run docs:windows"; do not edit. -->

Known problems of Windows workers, with their causes and remedies. \`kbuild status\` names a problem that it observes on a host;
the report of a failed run names a problem that a program printed. This page was written from documentation and source code,
and tried on simulated hosts only: see [windows.md](windows.md).
`;

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
    `| you notice | cause | more |\n| --- | --- | --- |\n${rows.join('\n')}\n`,
    ...windowsSignatures.map(section),
  ].join('\n');
}
