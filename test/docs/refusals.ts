import type { Reason } from '../../src/cluster/reasons.ts';
import { removalReasons } from '../../src/cluster/remove.refusal.ts';
import { upgradeReasons } from '../../src/upgrade/upgrade.refusal.ts';
import { type NamedRefusal, refusalSubjects } from '../../src/refusals/refusals.ts';

const INTRODUCTION = `# Refusals

<!-- Generated from src/refusals by "npm run docs:refusals"; do not edit. -->

A refusal ends a command with exit code 7. No flag overrides it. It is printed with what was found, what to do, and its name:

\`\`\`
kbuild: cp1: refused: locked: held by alice@laptop (pid 4321) since 2026-11-22T12:03:00Z: kbuild up
  → wait until that run has ended; if it runs nowhere any more: kbuild unlock --force
  why: kbuild explain locked
\`\`\`

\`kbuild explain NAME\` prints the text of this page. Events (\`failed\`), the record of a run and problems of \`kbuild status --json\` have the name as
\`refusal\`. Names are stable; the words of a message are not.
`;

const row = ({ name, title }: NamedRefusal): string => `| [\`${name}\`](#${name}) | ${title} |`;

const section = ({ name, title, why }: NamedRefusal): string =>
  `### ${name}\n\nkbuild refuses when ${title}.\n\n${why}\n`;

/** Lists of what a command refuses before it starts, beside the reasons of every command: another cluster or machine, a lock. */
const LISTS: readonly (readonly [command: string, reasons: readonly Pick<Reason<never>, 'names'>[]])[] = [
  ['`upgrade`', upgradeReasons],
  ['`remove`, `reset --hosts`', removalReasons],
];

const listed = ([command, reasons]: (typeof LISTS)[number]): string => {
  const names = new Set(reasons.flatMap((one) => one.names));
  return `| ${command} | ${[...names].map((name) => `[\`${name}\`](#${name})`).join(', ')} |`;
};

/** docs/refusals.md. */
export const refusalsReference = (): string =>
  [
    INTRODUCTION,
    ...refusalSubjects.map(
      ({ subject, refusals }) =>
        `## ${subject}\n\n| refusal | kbuild refuses when |\n| --- | --- |\n${refusals.map(row).join('\n')}\n`,
    ),
    `## Before a command starts\n\nEvery command that changes hosts refuses another cluster, another machine and a lock. These refuse more, in this order:\n\n| command | refusals |\n| --- | --- |\n${LISTS.map(listed).join('\n')}\n`,
    '## Every refusal\n',
    ...refusalSubjects.flatMap(({ refusals }) => refusals.map(section)),
  ].join('\n');
