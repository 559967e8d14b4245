import { windowsSignatures } from './signatures.ts';
import type { WindowsSignature } from './signatures/signature.ts';

const INTRODUCTION = `# Trouble with Windows workers

<!-- Generated from src/windows/signatures by "npm run docs:windows"; do not edit. -->

\`kbuild status\` names those that the facts of a host show, failure reports those that a program spoke of. Written from
documentation and source code, tried on simulated hosts only: [windows.md](windows.md).
`;

const MENDS: Readonly<Record<string, string>> = {
  limit: 'nothing: a limit of Windows',
  nothing: 'nothing: it is yours to do',
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
